"""Simulated respondents with a planted truth."""
