"""Results for others: the text of a paper, and files of other programs."""
