"""Text in the pixels of an image, read by rapidocr (extra `dicom`) on this machine; its models are inside its package.

What was read is never written: only where it is, and what it looks like. A reader sees the image with the boxes.
"""

import logging
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from wardround.building.sources.dicom.burned_in import Region
from wardround.building.sources.dicom.identifiers import PatientIdentifiers, find_identifiers
from wardround.cases.images.window import Pixels

MISSING = "text in the pixels is searched for by rules alone; pip install 'wardround[dicom]' reads it"
MIN_CONFIDENCE = 0.5
MIN_LETTERS = 4  # of a text that may identify; side markers and single numbers are shorter
TILE, OVERLAP = 1_536, 384  # pixels: the recognizer shrinks larger images, small letters would be missed
LONG_NUMBER = re.compile(r"\d{6}")  # of another patient, perhaps
MIN_WIDTH = 512  # pixels: smaller images are enlarged, their letters would be missed


class TextBox(NamedTuple):
    """A text in an image: where it is, and what it looks like (`name`, `date`, ..., `text`)."""

    region: Region
    kinds: tuple[str, ...]


def can_read_text() -> bool:
    return _engine() is not None


@cache
def _engine() -> Any:
    """The recognizer; None if the extra is not installed."""
    try:
        from rapidocr import RapidOCR
    except ImportError:
        return None
    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    engine = RapidOCR()
    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    return engine


def find_text_boxes(image: Pixels, identifiers: PatientIdentifiers) -> list[TextBox]:
    """The texts of an image that may identify its patient."""
    if _engine() is None:
        return []
    boxes: list[TextBox] = []
    for top in _tile_starts(image.shape[0]):
        for left in _tile_starts(image.shape[1]):
            for region, kinds in _read_tile(image[top : top + TILE, left : left + TILE], identifiers):
                moved = Region(region[0] + left, region[1] + top, region[2] + left, region[3] + top)
                if not any(_is_inside(moved, box.region) for box in boxes):  # read in two tiles
                    boxes = [box for box in boxes if not _is_inside(box.region, moved)] + [TextBox(moved, kinds)]
    return boxes


def _tile_starts(length: int) -> list[int]:
    """Where the tiles of a side begin, so that each text of up to `OVERLAP` pixels is whole in one of them."""
    return [0, *range(TILE - OVERLAP, length - OVERLAP, TILE - OVERLAP)]


def _is_inside(region: Region, other: Region) -> bool:
    return region[0] >= other[0] and region[1] >= other[1] and region[2] <= other[2] and region[3] <= other[3]


def _read_tile(image: Pixels, identifiers: PatientIdentifiers) -> list[TextBox]:
    scale = max(1, -(-MIN_WIDTH // image.shape[1]))
    rgb = image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)
    result = _engine()(np.ascontiguousarray(rgb.repeat(scale, axis=0).repeat(scale, axis=1)))
    if result.boxes is None or result.txts is None:
        return []
    boxes = []
    for corners, text, confidence in zip(result.boxes, result.txts, result.scores, strict=True):
        if confidence >= MIN_CONFIDENCE and (kinds := _kinds(text, identifiers)):
            boxes.append(TextBox(_region(np.asarray(corners) / scale), kinds))
    return boxes


def _kinds(text: str, identifiers: PatientIdentifiers) -> tuple[str, ...]:
    """What a text looks like; empty if it is too short to identify anybody."""
    kinds = {match.kind for match in find_identifiers(text.replace("^", " "), identifiers)}
    if kinds:
        return tuple(sorted(kinds))
    if LONG_NUMBER.search(text):
        return ("text",)
    return ("text",) if sum(letter.isalnum() for letter in text) >= MIN_LETTERS and re.search(r"[^\W\d]", text) else ()


def _region(corners: Any) -> Region:
    (left, top), (right, bottom) = np.floor(corners.min(axis=0)), np.ceil(corners.max(axis=0))
    return Region(int(left), int(top), int(right), int(bottom))


def draw_boxes(image: Pixels, regions: Iterable[Iterable[int]], file: Path) -> None:
    """Writes the image with a frame around each region, for a reader."""
    picture = Image.fromarray(image).convert("RGB")
    draw = ImageDraw.Draw(picture)
    for left, top, right, bottom in regions:
        draw.rectangle((left - 2, top - 2, right + 1, bottom + 1), outline=(255, 60, 60), width=2)
    file.parent.mkdir(parents=True, exist_ok=True)
    picture.save(file)
