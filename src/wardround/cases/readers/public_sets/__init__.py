"""Public question sets whose layouts differ in the names of columns only: one reader, and one table of layouts."""
