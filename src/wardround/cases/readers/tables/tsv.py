"""TSV tables as VLMEvalKit has them: read row by row, however large the base64 image in a cell is."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from wardround.core.errors import BadInput, Problem

CELL_LIMIT = 2**28  # characters, more than any image needs: a quote that is never closed does not take the memory


@dataclass(frozen=True, slots=True)
class TsvRow:
    """One row: its cells by column, the line on which it begins, and where its bytes are in the file."""

    line: int
    offset: int
    length: int
    cells: dict[str, str]


class Lines:
    """The lines of a file from here on. What the csv reader has taken of them is known in bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.taken = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.file.readline()
        if not line:
            raise StopIteration
        self.taken += len(line)
        return line.decode("utf-8-sig" if self.taken == len(line) else "utf-8", "replace")


def columns_of(file: Path) -> list[str]:
    """The names of a table's columns, in lower case but for the options' letters."""
    with _opened(file) as held:
        return _columns(next(_reader(Lines(held)), []))


def tsv_rows(file: Path, problems: list[Problem]) -> Iterator[TsvRow]:
    """The rows of a table. One with more or fewer cells than there are columns is a problem."""
    with _opened(file) as held:
        lines = Lines(held)
        reader = _reader(lines)
        columns = _columns(next(reader, []))
        while True:
            line, offset = reader.line_num + 1, lines.taken
            try:
                cells = next(reader, None)
            except csv.Error as error:
                problems.append(Problem(file, line, None, f"is not a row of a table: {error}"))
                continue
            if cells is None:
                return
            if len(cells) == len(columns):
                yield TsvRow(line, offset, lines.taken - offset, dict(zip(columns, cells, strict=True)))
            elif cells:
                problems.append(Problem(file, line, None, f"has {len(cells)} cells; there are {len(columns)} columns"))


def row_again(file: Path, offset: int, length: int) -> list[str]:
    """The cells of a row that was read before."""
    with _opened(file) as held:
        held.seek(offset)
        cells: list[str] = next(_reader(iter([held.read(length).decode("utf-8", "replace")])), [])
        return cells


def _opened(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise BadInput(file, f"cannot be read: {error.strerror}") from None


def _reader(lines: Iterator[str]) -> Any:
    csv.field_size_limit(CELL_LIMIT)
    return csv.reader(lines, delimiter="\t")


def _columns(names: list[str]) -> list[str]:
    """VLMEvalKit has them in lower case, the published files not always; A, B, ... are options."""
    plain = [name.strip() for name in names]
    return [name if len(name) == 1 else name.lower() for name in plain]
