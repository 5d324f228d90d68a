"""Degraded copies of an image file: each a PNG beside its record, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.cases.images import pixels, recipe_for
from wardround.cases.images.png import png
from wardround.cases.images.recipe import kind_of
from wardround.cases.images.window import Pixels, Values
from wardround.core.canonical import sha256_file
from wardround.core.case import Image
from wardround.core.errors import BadInput, Problem, WardroundError
from wardround.degrade.operations.body import body_mask
from wardround.degrade.quality import measured
from wardround.degrade.rendering import Degraded, rendered
from wardround.degrade.severities import Profile, Space, profile_named
from wardround.degrade.types import TAXONOMY

Record = dict[str, Any]


@dataclass(frozen=True)
class Copy:
    """One degraded image to be made: what it is made by, and its path in the folder of copies."""

    type: str
    severity: float
    path: str


@dataclass(frozen=True)
class Job:
    """An image file, how it is shown, and which copies are to be made of it."""

    file: Path
    image: Image  # as its case names it; its path is what records call the source
    copies: tuple[Copy, ...]
    out: Path
    profile: str


class Alteration:
    """Draws one degradation: on the Hounsfield units of a file that has them, else on what is shown."""

    def __init__(self, copy: Copy, profile: str) -> None:
        self._copy, self._profile = copy, profile
        self.done: Degraded | None = None
        self.space: Space = "display"

    def hounsfield(self, values: Values) -> Values:
        return self._drawn(values, "hu") if TAXONOMY[self._copy.type].modality == "CT" else values

    def shown(self, pixels: Pixels) -> Pixels:
        return pixels if self.done else self._drawn(pixels, "display")

    def _drawn(self, values: Values, space: Space) -> Values:
        self.done, self.space = rendered(values, self._copy.type, self._copy.severity, self._profile, space), space
        return self.done.image


def make_copies(job: Job) -> list[Record] | Problem:
    """Writes the copies of one image and says what they are, or what is wrong with the image."""
    try:
        return list(_made(job))
    except BadInput as error:
        return error.problem
    except WardroundError as error:
        return Problem(job.file, None, None, str(error))


def displayed(file: Path, image: Image, altered: Alteration | None = None) -> Pixels:
    """The image as it is first shown, in its own size."""
    recipe = tuple(step for step in recipe_for(image) if step[0] != "fit")
    return pixels(file, image.frame, recipe, altered)


def _made(job: Job) -> Iterator[Record]:
    clean = displayed(job.file, job.image)
    body, profile, source = body_mask(clean), profile_named(job.profile), sha256_file(job.file)
    for copy in job.copies:
        alteration = Alteration(copy, job.profile)
        if TAXONOMY[copy.type].modality == "CT" and kind_of(job.file.name) != "raster":
            shown = displayed(job.file, job.image, alteration)
        else:
            shown = alteration.shown(clean)
        assert alteration.done is not None
        yield {
            "image": copy.path,
            "bytes": _written(shown, job.out / copy.path),
            "source": job.image.path,
            "source_sha256": source,
            **expected(copy, alteration.space, profile),
            "seed": alteration.done.seed,
            **measured(clean, shown, body),
        }


def expected(copy: Copy, space: Space, profile: Profile) -> Record:
    """What the record of a copy says of how it was made."""
    return {
        "type": copy.type,
        "version": TAXONOMY[copy.type].version,
        "severity": copy.severity,
        "space": space,
        "parameters": profile.at(copy.type, copy.severity, space),
        "profile": profile.name,
        "profile_version": profile.version,
    }


def _written(shown: Pixels, path: Path) -> int:
    data = png(shown)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return len(data)
