"""The modes of the choice parser and their versions, as marks name them. The parser itself is in `choice.py`."""

from wardround.core.errors import WardroundError

PARSER, STRICT = "strict-12", "strict"
_VERSIONS = {STRICT: PARSER, "medq-deg-paper": "medq-deg-paper-1", "clinbench-paper": "clinbench-paper-1"}
MODES = tuple(_VERSIONS)


def parser_version(mode: str = "strict") -> str:
    """The name of the parser in marks."""
    if mode not in MODES:
        raise WardroundError(f"unknown parser mode {mode!r}; there are {', '.join(MODES)}")
    return _VERSIONS[mode]
