"""Searches for words, and what is kept of each word."""
