"""Which degradations of a MedQ-Deg set would not be what their level stands for: these questions are left out.

The paper's radiologists discarded by eye what was destroyed or unchanged; here the bands of the severity table do it.
"""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from wardround.cases.set import CaseSet
from wardround.core.case import Case, Image
from wardround.degrade.files import CopyJob, DegradedCopy, check_copies
from wardround.degrade.severities import parse_severity
from wardround.degrade.sources import ImageKey, image_key
from wardround.degrade.types import fits
from wardround.degrade.workers import map_in_order

ALONE = 24  # jobs: fewer are done at once, without worker processes

FlagsByDegradation = dict[tuple[ImageKey, str, str], list[str]]  # (image, type, level) -> what is out of its band


def find_flagged(
    pool: CaseSet, types: dict[tuple[str, str], tuple[str, ...]], levels: Collection[str], profile: str
) -> FlagsByDegradation:
    """The degradations that are over- or under-done on an image; each is drawn once and thrown away."""
    wanted: dict[ImageKey, tuple[Image, set[str]]] = {}
    for case in pool:
        for question in case.questions:
            for image in shown_images(case, question.images):
                chosen = types.get((case.id, question.id), ())
                wanted.setdefault(image_key(image), (image, set()))[1].update(
                    type for type in chosen if fits(type, image.modality)
                )
    jobs = [
        CopyJob(pool.image_path(image), image, _copies(chosen, levels), Path(), profile)
        for image, chosen in wanted.values()
        if chosen
    ]
    pairs = (
        ((job, check_copies(job)) for job in jobs)
        if len(jobs) <= ALONE
        else map_in_order(check_copies, jobs, os.cpu_count() or 1)
    )
    flagged: FlagsByDegradation = {}
    for job, records in pairs:
        for record in records if isinstance(records, list) else ():
            if record["flags"]:
                flagged[image_key(job.image), record["type"], record["image"]] = record["flags"]
    return flagged


def shown_images(case: Case, numbers: list[int] | None) -> Iterator[Image]:
    yield from (case.images if numbers is None else (case.images[number] for number in numbers))


def _copies(types: Collection[str], levels: Collection[str]) -> tuple[DegradedCopy, ...]:
    """The copies to draw; what would be their path is the level."""
    return tuple(DegradedCopy(type, parse_severity(level), level) for type in sorted(types) for level in levels)
