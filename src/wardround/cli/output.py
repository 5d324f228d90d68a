"""What commands print: one JSON document on stdout with --json, sentences otherwise."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import orjson
import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; progress on stderr.")]


def finish(told: dict[str, Any], as_json: bool, text: str) -> None:
    """Prints the result of a command, once, at its end."""
    if as_json:
        sys.stdout.buffer.write(orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY) + b"\n")
        sys.stdout.flush()
    else:
        print(text)


def note(text: str) -> None:
    """Says something on the way: always on stderr, so that stdout stays one document."""
    print(text, file=sys.stderr, flush=True)
