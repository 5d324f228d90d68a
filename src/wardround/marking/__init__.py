"""Answers become marks: what was chosen, whether it is right, and by which rule it was read."""

from wardround.marking.choice import Reading, parse_choice

__all__ = ["Reading", "parse_choice"]
