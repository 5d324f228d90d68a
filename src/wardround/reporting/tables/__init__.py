"""Tables of figures, and the formats in which they are printed."""
