"""TSV tables as VLMEvalKit has them, read row by row: a cell may be a large image in base64."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from wardround.core.errors import BadInput, Problem, describe_unreadable

CELL_LIMIT = 2**28  # characters, more than any image needs: bounds the memory that a quote without an end takes


@dataclass(frozen=True, slots=True)
class TsvRow:
    """One row: its cells by column, the line on which it begins, and where its bytes are in the file."""

    line: int
    offset: int
    length: int
    cells: dict[str, str]


class CountedLines:
    """The lines of a file; `bytes_read` is how far the csv reader has come."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.bytes_read = 0

    def __iter__(self) -> Iterator[str]:
        for line in self.file:
            self.bytes_read += len(line)
            yield line.decode("utf-8-sig" if self.bytes_read == len(line) else "utf-8", "replace")


def read_columns(file: Path) -> list[str]:
    """The names of a table's columns, in lower case except the letters of options."""
    with _open(file) as table:
        return _columns(next(_reader(CountedLines(table)), []))


def tsv_rows(file: Path, problems: list[Problem]) -> Iterator[TsvRow]:
    """The rows of a table. A row with more or fewer cells than there are columns is a problem."""
    with _open(file) as table:
        lines = CountedLines(table)
        reader = _reader(lines)
        columns = _columns(next(reader, []))
        while True:
            line, offset = reader.line_num + 1, lines.bytes_read
            try:
                cells = next(reader, None)
            except csv.Error as error:
                problems.append(Problem(file, line, None, f"is not a row of a table: {error}"))
                continue
            if cells is None:
                return
            if len(cells) == len(columns):
                yield TsvRow(line, offset, lines.bytes_read - offset, dict(zip(columns, cells, strict=True)))
            elif cells:
                problems.append(Problem(file, line, None, f"has {len(cells)} cells; there are {len(columns)} columns"))


def reread_row(file: Path, offset: int, length: int) -> list[str]:
    """The cells of a row that was read before."""
    with _open(file) as table:
        table.seek(offset)
        cells: list[str] = next(_reader([table.read(length).decode("utf-8", "replace")]), [])
        return cells


def _open(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise BadInput(file, describe_unreadable(error)) from None


def _reader(lines: Iterable[str]) -> Any:
    csv.field_size_limit(CELL_LIMIT)
    return csv.reader(lines, delimiter="\t")


def _columns(names: list[str]) -> list[str]:
    """VLMEvalKit has them in lower case, the published files not always; A, B, ... are options."""
    return [name if len(name) == 1 else name.lower() for name in map(str.strip, names)]
