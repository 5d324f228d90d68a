"""MedQ-Deg: the released tables, and the examples on the project site."""
