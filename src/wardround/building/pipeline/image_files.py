"""Copies image files of a source into the case set: unchanged bytes under neutral names."""

import shutil
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image as Pillow

from wardround.building.audit.file_text import file_texts
from wardround.building.pipeline.pipeline import Build, Record
from wardround.building.text.redact import find_revealed_name
from wardround.cases.images import pixels, recipe_for
from wardround.cases.images.raster import FORMATS
from wardround.cases.images.window import Pixels
from wardround.core.canonical import sha256_file
from wardround.core.case import Image
from wardround.core.errors import BadInput

SUFFIXES = {"PNG": ".png", "JPEG": ".jpg", "TIFF": ".tif", "BMP": ".bmp", "DIB": ".bmp", "WEBP": ".webp"}
MAX_BYTES = 256 << 20  # of one image file


def suffix_of(file: Path) -> str | None:
    """The suffix that fits a file's content; saved pages often have another."""
    if file.suffix.lower() == ".dcm":
        return ".dcm"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Pillow.open(file, formats=FORMATS) as image:
                return SUFFIXES.get(str(image.format))
    except (OSError, Pillow.DecompressionBombError):
        return None


def decode_image(file: Path) -> Pixels | None:
    """The pixels of an image; None if it cannot be decoded."""
    suffix = suffix_of(file) if file.stat().st_size <= MAX_BYTES else None
    if suffix is None:
        return None
    try:
        return pixels(file, None, recipe_for(Image(path=f"image{suffix}")))
    except BadInput:
        return None


def copy_images(
    record: Record, images: Iterable[dict[str, Any]], names: Sequence[str], build: Build
) -> list[dict[str, Any]]:
    """Copies the images ({"file", "modality"?}) of a record into the set, each file once.

    A file whose own texts (EXIF, comments) name the diagnosis is left out and goes to the review queue `images`.
    """
    copies: list[dict[str, Any]] = []
    digests: set[str] = set()
    for image in images:
        file = Path(image["file"])
        digest = sha256_file(file)
        if digest in digests:
            continue
        digests.add(digest)
        name, leak = copy_image(file, f"{record['id']}-{len(copies) + 1}", names, build)
        if leak:
            (build.folder / name).unlink()
            build.queue("images", {"id": record["id"], "reason": "the file names the diagnosis", "where": leak})
            continue
        copies.append({"path": name, **({"modality": image["modality"]} if image.get("modality") else {})})
    return copies


def copy_image(file: Path, stem: str, names: Sequence[str], build: Build) -> tuple[str, str | None]:
    """Copies one image; returns its path in the set, and where its own texts (EXIF, comments) reveal one of `names`."""
    name = f"images/{stem}{suffix_of(file)}"
    target = build.folder / name
    target.parent.mkdir(exist_ok=True)
    shutil.copyfile(file, target)
    return name, next((place for place, text in file_texts(target) if find_revealed_name(text, names)), None)
