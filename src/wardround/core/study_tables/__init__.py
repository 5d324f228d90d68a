"""Tables of a study file that have many keys of their own."""
