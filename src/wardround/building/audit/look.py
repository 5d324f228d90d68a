"""One look at every image: is it readable, does it show anything, what is it known by, what does its file tell.

Almost blank (our choice): the middle 99% of its greys span fewer than 8 of 256 levels.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from PIL import Image as Pillow

from wardround.building.audit.file_text import Field, file_texts
from wardround.building.sources.medq_deg.duplicates import Print, print_of
from wardround.cases.images import pixels, recipe_for
from wardround.cases.images.window import Pixels
from wardround.cases.set import CaseSet
from wardround.cases.validation import Job, each_image, image_jobs
from wardround.core.canonical import sha256_file
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput

SPAN = 8  # grey levels
Key = tuple[str, int | None, int | None, tuple[float, float] | None, str | None]


class Look(NamedTuple):
    """What one look at an image gave."""

    print: Print | None  # None: it cannot be decoded
    blank: bool
    message: str
    texts: list[Field]


@dataclass
class Images:
    """All looks, by path and by what of it is shown; and the hash of each file."""

    looks: dict[Key, Look] = field(default_factory=dict)
    files: dict[str, tuple[str, int]] = field(default_factory=dict)  # SHA-256 and size by path

    def of(self, case: Case) -> list[Look]:
        return [self.looks[key_of(image)] for image in case.images]


def key_of(image: Image) -> Key:
    """What decides which pixels are shown."""
    return image.path, image.frame, image.axis, image.window, image.modality


def look_at(job: Job) -> Look:
    """Decodes one image and reads its file's texts."""
    try:
        shown = pixels(job.path, job.image.frame, recipe_for(job.image))
    except BadInput as error:
        return Look(None, False, error.problem.message, file_texts(job.path))
    return Look(print_of(shown), is_blank(shown), "", file_texts(job.path))


def is_blank(shown: Pixels) -> bool:
    greys = np.asarray(Pillow.fromarray(shown).convert("L"))
    low, high = np.percentile(greys, [0.5, 99.5])
    return bool(high - low < SPAN)


def looked_at(cases: CaseSet, workers: int | None = None) -> Images:
    """Every image of a set, each only once however many cases show it."""
    found = Images()
    for job, look in each_image(_once(cases), look_at, workers or os.cpu_count() or 1):
        look = Look(None, False, look, []) if isinstance(look, str) else look
        found.looks[key_of(job.image)] = look
        if job.image.path not in found.files:
            found.files[job.image.path] = sha256_file(job.path), job.path.stat().st_size
    return found


def _once(cases: CaseSet) -> Iterator[Job]:
    seen = set[Key]()
    for job in image_jobs(cases):
        key = key_of(job.image)
        if key not in seen:
            seen.add(key)
            yield job
