"""Degraded copies of an image file: each a PNG with a record, written whole or not at all."""

import json
from collections.abc import Iterable, Iterator
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
from wardround.degrade.records import RECORDS_FILE
from wardround.degrade.rendering import DegradationResult, apply_degradation
from wardround.degrade.severities import Profile, Space, load_profile
from wardround.degrade.types import degradation_type, table_position

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


class CopyRecords:
    """The records of the copies in a folder: one line each, appended as it is made, sorted at the end.

    A line that a crash cut off is ignored.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / RECORDS_FILE
        self._by_path: dict[str, CopyRecord] = {}
        if self._file.is_file():
            for line in self._file.read_bytes().splitlines():
                try:
                    record = json.loads(line)
                    _sort_key(record)
                except (ValueError, KeyError, TypeError):
                    continue
                self._by_path[record["image"]] = record

    def __contains__(self, path: str) -> bool:
        return path in self._by_path

    def flagged(self) -> dict[str, list[str]]:
        """The copies that are not what their level stands for, by path, each with what is wrong."""
        return {path: record["flags"] for path, record in self._by_path.items() if record.get("flags")}

    def is_current(self, copy: DegradedCopy, source: str, source_sha256: str, profile: Profile) -> bool:
        """Whether a copy is there, made of this file as it would be made now."""
        record = self._by_path.get(copy.path)
        if record is None or record.get("space") not in ("display", "hu"):
            return False
        expected = {"source": source, "source_sha256": source_sha256}
        expected |= expected_record(copy, record["space"], profile)
        file = self._folder / copy.path
        is_same = "flags" in record and all(record.get(name) == value for name, value in expected.items())
        return is_same and file.is_file() and file.stat().st_size == record.get("bytes")

    def add(self, records: Iterable[CopyRecord]) -> None:
        """Appends records to the file at once."""
        with self._file.open("a", encoding="utf-8", newline="\n") as file:
            for record in records:
                self._by_path[record["image"]] = record
                file.write(_json_line(record))

    def write_sorted(self) -> None:
        """Writes the records of all copies that are there, by source, type and severity."""
        records = [record for path, record in self._by_path.items() if (self._folder / path).is_file()]
        write_file(self._file, "".join(map(_json_line, sorted(records, key=_sort_key))))


def _json_line(record: CopyRecord) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def _sort_key(record: CopyRecord) -> tuple[str, tuple[int, str], float, str]:
    return record["source"], table_position(record["type"]), float(record["severity"]), record["image"]
