"""The summary of a report: what the figures show of each candidate, in sentences, and what they cannot show."""
