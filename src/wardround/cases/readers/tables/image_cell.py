"""What the image cell of a table holds: base64, a path, or the number of the row that has the image."""

from __future__ import annotations

import base64
import binascii
from pathlib import PurePosixPath

from wardround.cases.images.recipe import NIFTI_SUFFIXES, RASTER_SUFFIXES

PATH_SUFFIXES = (*RASTER_SUFFIXES, *NIFTI_SUFFIXES, ".dcm")
SHORTEST_IMAGE = 65  # VLMEvalKit takes a cell of up to 64 characters for the index of another row
BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"BM": ".bmp",
    b"II*\0": ".tif",
    b"MM\0*": ".tif",
}


def is_path(cell: str) -> bool:
    """Whether a cell is the path of an image; base64 has no dot in it."""
    return len(cell) < 4096 and cell.lower().endswith(PATH_SUFFIXES)


def is_reference(cell: str) -> bool:
    """Whether a cell names another row."""
    return 0 < len(cell) < SHORTEST_IMAGE and not is_path(cell)


def decoded(cell: str) -> bytes:
    """The bytes of an image in base64, also behind a `data:` address. ValueError says what is wrong."""
    if cell.startswith("data:"):
        cell = cell.partition(",")[2]
    try:
        return base64.b64decode("".join(cell.split()) if "\n" in cell else cell, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is neither base64 nor the path of an image") from None


def suffix_of(data: bytes) -> str:
    """The suffix for an image's bytes. ValueError if they are no image that wardround shows."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ".webp"
    if data[128:132] == b"DICM":
        return ".dcm"
    found = next((suffix for beginning, suffix in BEGINNINGS.items() if data.startswith(beginning)), None)
    if found is None:
        raise ValueError("is base64, but not of a PNG, JPEG, BMP, TIFF, WebP or DICOM image")
    return found


def inside(path: str) -> str:
    """A path as one below the case set's folder: without what leads to the root or out of it."""
    return str(PurePosixPath(*(part for part in PurePosixPath(path.replace("\\", "/")).parts if part not in "/..")))
