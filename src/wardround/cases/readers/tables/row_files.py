"""Rows of large files, one at a time: JSON, JSONL and Parquet, each row with the place at which it stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from wardround.cases.readers.tables.json_file import Told, jsonl_records
from wardround.core.errors import BadInput, Problem
from wardround.core.field_errors import not_json

SUFFIXES = (".json", ".jsonl", ".parquet")
CHUNK = 1 << 20  # characters
LONGEST = 256 << 20  # characters of one row: images may stand in it
NO_ROWS = "features"  # under which the dataset viewer lists the columns, before the rows
ROWS, ROWS_WITH_IMAGES = 20_000, 256  # of a Parquet file at once

Place = tuple[int | None, str]  # a line, or where in the document: [3]


def rows_of(file: Path, problems: list[Problem], is_field: Callable[[str], bool]) -> Iterator[tuple[Place, Told]]:
    """Every row of a file. `is_field` says whether a name is one of a row's: a lone object is told apart by it."""
    if file.suffix == ".jsonl":
        yield from (((line, ""), told) for line, told in jsonl_records(file, problems))
    elif file.suffix == ".parquet":
        yield from (((None, f"row {number}"), told) for number, told in enumerate(_parquet_rows(file)))
    else:
        yield from (((None, place), told) for place, told in _Document(file, is_field).rows())


def _parquet_rows(file: Path) -> Iterator[Told]:
    try:
        scanned = pl.scan_parquet(file)
        binary = any("Binary" in str(kind) for kind in scanned.collect_schema().dtypes())
        many = int(scanned.select(pl.len()).collect().item())
        step = ROWS_WITH_IMAGES if binary else ROWS
        for first in range(0, many, step):
            yield from scanned.slice(first, step).collect().iter_rows(named=True)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadInput(file, f"is no Parquet file that can be read: {str(error).splitlines()[0]}") from None


class _Document:
    """The objects of a JSON document's lists, without ever holding all of it."""

    def __init__(self, file: Path, is_field: Callable[[str], bool]) -> None:
        self._file, self._is_field = file, is_field
        self._decoder = json.JSONDecoder()
        self._text, self._at, self._ended, self._place = "", 0, False, ""

    def rows(self) -> Iterator[tuple[str, Told]]:
        try:
            with self._file.open(encoding="utf-8-sig") as self._opened:
                first = self._next()
                if first == "[":
                    yield from self._list("")
                elif first == "{":
                    yield from self._object()
                else:
                    raise BadInput(self._file, "is not a list or an object of JSON" if first else "is empty")
                if rest := self._next():
                    more = " (one object a line belongs into a .jsonl file)" if rest == "{" else ""
                    raise BadInput(self._file, f"is not JSON: more follows after its end{more}")
        except OSError as error:
            raise BadInput(self._file, f"cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise BadInput(self._file, "is not JSON: it is no UTF-8") from None

    def _list(self, place: str) -> Iterator[tuple[str, Told]]:
        self._take("[")
        number = 0
        while self._next() != "]":
            self._place = f"{place}[{number}]"
            value = self._value()
            if isinstance(value, dict):
                yield self._place, value
            elif not place:  # what else an object lists is none of ours
                raise self._bad("should be an object")
            number += 1
            if self._next() != "]":
                self._take(",")
        self._take("]")

    def _object(self) -> Iterator[tuple[str, Told]]:
        """The rows of its lists; or itself, where its names are those of a row."""
        self._take("{")
        own: Told = {}
        while self._next() != "}":
            name = self._value()
            if not isinstance(name, str):
                raise BadInput(self._file, f"is not JSON: {name!r} is no name")
            self._take(":")
            if self._next() == "[" and name != NO_ROWS and not self._is_field(name):
                yield from self._list(name)
            else:
                own[name] = self._value()
            if self._next() != "}":
                self._take(",")
        self._take("}")
        if any(map(self._is_field, own)):
            yield "", own

    def _next(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            while self._at < len(self._text):
                if not self._text[self._at].isspace():
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def _take(self, character: str) -> None:
        found = self._next()
        if found != character:
            told = f"{found!r} stands" if found else "it ends"
            raise self._bad(f"is not JSON: {told} where {character!r} should")
        self._at += 1

    def _value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.pos > len(self._text) - 32 or error.msg.startswith("Unterminated string")
                if not cut or len(self._text) - self._at > LONGEST or not self._more():
                    raise self._bad(not_json(error.msg)) from None
                continue
            except RecursionError:
                raise self._bad("is not JSON that can be read: it is nested too deep") from None
            if end == len(self._text) and self._more():  # a number may go on
                continue
            self._at = end
            return value

    def _bad(self, message: str) -> BadInput:
        return BadInput(self._file, message, field=self._place or None)

    def _more(self) -> bool:
        if self._ended:
            return False
        read = self._opened.read(CHUNK)
        self._ended = not read
        self._text, self._at = self._text[self._at :] + read, 0
        return bool(read)
