"""QuestionRows: published questions, each with one or more images, become one case for each clean image."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wardround.cases.readers.tables.clean_twins import QuestionRow, clean_twins
from wardround.cases.readers.tables.image_cell import decode_image
from wardround.cases.readers.tables.image_likeness import ImageLikeness
from wardround.cases.readers.tables.tsv import reread_row
from wardround.cases.set import error_from
from wardround.core.case import Case, Image, Question
from wardround.core.errors import Problem
from wardround.core.field_errors import list_errors

QUESTION_FIELDS = frozenset(Question.model_fields)
LABELS = ("skill", "capability", "task")  # fields of a question that a source may set


@dataclass(frozen=True, slots=True)
class Base64Cell:
    """Where an image in base64 stands: a row of a table, by its bytes, and the index of the column."""

    file: Path
    offset: int
    length: int
    column: int


@dataclass
class QuestionRows:
    """The usable rows of a layout as a CaseSource. Images stay where they are until they are copied."""

    origin: str
    problems: list[Problem] = field(default_factory=list)
    _rows: list[QuestionRow] = field(default_factory=list)
    _images: dict[str, Path | Base64Cell] = field(default_factory=dict)
    _line_by_id: dict[tuple[Path, str], int | None] = field(default_factory=dict)
    _groups: list[list[tuple[QuestionRow, QuestionRow | None]]] = field(default_factory=list)

    def add_image(self, path: str, image: Path | Base64Cell) -> str:
        """Notes where the image is that the case set will have at this path; returns the path."""
        self._images.setdefault(path, image)
        return path

    def add(self, row: QuestionRow) -> None:
        """Keeps a row, or its problems."""
        problems = [row.place.problem(name, message) for name, message in self._problems_of(row)]
        self.problems += problems
        if not problems:
            self._line_by_id[row.place.file, row.id] = row.place.line
            self._rows.append(row)

    def _problems_of(self, row: QuestionRow) -> Iterator[tuple[str, str]]:
        key = row.place.file, row.id
        if key in self._line_by_id:
            first = self._line_by_id[key]
            yield row.names["id"], f"{row.id!r} occurs twice" + (f", first in line {first}" if first else "")
        try:
            Question.model_validate(_question(row, "q", None))
        except ValidationError as error:
            for name, message in list_errors(error):
                yield row.names.get(name, name), message

    def group(self) -> QuestionRows:
        """These rows grouped into cases: a degraded row joins its clean twin; one without a twin is reported."""
        twins, problems = clean_twins(self._rows, ImageLikeness(self._read_image).most_alike)
        self.problems += problems
        groups: dict[tuple[str | None, tuple[str, ...]], list[tuple[QuestionRow, QuestionRow | None]]] = {}
        for row in self._rows:
            twin = twins.get(id(row))
            clean = twin or row
            groups.setdefault((row.split, clean.images or (str(clean.place.file), clean.id)), []).append((row, twin))
        self._groups = list(groups.values())
        if not self._groups and self.problems:
            raise error_from(self.problems[0], " (and no other row can be used)")
        return self

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[Case]:
        used: set[str] = set()
        for group in self._groups:
            case = self._case(group)
            name = case["id"]
            while case["id"] in used:  # the same index in another file of the layout
                case["id"] = f"{name}-{len(used)}"
            used.add(case["id"])
            yield Case.model_validate(case)

    def _case(self, group: list[tuple[QuestionRow, QuestionRow | None]]) -> dict[str, Any]:
        """One case: its clean image first, then each degraded one."""
        group = sorted(group, key=lambda pair: pair[0].degradation is not None)
        first = group[0][0]
        index_by_path: dict[str, int] = {}
        images: list[dict[str, Any]] = []
        questions: list[dict[str, Any]] = []
        ids = _question_ids([row for row, _ in group])
        images_differ = len({row.images for row, _ in group}) > 1
        for row, twin in group:
            for path in row.images:
                if path not in index_by_path:
                    index_by_path[path] = len(images)
                    images.append(_image(row, path))
            question = _question(row, ids[id(row)], ids[id(twin)] if twin else None)
            shown = {"images": [index_by_path[path] for path in row.images]} if images_differ else {}
            questions.append(question | shown)
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

    def copy_image(self, image: Image, target: Path) -> None:
        """Writes the file of an image, decoded if the layout has it in base64."""
        source = self._images[image.path]
        if isinstance(source, Path):
            shutil.copyfile(source, target)
        else:
            target.write_bytes(self._read_image(image.path))

    def _read_image(self, path: str) -> bytes:
        source = self._images[path]
        if isinstance(source, Path):
            return source.read_bytes()
        return decode_image(reread_row(source.file, source.offset, source.length)[source.column])


def _question_ids(rows: list[QuestionRow]) -> dict[int, str]:
    """The ids of a case's questions by `id()`; the same index may come from two files."""
    rows_by_name: dict[str, int] = {}
    for row in rows:
        name = _question_id(row)
        while name in rows_by_name:
            name += "+"
        rows_by_name[name] = id(row)
    return {row: name for name, row in rows_by_name.items()}


def _question_id(row: QuestionRow) -> str:
    return f"deg-{row.id}" if row.degradation else row.id


def _question(row: QuestionRow, id: str, of: str | None) -> dict[str, Any]:
    question = {"id": id, "kind": "choice", "prompt": row.prompt, "options": list(row.options), "gold": row.gold}
    question |= {
        name if name in LABELS or name not in QUESTION_FIELDS else f"source_{name}": value
        for name, value in row.extra.items()
    }
    if of:
        question["of"] = of
    if row.degradation:
        question["degradations"] = [row.degradation]
    return question


def _image(row: QuestionRow, path: str) -> dict[str, Any]:
    image: dict[str, Any] = {"path": path}
    if row.modality:
        image["modality"] = row.modality
    if row.degradation:
        image["degradations"] = [row.degradation]
    return image
