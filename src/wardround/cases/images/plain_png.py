"""PNG files that are sent as they are: their pixels need no step of the recipe, and they have nothing but pixels."""

import base64
import hashlib
import os
import struct
import zlib
from pathlib import Path

from wardround.cases.encoded_image import EncodedImage
from wardround.cases.images.file_hash import FileHash
from wardround.cases.images.limit import MAX_PIXELS
from wardround.cases.images.png import SIGNATURE
from wardround.cases.images.recipe import VERSIONS
from wardround.core.ask import Step

SHOWABLE = {(8, 0, 0, 0, 0), (8, 2, 0, 0, 0)}  # grey or RGB of 8 bits, neither transparent nor interlaced
UNCHANGED = {"frame", "orient", "flatten", "fit"}  # steps that leave such a file as it is, if it fits


def may_be_sent_as_it_is(path: str, frame: int | None, recipe: tuple[Step, ...]) -> bool:
    """Whether a recipe leaves the pixels of a plain PNG as they are, by the recipe and the file's name alone."""
    return not frame and path.lower().endswith(".png") and all(_keeps_pixels(step) for step in recipe)


def _keeps_pixels(step: Step) -> bool:
    name, parameters, version = step
    if VERSIONS.get(name) != version:
        return False
    if name == "window":
        return parameters == {"rule": "depth"}
    return name in UNCHANGED or (name == "encode" and parameters == {"format": "png"})


def render_plain(
    path: Path | str, frame: int | None, recipe: tuple[Step, ...], hashed: FileHash | None = None
) -> EncodedImage | None:
    """The file as it is; None if it has metadata, other pixels than are sent, more than the budget, or damage.

    `hashed` is its hash when it was last read; it is not hashed again if it has not changed.
    """
    if not may_be_sent_as_it_is(str(path), frame, recipe):
        return None
    try:
        with open(path, "rb") as file:
            data, status = file.read(), os.fstat(file.fileno())
    except OSError:
        return None
    chunks = _sound_chunks(data)
    if len(chunks) < 3 or chunks[0] != b"IHDR" or chunks[-1] != b"IEND" or set(chunks[1:-1]) != {b"IDAT"}:
        return None
    width, height, *form = struct.unpack(">IIBBBBB", data[16:29])
    budget = next((parameters["pixels"] for name, parameters, _ in recipe if name == "fit"), MAX_PIXELS)
    if not 0 < width * height <= min(budget, MAX_PIXELS) or tuple(form) not in SHOWABLE:
        return None
    sha256 = hashed.sha256 if hashed is not None and hashed.is_of(status) else hashlib.sha256(data).hexdigest()
    return EncodedImage(base64.b64encode(data), "image/png", sha256, width, height)


def _sound_chunks(data: bytes) -> list[bytes]:
    """The names of all chunks; of none if one is damaged or anything follows the last."""
    if not data.startswith(SIGNATURE):
        return []
    names: list[bytes] = []
    place, view = len(SIGNATURE), memoryview(data)
    while place + 12 <= len(data):
        end = place + 8 + int.from_bytes(view[place : place + 4], "big")
        if zlib.crc32(view[place + 4 : end]).to_bytes(4, "big") != view[end : end + 4]:
            return []
        names.append(data[place + 4 : place + 8])
        place = end + 4
    return names if place == len(data) else []
