"""Other ways of drawing two of the 18 types, used only if they are named."""
