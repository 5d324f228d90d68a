"""Answers become marks: what was chosen, whether it is right, and by which rule it was read."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wardround.marking.parser.versions import MODES, parser_version

if TYPE_CHECKING:
    from wardround.marking.parser.choice import Reading, parse_choice

__all__ = ["MODES", "Reading", "parse_choice", "parser_version"]


def __getattr__(name: str) -> Any:
    """The parser is loaded when it is first used: its patterns take a tenth of a second."""
    if name not in __all__:
        raise AttributeError(f"module 'wardround.marking' has no attribute {name!r}")
    return getattr(import_module("wardround.marking.parser.choice"), name)
