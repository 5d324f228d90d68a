"""Worker processes fill a folder with degraded copies, and go on where they stopped.

The bytes are the same for any number of workers, in any order and after any restart.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Picture

from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput, Problem
from wardround.degrade.case_images import level_name
from wardround.degrade.files import CopyJob, CopyRecords, DegradedCopy, load_displayed, make_copies
from wardround.degrade.records import RECORDS_FILE
from wardround.degrade.severities import load_profile
from wardround.degrade.sheet import contact_sheet
from wardround.degrade.sources import SourceImage
from wardround.degrade.workers import map_in_order

SHEETS = "sheets"
COPIES_PER_JOB = 4
Progress = Callable[[int, int], None]  # copies done, copies in all


@dataclass
class DegradeSummary:
    """The result of `wardround degrade`: counts of copies made and kept, and what could not be used."""

    out: Path
    images: int = 0
    made: int = 0
    kept: int = 0
    flagged: int = 0  # copies out of the band of their level
    cases: int | None = None
    questions: int = 0
    general_only: int = 0  # images whose modality is not known: only general types were drawn
    left_out: int = 0  # degraded questions of a case set whose copies are flagged
    profile: str = ""
    sheets: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        problems = [asdict(problem) | {"file": str(problem.file)} for problem in self.problems]
        sheets = [str(sheet) for sheet in self.sheets]
        return vars(self) | {"out": str(self.out), "sheets": sheets, "problems": problems}

    def sentence(self) -> str:
        parts = [f"{self.made:,} degraded copies of {self.images:,} images made in {self.out}"]
        if self.profile:
            parts[0] += f" with severity profile {self.profile}"
        if self.kept:
            parts.append(f"{self.kept:,} were there already")
        if self.flagged:
            parts.append(f"{self.flagged:,} are over- or under-degraded (`flags` in {RECORDS_FILE})")
        if self.general_only:
            named = "--modality or --types names more"
            parts.append(f"{self.general_only:,} of unknown modality got the general types only ({named})")
        if self.cases is not None:
            parts.append(f"a case set of {self.cases:,} cases with {self.questions:,} questions")
            if self.left_out:
                parts[-1] += f"; {self.left_out:,} degraded questions left out with flagged copies"
        if self.sheets:
            parts.append(f"{len(self.sheets):,} contact sheets in {self.out / SHEETS}")
        if self.problems:
            parts.append(f"{len(self.problems):,} problems")
        return "; ".join(parts)


class CopyMaker:
    """Makes the copies of images in a folder, by worker processes, and keeps their records."""

    def __init__(self, out: Path, profile: str, workers: int, progress: Progress) -> None:
        self.out, self.summary = out, DegradeSummary(out)
        self._profile, self._workers, self._progress = profile, workers, progress
        if out.exists() and not out.is_dir():
            raise BadInput(out, "is not a folder")
        self._records = CopyRecords(out)
        self._sources: list[SourceImage] = []
        self.flagged_paths: set[str] = set()
        self.summary.profile = load_profile(profile).name

    def make(self, sources: list[SourceImage]) -> set[str]:
        """Makes the copies that are not there yet; returns the paths of all copies that there are now."""
        self.out.mkdir(parents=True, exist_ok=True)
        self._sources = sources
        self.summary.images = len(sources)
        copies = {source.name: source.copies() for source in sources}
        missing = {source.name: self._missing(source, copies[source.name]) for source in sources}
        present = {copy.path for group in copies.values() for copy in group}
        present -= {copy.path for group in missing.values() for copy in group}
        total = sum(map(len, copies.values()))
        self.summary.kept = finished = len(present)
        self._progress(finished, total)
        failed_files: set[str] = set()
        for job, result in map_in_order(make_copies, self._jobs(sources, missing), self._workers):
            if isinstance(result, list):
                self._records.add(result)
                present.update(record["image"] for record in result)
                self.summary.made += len(result)
            elif str(job.file) not in failed_files:  # one line, also if an image has several jobs
                failed_files.add(str(job.file))
                self.summary.problems.append(result or Problem(job.file, None, None, "crashes its decoder"))
            finished += len(job.copies)
            self._progress(finished, total)
        self._records.write_sorted()
        self.flagged_paths = present & self._records.flagged().keys()
        self.summary.flagged = len(self.flagged_paths)
        return present

    def _missing(self, source: SourceImage, copies: list[DegradedCopy]) -> list[DegradedCopy]:
        if not any(copy.path in self._records for copy in copies):
            return copies
        sha256, profile = sha256_file(source.file), load_profile(self._profile)
        return [copy for copy in copies if not self._records.is_current(copy, source.image.path, sha256, profile)]

    def _jobs(self, sources: list[SourceImage], missing: dict[str, list[DegradedCopy]]) -> Iterator[CopyJob]:
        """A few copies of an image per job: little is lost on a stop, and one image keeps several workers busy."""
        for source in sources:
            copies = missing[source.name]
            for start in range(0, len(copies), COPIES_PER_JOB):
                part = tuple(copies[start : start + COPIES_PER_JOB])
                yield CopyJob(source.file, source.image, part, self.out, self._profile)

    def draw_sheets(self) -> None:
        """A contact sheet for each image: a row per type, the image first, then its copies."""
        sheets = map_in_order(_draw_sheet, [(source, self.out) for source in self._sources], self._workers)
        self.summary.sheets = [sheet for _, sheet in sheets if sheet is not None]


def _draw_sheet(job: tuple[SourceImage, Path]) -> Path | None:
    """One sheet; None if the image cannot be shown, which is reported when its copies are made."""
    source, out = job
    try:
        clean = load_displayed(source.file, source.image)
    except BadInput:
        return None
    levels = sorted({severity for _, severity in source.degradations})
    rows = []
    for type in dict.fromkeys(type for type, _ in source.degradations):
        paths = [out / source.copy((type, level)).path for level in levels]
        rows.append((type, [clean, *(np.asarray(Picture.open(path)) for path in paths if path.is_file())]))
    path = out / SHEETS / f"{source.name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    contact_sheet(rows, ["L0", *map(level_name, levels)]).save(path)
    return path
