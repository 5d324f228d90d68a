"""Image files of a source become images of the case set: the bytes as they are, under names that tell nothing."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image as Pillow

from wardround.building.audit.file_text import file_texts
from wardround.building.pipeline.pipeline import Build
from wardround.building.pipeline.records import Record
from wardround.building.text.redact import reveals
from wardround.cases.images import pixels, recipe_for
from wardround.cases.images.raster import FORMATS
from wardround.cases.images.window import Pixels
from wardround.core.canonical import sha256_file
from wardround.core.case import Image
from wardround.core.errors import BadInput

SUFFIXES = {"PNG": ".png", "JPEG": ".jpg", "TIFF": ".tif", "BMP": ".bmp", "DIB": ".bmp", "WEBP": ".webp"}
LARGEST = 256 << 20  # bytes of one image file


def suffix_of(file: Path) -> str | None:
    """The suffix that a file should have by what is in it; saved pages often name theirs otherwise."""
    if file.suffix.lower() == ".dcm":
        return ".dcm"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Pillow.open(file, formats=FORMATS) as image:
                return SUFFIXES.get(str(image.format))
    except (OSError, Pillow.DecompressionBombError):
        return None


def shown(file: Path) -> Pixels | None:
    """What an image shows; None if it cannot be decoded."""
    suffix = suffix_of(file) if file.stat().st_size <= LARGEST else None
    if suffix is None:
        return None
    try:
        return pixels(file, None, recipe_for(Image(path=f"image{suffix}")))
    except BadInput:
        return None


def taken(record: Record, images: Iterable[dict[str, Any]], names: Sequence[str], build: Build) -> list[dict[str, Any]]:
    """Copies the images ({"file", "modality"?}) of a record into the set, each file once.

    A file whose own texts (EXIF, comments) name the diagnosis is left out, and told to people.
    """
    found: list[dict[str, Any]] = []
    known: set[str] = set()
    for image in images:
        file = Path(image["file"])
        digest = sha256_file(file)
        if digest in known:
            continue
        known.add(digest)
        name = f"images/{record['id']}-{len(found) + 1}{suffix_of(file)}"
        there = build.folder / name
        there.parent.mkdir(exist_ok=True)
        shutil.copyfile(file, there)
        if leak := next((where for where, text in file_texts(there) if reveals(text, names)), None):
            there.unlink()
            build.queue("images", {"id": record["id"], "reason": "the file names the diagnosis", "where": leak})
            continue
        found.append({"path": name, **({"modality": image["modality"]} if image.get("modality") else {})})
    return found
