"""The sections of a report: each a function from a run to a section."""
