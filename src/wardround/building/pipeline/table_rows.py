"""Tables that people give: one row a case or an image, with columns under any of several names."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from wardround.core.errors import BadInput

SEPARATOR = "|"


class Row(NamedTuple):
    """One row: the line on which it ends, and what it tells by column."""

    line: int
    told: dict[str, str]

    def listed(self, name: str) -> list[str]:
        """The values of a cell that holds several."""
        return [part.strip() for part in self.told.get(name, "").split(SEPARATOR) if part.strip()]

    @property
    def age(self) -> float | int | None:
        try:
            age = float(self.told.get("age", ""))
        except ValueError:
            return None
        return None if not 0 <= age <= 130 else int(age) if age == int(age) else age

    @property
    def sex(self) -> str | None:
        first = self.told.get("sex", "")[:1].upper()
        return {"F": "F", "W": "F", "M": "M"}.get(first)


def read_rows(
    file: Path, names: Mapping[str, Sequence[str]], note: Callable[[str], None]
) -> tuple[set[str], list[Row]]:
    """The columns that the table has, and its rows; `names` are what each column may be called.

    Columns that nobody reads, and ages that are none, are told in one line.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
        delimiter = "\t" if "\t" in text.split("\n", 1)[0] else ";" if ";" in text.split("\n", 1)[0] else ","
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        found = [(given, _column(given, names)) for given in rows.fieldnames or ()]
        columns = {given: column for given, column in found if column}
        if len(set(columns.values())) < sum(column is not None for _, column in found):
            raise BadInput(file, "two columns mean the same", line=1)
        if unread := [given for given, column in found if column is None and given.strip()]:
            note(f"{file.name}: columns that are not read: {', '.join(unread)}")
        read = [
            Row(rows.line_num, {columns[key]: (value or "").strip() for key, value in row.items() if key in columns})
            for row in rows
        ]
        for row in read:
            if row.told.get("age") and row.age is None:
                note(f"{file.name}:{row.line}: age is no number from 0 to 130, and is not told: {row.told['age']!r}")
        return set(columns.values()), read
    except FileNotFoundError:
        raise BadInput(file, "there is no such table") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, f"cannot be read: {error}") from None


def _column(given: str | None, names: Mapping[str, Sequence[str]]) -> str | None:
    plain = (given or "").strip().lower().replace(" ", "_").replace("-", "_")
    return next((name for name, called in names.items() if plain in called), None)
