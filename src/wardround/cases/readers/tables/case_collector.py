"""Gathered: the cases that a reader makes of single records, and what is wrong with the others."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from wardround.cases.set import raised
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, Problem
from wardround.core.field_errors import complaints


@dataclass(frozen=True)
class Place:
    """Where a record stands: its file, and its line or its place in the document (`[3]`)."""

    file: Path
    line: int | None = None
    within: str = ""

    def problem(self, name: str | None, message: str) -> Problem:
        field = ".".join(part for part in (self.within, name) if part)
        return Problem(self.file, self.line, field or None, message)


@dataclass
class Gathered:
    """The usable records as a Source of cases. Images stay where they are until they are copied."""

    problems: list[Problem] = field(default_factory=list)
    _cases: dict[str, Case] = field(default_factory=dict)
    _held: dict[str, Path] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases.values())

    def hold(self, path: str, where: Path) -> str:
        """Remembers where an image is, and says at which path the case set will have it: this one if it is free."""
        wanted, number = PurePosixPath(path), 1
        while self._held.get(path, where) != where:
            number += 1
            path = str(wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}"))
        self._held[path] = where
        return path

    def copy_image(self, image: Image, there: Path) -> None:
        shutil.copyfile(self._held[image.path], there)

    def take(self, place: Place, case: dict[str, Any], names: Mapping[str, str]) -> None:
        """Keeps a case, or what is wrong with it. `names` are what the layout calls our fields."""
        if case["id"] in self._cases:
            self.problems.append(place.problem(names.get("id", "id"), f"{case['id']!r} is there twice"))
            return
        try:
            self._cases[case["id"]] = Case.model_validate(case)
        except ValidationError as error:
            self.problems += (place.problem(names.get(at, at), message) for at, message in complaints(error))

    def or_refused(self, source: Path) -> Gathered:
        """This, unless nothing in it can be used."""
        if not self._cases:
            if self.problems:
                raise raised(self.problems[0], " (and no other record can be used)")
            raise BadInput(source, "there is no record in it")
        return self


def files_of(source: Path, *suffixes: str) -> list[Path]:
    """The file itself, or those below a folder that end so, in the order of their names."""
    if source.is_file():
        if source.suffix not in suffixes:
            raise BadInput(source, f"is none of {', '.join(suffixes)}")
        return [source]
    found = sorted(path for suffix in suffixes for path in source.rglob(f"*{suffix}"))
    if not found:
        why = (
            f"there is no {' or '.join(suffixes)} file in it" if source.exists() else "there is no such file or folder"
        )
        raise BadInput(source, why)
    return found


def given(told: dict[str, Any]) -> dict[str, Any]:
    """Only what says something."""
    return {key: value for key, value in told.items() if value not in (None, "", [], {})}
