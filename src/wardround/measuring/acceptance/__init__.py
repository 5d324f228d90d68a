"""Acceptance: pre-specified endpoints that every candidate passes, fails or leaves undecided."""
