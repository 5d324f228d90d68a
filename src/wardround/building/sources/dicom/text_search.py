"""The search for text in an image: as it is sent, and with its whole range of values.

A window can hide text: white letters on bone are invisible in a soft tissue window, and plain in a wider one.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from wardround.building.sources.dicom.burned_in import Region, find_text_lines
from wardround.building.sources.dicom.identifiers import PatientIdentifiers
from wardround.building.sources.dicom.text_recognition import TextBox, find_text_boxes
from wardround.cases.images import pixels, recipe_for
from wardround.cases.images.dicom import grey_values
from wardround.cases.images.window import Pixels
from wardround.core.case import Image


class FoundText(NamedTuple):
    """What was found, and the view in which a reader sees it."""

    view: Pixels
    is_whole_range: bool
    lines: list[Region]
    boxes: list[TextBox]


def search_text(
    file: Path, frame: int | None, modality: str | None, suffix: str, identifiers: PatientIdentifiers, *, ocr: bool
) -> FoundText:
    """Lines of text and texts in an image; what only the whole range shows is shown in it."""
    view = show(file, frame, modality, suffix)
    lines, boxes = find_text_lines(view), find_text_boxes(view, identifiers) if ocr else []
    whole = show_whole_range(file, frame, modality, suffix)
    if np.array_equal(whole, view):
        return FoundText(view, False, lines, boxes)
    hidden = [line for line in find_text_lines(whole) if not any(_overlap(line, other) for other in lines)]
    all_boxes = _join(boxes, find_text_boxes(whole, identifiers) if ocr else [])
    is_hidden = bool(hidden) or len(all_boxes) > len(boxes)
    return FoundText(whole if is_hidden else view, is_hidden, [*lines, *hidden], all_boxes)


def show(file: Path, frame: int | None, modality: str | None, suffix: str) -> Pixels:
    """The image as it is sent."""
    return pixels(file, frame, recipe_for(Image(path=f"image{suffix}", modality=modality)))


def show_whole_range(file: Path, frame: int | None, modality: str | None, suffix: str) -> Pixels:
    """The image with its smallest value black and its largest white; as it is sent if no window can hide anything."""
    if suffix.lower() != ".dcm" or (greys := grey_values(file, frame)) is None:
        return show(file, frame, modality, suffix)
    values = greys[0][np.isfinite(greys[0])]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    if high <= low:
        return show(file, frame, modality, suffix)
    window = ((low + high) / 2, high - low)
    return pixels(file, frame, recipe_for(Image(path=f"image{suffix}", modality=modality, window=window)))


def _join(boxes: list[TextBox], others: list[TextBox]) -> list[TextBox]:
    """Boxes of both views; those that overlap become one."""
    joined = list(boxes)
    for other in others:
        if same := next((box for box in joined if _overlap(box.region, other.region)), None):
            corners = [*zip(same.region, other.region, strict=True)]
            region = Region(min(corners[0]), min(corners[1]), max(corners[2]), max(corners[3]))
            joined[joined.index(same)] = TextBox(region, tuple(sorted({*same.kinds, *other.kinds})))
        else:
            joined.append(other)
    return joined


def _overlap(one: Region, other: Region) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
