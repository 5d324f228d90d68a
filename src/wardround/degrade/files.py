"""Degraded copies of an image file: each a PNG with a record, written whole or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardround.cases.images import pixels, recipe_for
from wardround.cases.images.png import encode_png
from wardround.cases.images.recipe import kind_of
from wardround.cases.images.window import Pixels, Values
from wardround.core.canonical import sha256_file
from wardround.core.case import Image
from wardround.core.errors import BadInput, Problem, WardroundError
from wardround.core.files import write_file
from wardround.degrade.bands import band_at, list_flags
from wardround.degrade.operations.body import body_mask
from wardround.degrade.quality import measure_quality
from wardround.degrade.rendering import DegradationResult, apply_degradation
from wardround.degrade.severities import Profile, Space, load_profile
from wardround.degrade.types import degradation_type

CopyRecord = dict[str, Any]


@dataclass(frozen=True)
class DegradedCopy:
    """One degraded image to make: type, severity, and its path in the folder of copies."""

    type: str
    severity: float
    path: str


@dataclass(frozen=True)
class CopyJob:
    """An image file, how it is shown, and which copies are to be made of it."""

    file: Path
    image: Image  # as its case names it; its path is what records call the source
    copies: tuple[DegradedCopy, ...]
    out: Path
    profile: str


class CopyRenderer:
    """Draws one degradation: on the Hounsfield units of a file that has them, else on the displayed image."""

    def __init__(self, copy: DegradedCopy, profile: str) -> None:
        self._copy, self._profile = copy, profile
        self.result: DegradationResult | None = None
        self.space: Space = "display"

    def render_hounsfield(self, values: Values, window: float) -> Values:
        return self._draw(values, "hu", window) if degradation_type(self._copy.type).modality == "CT" else values

    def render_display(self, pixels: Pixels) -> Pixels:
        return pixels if self.result else self._draw(pixels, "display", 0.0)

    def _draw(self, values: Values, space: Space, window: float) -> Values:
        self.space = space
        copy = self._copy
        self.result = apply_degradation(values, copy.type, copy.severity, self._profile, space, window)
        return self.result.image


def make_copies(job: CopyJob) -> list[CopyRecord] | Problem:
    """Writes the copies of one image; returns their records, or the problem with the image."""
    return _collect(_write_copies(job), job)


def check_copies(job: CopyJob) -> list[CopyRecord] | Problem:
    """As `make_copies`, and nothing is written: records say what the copies would be, flags included."""
    return _collect((record for _, record in _draw_copies(job)), job)


def _collect(records: Iterator[CopyRecord], job: CopyJob) -> list[CopyRecord] | Problem:
    try:
        return list(records)
    except BadInput as error:
        return error.problem
    except WardroundError as error:
        return Problem(job.file, None, None, str(error))


def load_displayed(file: Path, image: Image, renderer: CopyRenderer | None = None) -> Pixels:
    """The image as it is first shown, in its own size."""
    recipe = tuple(step for step in recipe_for(image) if step[0] != "fit")
    return pixels(file, image.frame, recipe, renderer)


def _write_copies(job: CopyJob) -> Iterator[CopyRecord]:
    source_sha256 = sha256_file(job.file)
    for degraded, record in _draw_copies(job):
        data = encode_png(degraded)
        path = job.out / record["image"]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, data)
        yield {"image": record.pop("image"), "bytes": len(data), "source_sha256": source_sha256, **record}


def _draw_copies(job: CopyJob) -> Iterator[tuple[Pixels, CopyRecord]]:
    clean = load_displayed(job.file, job.image)
    body, profile = body_mask(clean), load_profile(job.profile)
    for copy in job.copies:
        renderer = CopyRenderer(copy, job.profile)
        if degradation_type(copy.type).modality == "CT" and kind_of(job.file.name) != "raster":
            degraded = load_displayed(job.file, job.image, renderer)
        else:
            degraded = renderer.render_display(clean)
        assert renderer.result is not None
        quality = measure_quality(clean, degraded, body)
        band = band_at(profile.bands, copy.severity, job.image.modality, copy.type)
        record = {
            "image": copy.path,
            "source": job.image.path,
            **expected_record(copy, renderer.space, profile),
            "seed": renderer.result.seed,
            **quality,
            "flags": list_flags(quality, degradation_type(copy.type).category, band),
        }
        yield degraded, record


def expected_record(copy: DegradedCopy, space: Space, profile: Profile) -> CopyRecord:
    """The part of a copy's record that says how it is made."""
    return {
        "type": copy.type,
        "version": degradation_type(copy.type).version,
        "severity": copy.severity,
        "space": space,
        "parameters": profile.at(copy.type, copy.severity, space),
        "profile": profile.name,
        "profile_version": profile.version,
    }
