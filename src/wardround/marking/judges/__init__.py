"""Judges of open answers: the lexical judge, a model as judge, and the calls made to it."""
