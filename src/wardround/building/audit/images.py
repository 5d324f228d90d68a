"""Scans every image once (can it be decoded, is it blank, its fingerprint, the texts of its file), and what is wrong.

Almost blank (our choice): the middle 99% of its greys span fewer than 8 of 256 levels.
"""

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from PIL import Image as Pillow

from wardround.building.audit.file_text import Field, file_texts, identity_severity
from wardround.building.audit.finding import Finding
from wardround.building.audit.shown_fields import answer_names, clean_questions
from wardround.building.duplicates.fingerprint import Fingerprint, fingerprint
from wardround.building.text.redact import find_revealed_name
from wardround.cases.images import pixels, recipe_for
from wardround.cases.images.window import Pixels
from wardround.cases.set import CaseSet
from wardround.cases.validation import ImageJob, image_jobs, map_images
from wardround.core.canonical import sha256_file
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput
from wardround.core.names import NO_SYNONYMS, Synonyms

MIN_SPAN = 8  # grey levels
Key = tuple[str, int | None, int | None, tuple[float, float] | None, str | None]


class ImageScan(NamedTuple):
    fingerprint: Fingerprint | None  # None: it cannot be decoded
    is_blank: bool
    message: str
    texts: list[Field]


@dataclass
class ScannedImages:
    """The scans by image key, and the hash of each file."""

    scans: dict[Key, ImageScan] = field(default_factory=dict)
    files: dict[str, tuple[str, int]] = field(default_factory=dict)  # SHA-256 and size by path

    def of_case(self, case: Case) -> list[ImageScan]:
        return [self.scans[image_key(image)] for image in case.images]


def image_key(image: Image) -> Key:
    """All that decides which pixels are shown."""
    return image.path, image.frame, image.axis, image.window, image.modality


def scan_image(job: ImageJob) -> ImageScan:
    """Decodes one image and reads its file's texts."""
    try:
        decoded = pixels(job.path, job.image.frame, recipe_for(job.image))
    except BadInput as error:
        return ImageScan(None, False, error.problem.message, file_texts(job.path))
    return ImageScan(fingerprint(decoded), is_blank(decoded), "", file_texts(job.path))


def is_blank(pixels: Pixels) -> bool:
    greys = np.asarray(Pillow.fromarray(pixels).convert("L"))
    low, high = np.percentile(greys, [0.5, 99.5])
    return bool(high - low < MIN_SPAN)


def scan_images(cases: CaseSet, workers: int | None = None) -> ScannedImages:
    """Scans every image of a set, each once however many cases show it."""
    images = ScannedImages()
    for job, scan in map_images(_distinct_jobs(cases), scan_image, workers or os.cpu_count() or 1):
        scan = ImageScan(None, False, scan, []) if isinstance(scan, str) else scan
        images.scans[image_key(job.image)] = scan
        if job.image.path not in images.files:
            images.files[job.image.path] = sha256_file(job.path), job.path.stat().st_size
    return images


def _distinct_jobs(cases: CaseSet) -> Iterator[ImageJob]:
    keys = set[Key]()
    for job in image_jobs(cases):
        key = image_key(job.image)
        if key not in keys:
            keys.add(key)
            yield job


def find_image_problems(cases: CaseSet, images: ScannedImages, synonyms: Synonyms = NO_SYNONYMS) -> Iterator[Finding]:
    reported = set[tuple[str, str]]()  # each problem of a file is reported once
    for case in cases:
        paths_by_hash: defaultdict[str, list[str]] = defaultdict(list)
        scans = images.of_case(case)
        for image, scan in zip(case.images, scans, strict=True):
            if scan.fingerprint is not None and not scan.is_blank:
                paths_by_hash[scan.fingerprint.exact].append(image.path)
            for finding in _file_problems(case, image.path, scan):
                if (finding.kind, finding.what) not in reported:
                    reported.add((finding.kind, finding.what))
                    yield finding
        for paths in paths_by_hash.values():
            if len(paths) > 1:
                yield Finding("warning", "repeated_image", f"{' and '.join(paths)} are the same pixels", case.id)
        if case.images:
            yield from _revealed_answers(case, scans, synonyms)


def _file_problems(case: Case, path: str, scan: ImageScan) -> Iterator[Finding]:
    if scan.fingerprint is None:
        yield Finding("error", "unreadable_image", f"{path} {scan.message}", case.id)
    if scan.is_blank:
        yield Finding("warning", "blank_image", f"{path} is blank or almost blank", case.id)
    for place, text in scan.texts:
        if severity := identity_severity(place, text):
            # the value itself is not repeated: an audit is passed on more freely than the images are
            yield Finding(severity, "patient_identity", f"{path}: {place} is filled in", case.id)


def _revealed_answers(case: Case, scans: list[ImageScan], synonyms: Synonyms) -> Iterator[Finding]:
    for question in clean_questions(case):
        names = answer_names(case, question, synonyms)
        shown = range(len(case.images)) if question.images is None else question.images
        for index in shown:
            path, scan = case.images[index].path, scans[index]
            for kind, place, text in [
                ("leak_file_name", "its name", path),
                *(("leak_file_text", place, text) for place, text in scan.texts),
            ]:
                if name := find_revealed_name(text, names):
                    yield Finding("error", kind, f"{path}: {place} contains {name!r}", case.id, question.id)
