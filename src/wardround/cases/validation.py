"""Validation: everything that is wrong with a case set, its images decoded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeVar

from wardround.cases.images import pixels, recipe_for
from wardround.cases.set import CaseSet
from wardround.core.case import Image
from wardround.core.errors import BadInput, Problem

T = TypeVar("T")
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
    for job, message in each_image(image_jobs(cases), wrong_with, workers or os.cpu_count() or 1):
        if message is not None:
            field = f"images[{job.place}].path"
            yield Problem(cases.file, job.line, field, f"{job.image.path!r} {message}")


def image_jobs(cases: CaseSet) -> Iterator[Job]:
    """Every image of every case."""
    for index, case in enumerate(cases):
        for place, image in enumerate(case.images):
            yield Job(cases.line(index), place, image, cases.image_path(image))


def each_image(jobs: Iterator[Job], look: Callable[[Job], T], workers: int) -> Iterator[tuple[Job, T | str]]:
    """Each job with what a look at its image gave, a bounded number at a time, in order; or that it cannot be done."""
    size = workers * JOBS_A_WORKER
    while chunk := list(islice(jobs, size)):
        try:
            with _pool(workers) as pool:
                while chunk:
                    yield from zip(chunk, list(pool.map(look, chunk, chunksize=4)), strict=True)
                    chunk = list(islice(jobs, size))
        except BrokenProcessPool:  # a decoder killed its process: one process each tells whose fault it was
            yield from ((job, _alone(job, look)) for job in chunk)


def _alone(job: Job, look: Callable[[Job], T]) -> T | str:
    try:
        with _pool(1) as pool:
            return pool.submit(look, job).result()
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
