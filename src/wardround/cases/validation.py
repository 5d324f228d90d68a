"""Finds all problems of a case set; decodes every image."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from wardround.cases.images import pixels, recipe_for
from wardround.cases.set import CaseSet
from wardround.core.case import Image
from wardround.core.errors import BadInput, Problem
from wardround.core.processes import worker_pool

T = TypeVar("T")
JOBS_PER_WORKER = 64  # between two points at which a crashed pool can be replaced


class ImageJob(NamedTuple):
    """One image to decode, with the line of its case and its index there."""

    line: int
    image_index: int
    image: Image
    path: Path


def validate(folder: Path | str, *, workers: int | None = None) -> list[Problem]:
    """All problems of a case set, by line."""
    return sorted(find_problems(CaseSet.read(folder), workers=workers), key=lambda problem: problem.line or 0)


def find_problems(cases: CaseSet, *, workers: int | None = None) -> Iterator[Problem]:
    """The problems of an opened set: first those of its lines, then those of its images."""
    yield from cases.problems
    if not len(cases) and not cases.problems:
        yield Problem(cases.file, None, None, "contains no case")
    for job, message in map_images(image_jobs(cases), image_error, workers or os.cpu_count() or 1):
        if message is not None:
            field = f"images[{job.image_index}].path"
            yield Problem(cases.file, job.line, field, f"{job.image.path!r} {message}")


def image_jobs(cases: CaseSet) -> Iterator[ImageJob]:
    """Every image of every case."""
    for number, case in enumerate(cases):
        for index, image in enumerate(case.images):
            yield ImageJob(cases.line(number), index, image, cases.image_path(image))


def map_images(
    jobs: Iterator[ImageJob], function: Callable[[ImageJob], T], workers: int
) -> Iterator[tuple[ImageJob, T | str]]:
    """Each job with its result, in order, a bounded number at a time; a text if the image crashes its decoder."""
    size = workers * JOBS_PER_WORKER
    while chunk := list(islice(jobs, size)):
        try:
            with worker_pool(workers) as pool:
                while chunk:
                    yield from zip(chunk, list(pool.map(function, chunk, chunksize=4)), strict=True)
                    chunk = list(islice(jobs, size))
        except BrokenProcessPool:  # one process for each job shows which of them crashes
            yield from ((job, _run_alone(job, function)) for job in chunk)


def _run_alone(job: ImageJob, function: Callable[[ImageJob], T]) -> T | str:
    try:
        with worker_pool(1) as pool:
            return pool.submit(function, job).result()
    except BrokenProcessPool:
        return "crashes its decoder"


def image_error(job: ImageJob) -> str | None:
    """Why an image cannot be shown; None if it can."""
    try:
        pixels(job.path, job.image.frame, recipe_for(job.image))
    except BadInput as error:
        return error.problem.message
    return None
