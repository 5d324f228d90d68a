"""Models of answers: abilities of candidates and difficulties of questions."""
