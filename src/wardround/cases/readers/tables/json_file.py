"""JSON and JSONL files of other projects, as records with the place at which each stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from wardround.cases.set import BYTE_ORDER_MARK
from wardround.core.errors import BadInput, Problem
from wardround.core.field_errors import not_json

Told = dict[str, Any]


def json_records(file: Path, named: str = "") -> Iterator[tuple[str, Told]]:
    """The objects of a list, wherever in the document it is, each with its place: `[3]`.

    An object that has the field `named` is a record also where it stands alone. What else stands between objects is a
    record without fields, so that a reader names its place.
    """
    yield from _records(json_document(file), "", named)


def json_document(file: Path) -> Any:
    """What the file holds."""
    try:
        return orjson.loads(file.read_bytes().removeprefix(BYTE_ORDER_MARK))
    except OSError as error:
        raise BadInput(file, f"cannot be read: {error.strerror}") from None
    except orjson.JSONDecodeError as error:
        raise BadInput(file, not_json(error)) from None


def _records(told: Any, place: str, named: str) -> Iterator[tuple[str, Told]]:
    if named and isinstance(told, dict) and named in told:
        yield place, told
    elif isinstance(told, list):
        if any(isinstance(each, dict) for each in told):
            for number, each in enumerate(told):
                yield f"{place}[{number}]", each if isinstance(each, dict) else {}
    elif isinstance(told, dict):
        for name, each in told.items():
            yield from _records(each, f"{place}.{name}" if place else name, named)


def jsonl_records(file: Path, problems: list[Problem]) -> Iterator[tuple[int, Told]]:
    """The objects of the lines of a file; a line that is none is a problem."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            line = line.removeprefix(BYTE_ORDER_MARK)
            if not line.strip():
                continue
            try:
                told = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                problems.append(Problem(file, number, None, not_json(error)))
                continue
            if isinstance(told, dict):
                yield number, told
            else:
                problems.append(Problem(file, number, None, "is no object"))


def text(told: Told, name: str) -> str:
    """A field that has to be a text. ValueError if it is not there or something else."""
    value = told.get(name)
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        raise ValueError("is required" if value in (None, "") else f"should be text, not {value!r}"[:200])
    return str(value)
