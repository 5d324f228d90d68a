"""The images of one table, hashed in passing so that rows with the same image meet; never held in memory."""

from collections.abc import Callable
from pathlib import Path

from wardround.cases.readers.tables.clean_twins import QuestionRow
from wardround.cases.readers.tables.image_cell import decode_image, hashed_path, is_path, is_row_index, path_inside
from wardround.cases.readers.tables.question_rows import Base64Cell, QuestionRows
from wardround.cases.readers.tables.source_files import first_file
from wardround.cases.readers.tables.tsv import TsvRow
from wardround.core.errors import Problem

MakeRow = Callable[[tuple[str, ...]], QuestionRow]


class TableImages:
    """Finds the image of each row of a table; a row that refers to another row's image waits until all are read."""

    def __init__(self, file: Path, columns: list[str], rows: QuestionRows) -> None:
        self.file = file
        self.rows = rows
        self.column = "image" if "image" in columns else "image_path"
        self.column_index = columns.index(self.column)
        self._path_by_index: dict[str, str] = {}
        self._waiting: list[tuple[int, str, MakeRow]] = []

    def add(self, row: TsvRow, make_row: MakeRow) -> None:
        """Adds the question of a row with its image, or the problem with the image."""
        cell = row.cells[self.column].strip()
        if not cell and self.column == "image":
            cell = row.cells.get("image_path", "").strip()
        if not cell:
            self._refuse(row.line, "is empty")
        elif is_row_index(cell):
            self._waiting.append((row.line, cell, make_row))
        else:
            try:
                path = self._add_file(cell) if is_path(cell) else self._add_base64(cell, row)
            except ValueError as error:
                self._refuse(row.line, str(error))
                return
            self._path_by_index[row.cells["index"].strip()] = path
            self.rows.add(make_row((path,)))

    def add_waiting_rows(self) -> None:
        """Adds the rows that refer to another row's image."""
        for line, index, make_row in self._waiting:
            if index in self._path_by_index:
                self.rows.add(make_row((self._path_by_index[index],)))
            else:
                self._refuse(line, f"{index!r} is neither an image nor the index of a row that has one")

    def _refuse(self, line: int, message: str) -> None:
        self.rows.problems.append(Problem(self.file, line, self.column, message))

    def _add_file(self, cell: str) -> str:
        folder, path = self.file.parent, path_inside(cell)
        file = first_file([folder / path, folder / "images" / path])
        if file is None:
            raise ValueError(f"{cell!r}: there is no such file beside the table")
        return self.rows.add_image(file.relative_to(folder).as_posix(), file)

    def _add_base64(self, cell: str, row: TsvRow) -> str:
        path = hashed_path(decode_image(cell))
        return self.rows.add_image(path, Base64Cell(self.file, row.offset, row.length, self.column_index))
