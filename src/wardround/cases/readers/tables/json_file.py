"""JSON and JSONL files of other projects, as records with the place at which each stands."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.cases.set import BYTE_ORDER_MARK
from wardround.core.errors import BadInput, Problem, describe_unreadable
from wardround.core.field_errors import describe_json_error

JsonObject = dict[str, Any]
PlacedRecord = tuple[RecordPlace, JsonObject]


def read_records(file: Path, problems: list[Problem], record_field: str) -> Iterator[PlacedRecord]:
    """The records of a JSONL file, or of any other as JSON."""
    return jsonl_records(file, problems) if file.suffix == ".jsonl" else json_records(file, record_field)


def json_records(file: Path, record_field: str = "") -> Iterator[PlacedRecord]:
    """The objects of each list in the document, wherever it is.

    An object that has the field `record_field` is a record also outside a list. A list item that is not an object is
    an empty record, so that the reader reports its place.
    """
    for within, record in _records(read_json(file), "", record_field):
        yield RecordPlace(file, within=within), record


def read_json(file: Path) -> Any:
    """The document in a file."""
    try:
        return orjson.loads(file.read_bytes().removeprefix(BYTE_ORDER_MARK))
    except OSError as error:
        raise BadInput(file, describe_unreadable(error)) from None
    except orjson.JSONDecodeError as error:
        raise BadInput(file, describe_json_error(error)) from None


def _records(value: Any, place: str, record_field: str) -> Iterator[tuple[str, JsonObject]]:
    if record_field and isinstance(value, dict) and record_field in value:
        yield place, value
    elif isinstance(value, list):
        if any(isinstance(item, dict) for item in value):
            for index, item in enumerate(value):
                yield f"{place}[{index}]", item if isinstance(item, dict) else {}
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _records(item, f"{place}.{name}" if place else name, record_field)


def jsonl_records(file: Path, problems: list[Problem]) -> Iterator[PlacedRecord]:
    """The objects of a file's lines; a line without an object is a problem."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            line = line.removeprefix(BYTE_ORDER_MARK)
            if not line.strip():
                continue
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                problems.append(Problem(file, number, None, describe_json_error(error)))
                continue
            if isinstance(record, dict):
                yield RecordPlace(file, number), record
            else:
                problems.append(Problem(file, number, None, "is not an object"))


def required_text(record: JsonObject, name: str) -> str:
    """A field that has to be text (or a whole number). ValueError if it is missing or something else."""
    value = record.get(name)
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        raise ValueError("is required" if value in (None, "") else f"should be text, not {value!r}"[:200])
    return str(value)


def list_of_texts(value: Any) -> list[str]:
    """A value that has to be a list of texts. ValueError if it is something else."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("should be a list of texts")
    return value
