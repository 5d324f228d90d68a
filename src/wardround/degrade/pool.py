"""Making copies: worker processes fill a folder with degraded images, and go on where they stopped.

The same bytes come out for any number of workers, in any order and after any restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Picture

from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput, Problem
from wardround.degrade.case_images import level_of
from wardround.degrade.files import Copy, Job, displayed, make_copies
from wardround.degrade.records import Records
from wardround.degrade.severities import profile_named
from wardround.degrade.sheet import contact_sheet
from wardround.degrade.sources import Source
from wardround.degrade.workers import in_order

SHEETS = "sheets"
COPIES_A_JOB = 4
Progress = Callable[[int, int], None]  # copies done, copies in all


@dataclass
class Outcome:
    """What came of it: how many copies were made and were there already, and what could not be used."""

    out: Path
    images: int = 0
    made: int = 0
    kept: int = 0
    cases: int | None = None
    questions: int = 0
    sheets: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "out": str(self.out),
            "images": self.images,
            "made": self.made,
            "kept": self.kept,
            "cases": self.cases,
            "questions": self.questions,
            "sheets": [str(sheet) for sheet in self.sheets],
            "problems": [
                {"file": str(each.file), "line": each.line, "field": each.field, "message": each.message}
                for each in self.problems
            ],
        }

    def sentence(self) -> str:
        """In a line."""
        parts = [f"{self.made:,} degraded copies of {self.images:,} images made in {self.out}"]
        if self.kept:
            parts.append(f"{self.kept:,} were there already")
        if self.cases is not None:
            parts.append(f"a case set of {self.cases:,} cases with {self.questions:,} questions")
        if self.sheets:
            parts.append(f"{len(self.sheets):,} contact sheets in {self.out / SHEETS}")
        if self.problems:
            parts.append(f"{len(self.problems):,} problems")
        return "; ".join(parts)


class Making:
    """Makes the copies of images in a folder, by worker processes, and keeps their records."""

    def __init__(self, out: Path, profile: str, workers: int, progress: Progress) -> None:
        self.out, self.outcome = out, Outcome(out)
        self._profile, self._workers, self._progress = profile, workers, progress
        if out.exists() and not out.is_dir():
            raise BadInput(out, "is not a folder")
        self._records = Records(out)
        self._sources: list[Source] = []

    def make(self, sources: list[Source]) -> set[str]:
        """Makes what is not there yet; says the paths of all copies that there are now."""
        self.out.mkdir(parents=True, exist_ok=True)
        self._sources = sources
        self.outcome.images = len(sources)
        copies = {source.name: [source.copy(each) for each in source.wanted] for source in sources}
        lacking = {source.name: self._lacking(source, copies[source.name]) for source in sources}
        there = {copy.path for each in copies.values() for copy in each}
        there -= {copy.path for each in lacking.values() for copy in each}
        total = sum(map(len, copies.values()))
        self.outcome.kept = done = len(there)
        self._progress(done, total)
        failed: set[str] = set()
        for job, result in in_order(make_copies, self._jobs(sources, lacking), self._workers):
            if isinstance(result, list):
                self._records.add(result)
                there.update(record["image"] for record in result)
                self.outcome.made += len(result)
            elif str(job.file) not in failed:  # one line, also where an image has several jobs
                failed.add(str(job.file))
                self.outcome.problems.append(result or Problem(job.file, None, None, "crashes its decoder"))
            done += len(job.copies)
            self._progress(done, total)
        self._records.put_in_order()
        return there

    def _lacking(self, source: Source, copies: list[Copy]) -> list[Copy]:
        if not any(copy.path in self._records for copy in copies):
            return copies
        sha256, profile = sha256_file(source.file), profile_named(self._profile)
        return [each for each in copies if not self._records.complete(each, source.image.path, sha256, profile)]

    def _jobs(self, sources: list[Source], lacking: dict[str, list[Copy]]) -> Iterator[Job]:
        """A few copies of an image a job: little is lost where it stops, and one image keeps several workers busy."""
        for source in sources:
            copies = lacking[source.name]
            for start in range(0, len(copies), COPIES_A_JOB):
                part = tuple(copies[start : start + COPIES_A_JOB])
                yield Job(source.file, source.image, part, self.out, self._profile)

    def draw_sheets(self) -> None:
        """A contact sheet for each image: its copies, a type a row, beside itself."""
        drawn = in_order(_draw_sheet, [(source, self.out) for source in self._sources], self._workers)
        self.outcome.sheets = [sheet for _, sheet in drawn if sheet is not None]


def _draw_sheet(job: tuple[Source, Path]) -> Path | None:
    """One sheet, where the image can be shown; that it cannot was said when its copies were to be made."""
    source, out = job
    try:
        clean = displayed(source.file, source.image)
    except BadInput:
        return None
    levels = sorted({severity for _, severity in source.wanted})
    rows = []
    for type in dict.fromkeys(type for type, _ in source.wanted):
        paths = [out / source.copy((type, level)).path for level in levels]
        rows.append((type, [clean, *(np.asarray(Picture.open(path)) for path in paths if path.is_file())]))
    place = out / SHEETS / f"{source.name}.png"
    place.parent.mkdir(parents=True, exist_ok=True)
    contact_sheet(rows, ["L0", *map(level_of, levels)]).save(place)
    return place
