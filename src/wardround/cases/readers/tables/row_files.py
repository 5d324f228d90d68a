"""The rows of large JSON, JSONL and Parquet files, one at a time, each with the place at which it stands."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.cases.readers.tables.json_file import JsonObject, PlacedRecord, jsonl_records
from wardround.core.errors import BadInput, Problem, describe_unreadable
from wardround.core.field_errors import describe_json_error

SUFFIXES = (".json", ".jsonl", ".parquet")
CHUNK = 1 << 20  # characters
MAX_ROW = 256 << 20  # characters: a row may have images in it
COLUMN_LIST = "features"  # of the dataset viewer, before the rows
BATCH, BATCH_WITH_IMAGES = 20_000, 256  # rows of a Parquet file read at once


def read_rows(file: Path, problems: list[Problem], is_field: Callable[[str], bool]) -> Iterator[PlacedRecord]:
    """The rows of a file. `is_field` says whether a name is a field of rows, so that an object can be a row itself."""
    if file.suffix == ".jsonl":
        yield from jsonl_records(file, problems)
    elif file.suffix == ".parquet":
        yield from ((RecordPlace(file, None, f"row {index}"), row) for index, row in enumerate(_parquet_rows(file)))
    else:
        yield from ((RecordPlace(file, None, place), row) for place, row in _JsonDocument(file, is_field).rows())


def _parquet_rows(file: Path) -> Iterator[JsonObject]:
    try:
        table = pl.scan_parquet(file)
        has_images = any("Binary" in str(dtype) for dtype in table.collect_schema().dtypes())
        count = int(table.select(pl.len()).collect().item())
        batch = BATCH_WITH_IMAGES if has_images else BATCH
        for first in range(0, count, batch):
            yield from table.slice(first, batch).collect().iter_rows(named=True)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadInput(file, f"cannot be read as Parquet: {str(error).splitlines()[0]}") from None


class _JsonDocument:
    """The objects in a JSON document's lists, read without holding the whole document in memory."""

    def __init__(self, file: Path, is_field: Callable[[str], bool]) -> None:
        self._file, self._is_field = file, is_field
        self._decoder = json.JSONDecoder()
        self._text, self._position, self._ended, self._place = "", 0, False, ""

    def rows(self) -> Iterator[tuple[str, JsonObject]]:
        try:
            with self._file.open(encoding="utf-8-sig") as self._opened:
                first = self._peek()
                if first == "[":
                    yield from self._read_list("")
                elif first == "{":
                    yield from self._read_object()
                else:
                    raise BadInput(self._file, "is not a list or an object of JSON" if first else "is empty")
                if rest := self._peek():
                    more = " (one object a line belongs into a .jsonl file)" if rest == "{" else ""
                    raise BadInput(self._file, f"is not JSON: more follows after its end{more}")
        except OSError as error:
            raise BadInput(self._file, describe_unreadable(error)) from None
        except UnicodeDecodeError:
            raise BadInput(self._file, "is not JSON: it is not UTF-8") from None

    def _read_list(self, place: str) -> Iterator[tuple[str, JsonObject]]:
        self._expect("[")
        number = 0
        while self._peek() != "]":
            self._place = f"{place}[{number}]"
            value = self._read_value()
            if isinstance(value, dict):
                yield self._place, value
            elif not place:  # other lists of an object are ignored
                raise self._error("should be an object")
            number += 1
            if self._peek() != "]":
                self._expect(",")
        self._expect("]")

    def _read_object(self) -> Iterator[tuple[str, JsonObject]]:
        """The rows of its lists; or the object itself, if it has fields of a row."""
        self._expect("{")
        row: JsonObject = {}
        while self._peek() != "}":
            name = self._read_value()
            if not isinstance(name, str):
                raise BadInput(self._file, f"is not JSON: {name!r} is not a name")
            self._expect(":")
            if self._peek() == "[" and name != COLUMN_LIST and not self._is_field(name):
                yield from self._read_list(name)
            else:
                row[name] = self._read_value()
            if self._peek() != "}":
                self._expect(",")
        self._expect("}")
        if any(map(self._is_field, row)):
            yield "", row

    def _peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            while self._position < len(self._text):
                if not self._text[self._position].isspace():
                    return self._text[self._position]
                self._position += 1
            if not self._read_more():
                return ""

    def _expect(self, character: str) -> None:
        actual = self._peek()
        if actual != character:
            raise self._error(f"is not JSON: expected {character!r}, not {repr(actual) if actual else 'the end'}")
        self._position += 1

    def _read_value(self) -> Any:
        self._peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._position)
            except json.JSONDecodeError as error:
                cut = error.pos > len(self._text) - 32 or error.msg.startswith("Unterminated string")
                if not cut or len(self._text) - self._position > MAX_ROW or not self._read_more():
                    raise self._error(describe_json_error(error.msg)) from None
                continue
            except RecursionError:
                raise self._error("is not JSON that can be read: it is nested too deep") from None
            if end == len(self._text) and self._read_more():  # a number may go on
                continue
            self._position = end
            return value

    def _error(self, message: str) -> BadInput:
        return BadInput(self._file, message, field=self._place or None)

    def _read_more(self) -> bool:
        if self._ended:
            return False
        chunk = self._opened.read(CHUNK)
        self._ended = not chunk
        self._text, self._position = self._text[self._position :] + chunk, 0
        return bool(chunk)
