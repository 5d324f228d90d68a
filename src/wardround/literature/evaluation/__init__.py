"""How well an index retrieves, against TREC judgements."""
