"""Validation: everything that is wrong with a case set, its images decoded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from wardround.cases.images import pixels, recipe_for
from wardround.cases.set import CaseSet
from wardround.core.case import Image
from wardround.core.errors import BadInput, Problem

JOBS_A_WORKER = 64  # between two points at which a crashed pool can be made anew


class Job(NamedTuple):
    """One image to decode, and where its case names it."""

    line: int
    place: int
    image: Image
    path: Path


def validate(folder: Path | str, *, workers: int | None = None) -> list[Problem]:
    """All problems of a case set, by line."""
    return sorted(problems_of(CaseSet.read(folder), workers=workers), key=lambda problem: problem.line or 0)


def problems_of(cases: CaseSet, *, workers: int | None = None) -> Iterator[Problem]:
    """The problems of an opened set: first of its lines, then of its images, as they are found."""
    yield from cases.problems
    if not len(cases) and not cases.problems:
        yield Problem(cases.file, None, None, "there is no case in it")
    for job, message in _checked(_jobs(cases), workers or os.cpu_count() or 1):
        if message is not None:
            field = f"images[{job.place}].path"
            yield Problem(cases.file, job.line, field, f"{job.image.path!r} {message}")


def _jobs(cases: CaseSet) -> Iterator[Job]:
    for index, case in enumerate(cases):
        for place, image in enumerate(case.images):
            yield Job(cases.line(index), place, image, cases.image_path(image))


def _checked(jobs: Iterator[Job], workers: int) -> Iterator[tuple[Job, str | None]]:
    """Each job with what is wrong with its image, a bounded number at a time, in order."""
    size = workers * JOBS_A_WORKER
    while chunk := list(islice(jobs, size)):
        try:
            with _pool(workers) as pool:
                while chunk:
                    yield from zip(chunk, list(pool.map(wrong_with, chunk, chunksize=4)), strict=True)
                    chunk = list(islice(jobs, size))
        except BrokenProcessPool:  # a decoder killed its process: one process each tells whose fault it was
            yield from ((job, _alone(job)) for job in chunk)


def _alone(job: Job) -> str | None:
    try:
        with _pool(1) as pool:
            return pool.submit(wrong_with, job).result()
    except BrokenProcessPool:
        return "crashes its decoder"


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def wrong_with(job: Job) -> str | None:
    """Why an image cannot be shown, or None if it can."""
    try:
        pixels(job.path, job.image.frame, recipe_for(job.image))
    except BadInput as error:
        return error.problem.message
    return None
