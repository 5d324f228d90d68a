"""Tables and record files of other projects, read row by row into cases."""
