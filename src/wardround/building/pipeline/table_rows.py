"""Tables that people supply: one row per case or image; each column may have one of several names."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from wardround.core.errors import BadInput, describe_unreadable

SEPARATOR = "|"


class SourceRow(NamedTuple):
    """One row: the line on which it ends, and its cells by column."""

    line: int
    cells: dict[str, str]

    def listed(self, name: str) -> list[str]:
        """The values of a cell, separated by `|`."""
        return [part.strip() for part in self.cells.get(name, "").split(SEPARATOR) if part.strip()]

    @property
    def age(self) -> float | int | None:
        try:
            age = float(self.cells.get("age", ""))
        except ValueError:
            return None
        return None if not 0 <= age <= 130 else int(age) if age == int(age) else age

    @property
    def sex(self) -> str | None:
        first = self.cells.get("sex", "")[:1].upper()
        return {"F": "F", "W": "F", "M": "M"}.get(first)


def read_rows(
    file: Path, names: Mapping[str, Sequence[str]], note: Callable[[str], None]
) -> tuple[set[str], list[SourceRow]]:
    """The columns of a table, and its rows. `names`: the other names that each column may have in the file.

    Notes list the columns that are not read, and ages that are not numbers.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
        first_line = text.split("\n", 1)[0]
        delimiter = "\t" if "\t" in first_line else ";" if ";" in first_line else ","
        lines = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        headers = [(header, _column(header, names)) for header in lines.fieldnames or ()]
        columns = {header: column for header, column in headers if column}
        if len(set(columns.values())) < sum(column is not None for _, column in headers):
            raise BadInput(file, "two columns mean the same", line=1)
        if unread := [header for header, column in headers if column is None and header.strip()]:
            note(f"{file.name}: columns that are not read: {', '.join(unread)}")
        rows = [
            SourceRow(
                lines.line_num, {columns[key]: (value or "").strip() for key, value in row.items() if key in columns}
            )
            for row in lines
        ]
    except FileNotFoundError:
        raise BadInput(file, "there is no such table") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, describe_unreadable(error)) from None
    for row in rows:
        if row.cells.get("age") and row.age is None:
            note(f"{file.name}:{row.line}: age {row.cells['age']!r} is not a number from 0 to 130, and is left out")
    return set(columns.values()), rows


def _column(header: str | None, names: Mapping[str, Sequence[str]]) -> str | None:
    folded = (header or "").strip().lower().replace(" ", "_").replace("-", "_")
    return next((column for column, spellings in names.items() if folded in (column, *spellings)), None)
