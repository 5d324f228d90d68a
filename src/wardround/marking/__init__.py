"""Answers become marks: what was chosen, whether it is right, and by which rule it was read."""

from wardround.marking.parser.choice import MODES, Reading, parse_choice, parser_version

__all__ = ["MODES", "Reading", "parse_choice", "parser_version"]
