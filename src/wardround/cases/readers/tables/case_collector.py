"""CaseCollector: the cases that a reader makes of single records, and the problems of the other records."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from wardround.cases.set import error_from
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, Problem
from wardround.core.field_errors import list_errors


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a record stands: its file, and its line or its place in the document (`[3]`)."""

    file: Path
    line: int | None = None
    within: str = ""

    def problem(self, name: str | None, message: str) -> Problem:
        field = ".".join(part for part in (self.within, name) if part)
        return Problem(self.file, self.line, field or None, message)


@dataclass
class CaseCollector:
    """The usable records as a CaseSource. Images stay where they are until they are copied."""

    problems: list[Problem] = field(default_factory=list)
    _cases: dict[str, Case] = field(default_factory=dict)
    _image_files: dict[str, Path] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases.values())

    def add_image(self, path: str, file: Path) -> str:
        """Notes the file of an image; returns its path in the case set: `path` unless another file has it."""
        wanted, number = PurePosixPath(path), 1
        while self._image_files.get(path, file) != file:
            number += 1
            path = str(wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}"))
        self._image_files[path] = file
        return path

    def copy_image(self, image: Image, target: Path) -> None:
        shutil.copyfile(self._image_files[image.path], target)

    def add(self, place: RecordPlace, case: dict[str, Any], names: Mapping[str, str]) -> None:
        """Keeps a case, or its problems. `names`: what the layout calls our fields."""
        if case["id"] in self._cases:
            self.problems.append(place.problem(names.get("id", "id"), f"{case['id']!r} occurs twice"))
            return
        try:
            self._cases[case["id"]] = Case.model_validate(case)
        except ValidationError as error:
            self.problems += (place.problem(names.get(name, name), message) for name, message in list_errors(error))

    def require_cases(self, source: Path) -> CaseCollector:
        """This collector; BadInput if it has no case."""
        if not self._cases:
            if self.problems:
                raise error_from(self.problems[0], " (and no other record can be used)")
            raise BadInput(source, "contains no records")
        return self
