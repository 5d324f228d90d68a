"""Worker processes fill a folder with degraded copies, and go on where they stopped.

The bytes are the same for any number of workers, in any order and after any restart.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Picture

from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput, Problem
from wardround.core.text import count_noun
from wardround.degrade.case_images import level_name
from wardround.degrade.copy_records import CopyRecords
from wardround.degrade.files import CopyJob, DegradedCopy, load_displayed, make_copies
from wardround.degrade.records import RECORDS_FILE
from wardround.degrade.severities import load_profile
from wardround.degrade.sheet import contact_sheet
from wardround.degrade.sources import SourceImage
from wardround.degrade.workers import map_in_order

SHEETS = "sheets"
COPIES_PER_JOB = 12  # each job reads its image anew, and a stop waits for the end of the jobs under way
FEW_IMAGES, COPIES_OF_FEW = 4, 4  # up to so many images a worker, jobs are smaller: all workers are busy to the end
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
        copies = "copy" if self.made == 1 else "copies"
        parts = [f"{self.made:,} degraded {copies} of {count_noun(self.images, 'image')} made in {self.out}"]
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
            parts.append(f"{count_noun(len(self.sheets), 'contact sheet')} in {self.out / SHEETS}")
        if self.problems:
            parts.append(count_noun(len(self.problems), "problem"))
        return "; ".join(parts)


class CopyMaker:
    """Makes the copies of images in a folder, by worker processes, and keeps their records."""

    def __init__(self, out: Path, profile: str, workers: int, progress: Progress) -> None:
        self.out, self.summary = out, DegradeSummary(out)
        self._profile, self._workers, self._progress = profile, workers, progress
        if out.exists() and not out.is_dir():
            raise BadInput(out, "is not a folder")
        self._records = CopyRecords(out)
        self._sources: Sequence[SourceImage] = ()
        self._total = 0
        self._absent: set[str] = set()  # paths of copies that could not be made
        self.summary.profile = load_profile(profile).name

    def make(self, sources: Sequence[SourceImage]) -> None:
        """Makes the copies that are not there yet; `is_usable` tells afterwards which there are."""
        self.out.mkdir(parents=True, exist_ok=True)
        self._sources = sources
        self.summary.images = len(sources)
        self._total = sum(len(source.degradations) for source in sources)
        self._progress(0, self._total)
        failed_files: set[str] = set()
        for job, result in map_in_order(make_copies, self._jobs(), self._workers):
            if isinstance(result, list):
                self._records.add(result)
                self.summary.made += len(result)
            else:
                self._absent.update(copy.path for copy in job.copies)
                if str(job.file) not in failed_files:  # one line, also if an image has several jobs
                    failed_files.add(str(job.file))
                    self.summary.problems.append(result or Problem(job.file, None, None, "crashes its decoder"))
            self._show_progress()
        self._show_progress()
        self._records.write_sorted()
        if self._records.flagged:
            copies = (copy.path for source in sources for copy in source.copies())
            self.summary.flagged = sum(self.is_present(path) and path in self._records.flagged for path in copies)

    def is_present(self, path: str) -> bool:
        """Whether a copy of these sources is there."""
        return path not in self._absent

    def is_usable(self, path: str) -> bool:
        """Whether a copy is there and what its level stands for."""
        return self.is_present(path) and path not in self._records.flagged

    def _show_progress(self) -> None:
        self._progress(self.summary.made + self.summary.kept + len(self._absent), self._total)

    def _jobs(self) -> Iterator[CopyJob]:
        """What is missing, image by image, as the workers need it: a million copies are not listed first."""
        size = COPIES_OF_FEW if len(self._sources) <= FEW_IMAGES * self._workers else COPIES_PER_JOB
        for source in self._sources:
            copies = source.copies()
            missing = self._missing(source, copies)
            if len(missing) < len(copies):
                self.summary.kept += len(copies) - len(missing)
                self._show_progress()
            for start in range(0, len(missing), size):
                yield CopyJob(source.file, source.image, tuple(missing[start : start + size]), self.out, self._profile)

    def _missing(self, source: SourceImage, copies: list[DegradedCopy]) -> list[DegradedCopy]:
        if not self._records.knows(source.image.path):
            return copies
        sha256, profile = sha256_file(source.file), load_profile(self._profile)
        return [copy for copy in copies if not self._records.is_current(copy, source.image.path, sha256, profile)]

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
