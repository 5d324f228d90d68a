"""The images of one table: hashed as they pass, so that rows with the same image meet; never held in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from wardround.cases.readers.medq_deg.clean_twins import Row
from wardround.cases.readers.tables.image_cell import decoded, inside, is_path, is_reference, suffix_of
from wardround.cases.readers.tables.question_rows import Cell, Rows
from wardround.cases.readers.tables.tsv import TsvRow
from wardround.core.errors import Problem

Made = Callable[[tuple[str, ...]], Row]


class TableImages:
    """Finds the image of each row of a table; a row that names another row's waits until all are read."""

    def __init__(self, file: Path, columns: list[str], rows: Rows) -> None:
        self.file = file
        self.rows = rows
        self.column = "image" if "image" in columns else "image_path"
        self.number = columns.index(self.column)
        self._by_index: dict[str, str] = {}
        self._waiting: list[tuple[TsvRow, str, Made]] = []

    def take(self, told: TsvRow, made: Made) -> None:
        """Gives the row with its image to the rows, or says what is wrong with the image."""
        cell = told.cells[self.column].strip()
        if not cell and self.column == "image":
            cell = told.cells.get("image_path", "").strip()
        if not cell:
            self._refuse(told.line, "is empty")
        elif is_reference(cell):
            self._waiting.append((TsvRow(told.line, told.offset, told.length, {}), cell, made))
        else:
            try:
                path = self._held_file(cell) if is_path(cell) else self._held_cell(cell, told)
            except ValueError as error:
                self._refuse(told.line, str(error))
                return
            self._by_index[told.cells["index"].strip()] = path
            self.rows.take(made((path,)))

    def settle_references(self) -> None:
        """Gives the waiting rows the image of the row that they name."""
        for told, index, made in self._waiting:
            if index in self._by_index:
                self.rows.take(made((self._by_index[index],)))
            else:
                self._refuse(told.line, f"{index!r} is neither an image nor the index of a row that has one")

    def _refuse(self, line: int, message: str) -> None:
        self.rows.problems.append(Problem(self.file, line, self.column, message))

    def _held_file(self, cell: str) -> str:
        folder = self.file.parent
        found = next(
            (path for path in (folder / inside(cell), folder / "images" / inside(cell)) if path.is_file()), None
        )
        if found is None:
            raise ValueError(f"{cell!r}: there is no such file beside the table")
        return self.rows.hold(found.relative_to(folder).as_posix(), found)

    def _held_cell(self, cell: str, told: TsvRow) -> str:
        data = decoded(cell)
        name = hashlib.blake2b(data, digest_size=12).hexdigest()
        return self.rows.hold(f"images/{name}{suffix_of(data)}", Cell(self.file, told.offset, told.length, self.number))
