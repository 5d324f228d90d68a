"""The tasks that people are given: one file per kind of task, listed in kinds.py."""
