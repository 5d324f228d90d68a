"""Looks a case set over: leaks of the answer, duplicates, shortcuts, images, balance, and its data card."""
