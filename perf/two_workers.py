"""What a second worker gains: degraded copies of images, and a loop that only burns, by turns in the same minutes.

The workers are those of `wardround degrade`. Each turn is one helping of jobs for one worker and two for two; the times
in which the workers start and end are left out. Jobs of copies differ in length, so a worker may wait for the other's
last job: a helping is long, as a set of images is.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from PIL import Image as Picture
from skimage import data

from wardround.core.case import Image
from wardround.degrade import TYPES
from wardround.degrade.files import CopyJob, DegradedCopy, make_copies
from wardround.degrade.severities import CLINICAL
from wardround.degrade.workers import map_in_order

HELPING = 4  # times every type, on both images
BURNT = 1_000_000  # turns of the loop in a job: about as long as a job of copies


class Turn(NamedTuple):
    """Seconds for a helping: one worker has one helping, two have two."""

    copies_by_one: float
    copies_by_two: float
    burnt_by_one: float
    burnt_by_two: float


class WarmUp(NamedTuple):
    """The first job of each worker."""

    jobs: tuple[CopyJob, ...]
    started: Path  # a folder with a file for each worker that is ready
    workers: int


def gains(turns: list[Turn]) -> tuple[float, float]:
    """By how much two workers are faster than one over all these turns: for copies and for the loop."""
    copies_by_one, copies_by_two, burnt_by_one, burnt_by_two = map(sum, zip(*turns, strict=True))
    return 2 * copies_by_one / copies_by_two, 2 * burnt_by_one / burnt_by_two


def timed(turns: int) -> list[Turn]:
    with TemporaryDirectory() as folder:
        copying = _jobs(Path(folder))
        measured = []
        for number in range(turns):
            # the kinds next to each other: a load that changes hits both; and either number of workers first
            seconds = {
                workers: [_seconds(jobs, workers) for jobs in (copying, [None] * len(copying))]
                for workers in (1, 2)[:: (-1) ** number]
            }
            measured.append(Turn(seconds[1][0], seconds[2][0], seconds[1][1], seconds[2][1]))
        return measured


def _jobs(folder: Path) -> list[CopyJob]:
    """A helping, of jobs of one type each, at both levels, on grey and colour by turns."""
    files = {name: folder / f"{name}.png" for name in ("camera", "immunohistochemistry")}  # both 512 x 512
    for name, file in files.items():
        Picture.fromarray(getattr(data, name)()).save(file)
    return [
        CopyJob(
            file,
            Image(path=file.name),
            tuple(DegradedCopy(type, level, f"{file.stem}.{type}.{level}.png") for level in (1.0, 2.0)),
            folder,
            CLINICAL,
        )
        for _ in range(HELPING)
        for type in TYPES
        for file in files.values()
    ]


def _seconds(jobs: Sequence[CopyJob | None], workers: int) -> float:
    """From the time when every worker has started and drawn every type to the last result."""
    with TemporaryDirectory() as started:
        first = WarmUp(tuple(job for job in jobs[: len(jobs) // HELPING] if job), Path(started), workers)
        results = map_in_order(work, chain([first] * workers, *([job] * workers for job in jobs)), workers)
        for _ in range(workers):
            next(results)
        start = ended = time.perf_counter()
        for _ in results:
            ended = time.perf_counter()
        return ended - start


def work(job: CopyJob | WarmUp | None) -> None:
    """In a worker: makes the copies, or burns, or makes copies until all workers have."""
    if isinstance(job, CopyJob):
        assert isinstance(make_copies(job), list)
    elif job is not None:
        for copies in job.jobs:
            work(copies)
        (job.started / str(os.getpid())).touch()
        while len(list(job.started.iterdir())) < job.workers:
            time.sleep(0.01)
    else:
        total = 0
        for number in range(BURNT):
            total += number
