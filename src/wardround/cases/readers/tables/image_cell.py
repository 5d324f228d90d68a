"""What the image cell of a table holds: base64, a path, or the index of the row that has the image."""

import base64
import binascii
from hashlib import blake2b
from pathlib import PurePosixPath

from wardround.cases.images.recipe import NIFTI_SUFFIXES, RASTER_SUFFIXES

PATH_SUFFIXES = (*RASTER_SUFFIXES, *NIFTI_SUFFIXES, ".dcm")
SHORTEST_IMAGE = 65  # VLMEvalKit takes a cell of up to 64 characters for the index of another row
SUFFIX_BY_SIGNATURE = {
    b"\x89PNG\r\n\x1a\n": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"BM": ".bmp",
    b"II*\0": ".tif",
    b"MM\0*": ".tif",
}


def is_path(cell: str) -> bool:
    """Whether a cell is the path of an image; base64 has no dot in it."""
    return len(cell) < 4096 and cell.lower().endswith(PATH_SUFFIXES)


def is_row_index(cell: str) -> bool:
    """Whether a cell refers to another row."""
    return 0 < len(cell) < SHORTEST_IMAGE and not is_path(cell)


def holds_image(cell: str) -> bool:
    """Whether a cell is the base64 of an image, however small."""
    try:
        return len(cell) >= SHORTEST_IMAGE and not is_path(cell) and bool(hashed_path(decode_image(cell)))
    except ValueError:
        return False


def decode_image(cell: str) -> bytes:
    """The bytes of an image in base64, with or without a `data:` prefix. ValueError if it is not base64."""
    if cell.startswith("data:"):
        cell = cell.partition(",")[2]
    try:
        return base64.b64decode("".join(cell.split()) if "\n" in cell else cell, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is neither base64 nor the path of an image") from None


def hashed_path(data: bytes) -> str:
    """The path in a case set of an image that has no name: the hash of its bytes. ValueError if they are no image."""
    return f"images/{blake2b(data, digest_size=12).hexdigest()}{_image_suffix(data)}"


def _image_suffix(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ".webp"
    if data[128:132] == b"DICM":
        return ".dcm"
    suffix = next((suffix for signature, suffix in SUFFIX_BY_SIGNATURE.items() if data.startswith(signature)), None)
    if suffix is None:
        raise ValueError("is base64, but not of a PNG, JPEG, BMP, TIFF, WebP or DICOM image")
    return suffix


def path_inside(path: str) -> str:
    """A path relative to the case set's folder: without a root, a drive or `..`."""
    return str(PurePosixPath(*(part for part in PurePosixPath(path.replace("\\", "/")).parts if part not in "/..")))
