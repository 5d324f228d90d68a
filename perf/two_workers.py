"""What a second worker gains: degraded copies of images, and a loop that only burns, by turns in the same minutes.

The workers are those of `wardround degrade`. Each turn is one helping of jobs for a pool of one process and one for
a pool of two; both stay, so that no start is measured.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from PIL import Image as Picture
from skimage import data

from wardround.core.case import Image
from wardround.degrade import TYPES
from wardround.degrade.files import CopyJob, DegradedCopy, make_copies
from wardround.degrade.severities import CLINICAL
from wardround.degrade.workers import JOBS_PER_WORKER, map_in_order

BURNT = 600_000  # turns of the loop in a job: about as long as a job of copies


class Turn(NamedTuple):
    """Seconds for a helping: one worker has one helping, two have two."""

    copies_by_one: float
    copies_by_two: float
    burnt_by_one: float
    burnt_by_two: float


def gains(turns: list[Turn]) -> tuple[float, float]:
    """By how much two workers are faster than one over all these turns: for copies and for the loop."""
    copies_by_one, copies_by_two, burnt_by_one, burnt_by_two = map(sum, zip(*turns, strict=True))
    return 2 * copies_by_one / copies_by_two, 2 * burnt_by_one / burnt_by_two


def timed(turns: int) -> list[Turn]:
    with TemporaryDirectory() as folder:
        one, two = (_Stream(workers, _jobs(Path(folder))) for workers in (1, 2))
        found = []
        for number in range(turns + 1):
            # the kinds next to each other: a load that changes hits both; and either pool first
            seconds = {
                pool: [pool.seconds(kind) for kind in ("copy", "burn")] for pool in (one, two)[:: (-1) ** number]
            }
            found.append(Turn(seconds[one][0], seconds[two][0], seconds[one][1], seconds[two][1]))
        one.results.close()
        two.results.close()
        return found[1:]  # in the first they started


def _jobs(folder: Path) -> list[CopyJob]:
    """A helping: one type each, at both levels, on grey and colour by turns."""
    files = {name: folder / f"{name}.png" for name in ("camera", "immunohistochemistry")}  # both 512 x 512
    for name, file in files.items():
        Picture.fromarray(getattr(data, name)()).save(file)
    jobs = [
        CopyJob(
            file,
            Image(path=file.name),
            tuple(DegradedCopy(type, level, f"{file.stem}.{type}.{level}.png") for level in (1.0, 2.0)),
            folder,
            CLINICAL,
        )
        for type in TYPES
        for file in files.values()
    ]
    return jobs[:JOBS_PER_WORKER]


class _Stream:
    """A pool that is fed whole helpings of one kind of job."""

    def __init__(self, workers: int, copying: list[CopyJob]) -> None:
        self.workers, self.copying, self.kind = workers, copying, "copy"
        self.results = map_in_order(work, self._fed(), workers)

    def seconds(self, kind: str) -> float:
        self.kind = kind
        started = time.perf_counter()
        for _ in range(self.workers * JOBS_PER_WORKER):
            next(self.results)
        return time.perf_counter() - started

    def _fed(self) -> Iterator[CopyJob | None]:
        while True:
            for job in self.copying:
                for _ in range(self.workers):
                    yield job if self.kind == "copy" else None


def work(job: CopyJob | None) -> None:
    """In a worker: makes the copies, or burns."""
    if job is not None:
        assert isinstance(make_copies(job), list)
        return
    total = 0
    for number in range(BURNT):
        total += number
