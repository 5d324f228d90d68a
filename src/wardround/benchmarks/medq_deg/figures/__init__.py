"""What sections.py is made of: one file for each figure, and what they share."""
