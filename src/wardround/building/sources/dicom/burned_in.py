"""Whether text may be burned into an image: by its header, and by rows of letters at its borders.

Letters are many large differences between neighbouring pixels along a row, over the height of a line of text, on an
even background and with quiet rows above and below. The rule and its numbers are our choice. It finds the plain
overlays of devices; an image in which it finds nothing may still have text.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydicom import Dataset

from wardround.building.sources.dicom.studies import element_texts
from wardround.cases.images.window import Pixels

MODALITIES = frozenset(["US", "IVUS", "ES", "XC", "GM", "OT", "SC", "BMD", "SMR", "ECG"])  # often with text
SECONDARY = "1.2.840.10008.5.1.4.1.1.7"  # secondary captures, and under it those with several frames
SCREENS = frozenset(["SCREEN SAVE", "SCREENSHOT", "DOSE_INFO", "REPORT"])
BAND = 0.2  # of the height, at the top and at the bottom
TILES = 4  # parts of a row that are examined separately
LARGE_DIFFERENCE = 100  # of 255, between neighbours
NEAR, MIN_BACKGROUND = 30, 0.5  # of 255 from the median; share of a line's pixels that are background
MIN_CHANGES, MAX_QUIET_CHANGES = 6, 1  # large differences in a row of letters, in a row between lines
MIN_HEIGHT, MAX_HEIGHT = 5, 80  # rows of a line of text


class Region(NamedTuple):
    """A part of an image, in pixels."""

    left: int
    top: int
    right: int
    bottom: int


def reasons_in_header(dataset: Dataset) -> list[str]:
    """Why the header suggests text in the pixels; empty if it says that there is none."""
    reasons = []
    burned = str(dataset.get("BurnedInAnnotation") or "").upper()
    if burned == "YES":
        reasons.append("BurnedInAnnotation is YES")
    if str(dataset.get("RecognizableVisualFeatures") or "").upper() == "YES":
        reasons.append("RecognizableVisualFeatures is YES")
    if burned == "NO":
        return reasons
    if (modality := str(dataset.get("Modality") or "")) in MODALITIES:
        reasons.append(f"images of modality {modality} often have text in them")
    if str(dataset.get("SOPClassUID") or "").startswith(SECONDARY):
        reasons.append("a secondary capture")
    kinds = {text.upper() for text in list(element_texts(dataset.get("ImageType")))[1:]}
    if screens := sorted(kinds & SCREENS):
        reasons.append(f"ImageType has {', '.join(screens)}")
    return reasons


def find_text_lines(image: Pixels) -> list[Region]:
    """Regions at the upper and lower border that look like lines of text."""
    grey = image.max(axis=2) if image.ndim == 3 else image
    height, width = grey.shape
    band = max(MIN_HEIGHT + 2, round(height * BAND))
    if height < 2 * MIN_HEIGHT or width < TILES * MIN_CHANGES:
        return []
    regions = []
    for top in (0, max(0, height - band)):
        part = grey[top : top + band].astype(np.int16)
        is_large = np.abs(np.diff(part, axis=1)) >= LARGE_DIFFERENCE
        for tile in range(TILES):
            left, right = tile * width // TILES, (tile + 1) * width // TILES
            changes = is_large[:, left:right].sum(axis=1)
            regions += [
                Region(left, top + first, right, top + last)
                for first, last in _runs(changes)
                if _is_mostly_background(part[first:last, left:right])
            ]
    return _join_neighbours(regions)


def _runs(changes: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Runs of rows with letters: of the height of a line, with quiet rows or the border above and below."""
    busy = np.concatenate([[False], changes > MAX_QUIET_CHANGES, [False]])
    edges = np.flatnonzero(np.diff(busy.astype(np.int8)))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        rows = int((changes[first:last] >= MIN_CHANGES).sum())
        if MIN_HEIGHT <= last - first <= MAX_HEIGHT and rows >= max(MIN_HEIGHT - 1, (last - first) // 2):
            yield int(first), int(last)


def _is_mostly_background(line: NDArray[np.int16]) -> bool:
    """Between letters there is one grey level; in noise there is not."""
    return float((np.abs(line - np.median(line)) <= NEAR).mean()) >= MIN_BACKGROUND


def _join_neighbours(regions: list[Region]) -> list[Region]:
    """Neighbouring regions on one line become one."""
    joined: list[Region] = []
    for region in sorted(regions, key=lambda region: (region.top, region.left)):
        before = next((other for other in joined if other.right == region.left and _overlap(other, region)), None)
        if before is None:
            joined.append(region)
        else:
            both = Region(before.left, min(before.top, region.top), region.right, max(before.bottom, region.bottom))
            joined[joined.index(before)] = both
    return joined


def _overlap(one: Region, other: Region) -> bool:
    return one.top < other.bottom and other.top < one.bottom
