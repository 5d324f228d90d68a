"""Any table of questions as cases: a map says which column holds what; `maps/` has those of public sets."""
