"""Rows: published questions, one image each or several, become cases: one case for each clean image."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wardround.cases.readers.medq_deg.clean_twins import Row, clean_twins
from wardround.cases.readers.tables.image_cell import decoded
from wardround.cases.readers.tables.tsv import row_again
from wardround.cases.set import raised
from wardround.core.case import Case, Image, Question
from wardround.core.errors import Problem
from wardround.core.field_errors import complaints

OURS = frozenset(Question.model_fields)
LABELS = ("skill", "capability", "task")  # fields of a question that a source may tell as they are


@dataclass(frozen=True, slots=True)
class Cell:
    """Where an image in base64 stands: a row of a table, by its bytes, and the number of the column."""

    file: Path
    offset: int
    length: int
    column: int


@dataclass
class Rows:
    """The usable rows of a layout as a Source of cases. Images stay where they are until they are copied."""

    origin: str
    problems: list[Problem] = field(default_factory=list)
    _rows: list[Row] = field(default_factory=list)
    _held: dict[str, Path | Cell] = field(default_factory=dict)
    _seen: dict[tuple[Path, str], int | None] = field(default_factory=dict)
    _groups: list[list[tuple[Row, Row | None]]] = field(default_factory=list)

    def hold(self, path: str, where: Path | Cell) -> str:
        """Remembers where the image is that the case set will have at this path."""
        self._held.setdefault(path, where)
        return path

    def take(self, row: Row) -> None:
        """Keeps a row, or what is wrong with it."""
        wrong = list(self._wrong(row))
        self.problems += (Problem(row.file, row.line, row.at(name), message) for name, message in wrong)
        if not wrong:
            self._seen[row.file, row.id] = row.line
            self._rows.append(row)

    def _wrong(self, row: Row) -> Iterator[tuple[str, str]]:
        if (row.file, row.id) in self._seen:
            first = self._seen[row.file, row.id]
            yield row.names["id"], f"{row.id!r} is there twice" + (f", first in line {first}" if first else "")
        try:
            Question.model_validate(_question(row, "q", None))
        except ValidationError as error:
            for place, message in complaints(error):
                yield row.names.get(place, place), message

    def joined(self) -> Rows:
        """This, with every degraded row beside its clean twin; those without one are named and kept alone."""
        twins, alone = clean_twins(self._rows)
        self.problems += alone
        groups: dict[tuple[str | None, tuple[str, ...]], list[tuple[Row, Row | None]]] = {}
        for row in self._rows:
            twin = twins.get(id(row))
            clean = twin or row
            groups.setdefault((row.split, clean.images or (str(clean.file), clean.id)), []).append((row, twin))
        self._groups = list(groups.values())
        if not self._groups and self.problems:
            raise raised(self.problems[0], " (and no other row can be used)")
        return self

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[Case]:
        taken: set[str] = set()
        for group in self._groups:
            told = self._told(group)
            name = told["id"]
            while told["id"] in taken:  # the same index in another file of the layout
                told["id"] = f"{name}-{len(taken)}"
            taken.add(told["id"])
            yield Case.model_validate(told)

    def _told(self, group: list[tuple[Row, Row | None]]) -> dict[str, Any]:
        """One case: its clean image first, then each degraded one."""
        group = sorted(group, key=lambda pair: pair[0].degradation is not None)
        first = group[0][0]
        numbers: dict[str, int] = {}
        images: list[dict[str, Any]] = []
        questions: list[dict[str, Any]] = []
        ids = _question_ids([row for row, _ in group])
        several = len({row.images for row, _ in group}) > 1
        for row, twin in group:
            for path in row.images:
                if path not in numbers:
                    numbers[path] = len(images)
                    images.append(_image(row, path))
            question = _question(row, ids[id(row)], ids[id(twin)] if twin else None)
            questions.append({**question, "images": [numbers[path] for path in row.images]} if several else question)
        split = {"split": first.split} if first.split else {}
        name = "-".join(part for part in (first.split, _question_id(first)) if part)
        return {
            "id": name,
            **split,
            "cluster": first.images[0] if first.images else name,
            "origin": {"name": first.source or self.origin},
            "images": images,
            "questions": questions,
        }

    def copy_image(self, image: Image, there: Path) -> None:
        """Writes the file of an image, decoded where the layout has it in base64."""
        where = self._held[image.path]
        if isinstance(where, Path):
            shutil.copyfile(where, there)
            return
        there.write_bytes(decoded(row_again(where.file, where.offset, where.length)[where.column]))


def _question_ids(rows: list[Row]) -> dict[int, str]:
    """The ids of a case's questions by `id()`; the same index may come from two files."""
    taken: dict[str, int] = {}
    for row in rows:
        name = _question_id(row)
        while name in taken:
            name += "+"
        taken[name] = id(row)
    return {row: name for name, row in taken.items()}


def _question_id(row: Row) -> str:
    return f"deg-{row.id}" if row.degradation else row.id


def _question(row: Row, id: str, of: str | None) -> dict[str, Any]:
    told = {"id": id, "kind": "choice", "prompt": row.prompt, "options": list(row.options), "gold": row.gold}
    told |= {
        name if name in LABELS or name not in OURS else f"source_{name}": value for name, value in row.more.items()
    }
    if of:
        told["of"] = of
    if row.degradation:
        told["degradations"] = [row.degradation]
    return told


def _image(row: Row, path: str) -> dict[str, Any]:
    told: dict[str, Any] = {"path": path}
    if row.modality:
        told["modality"] = row.modality
    if row.degradation:
        told["degradations"] = [row.degradation]
    return told
