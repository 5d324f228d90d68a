"""Whether text may be burned into an image: by what the header says, and by rows of letters at the borders.

Letters are many strong changes between neighbouring pixels along a row, over the height of a line of text, on an even
ground and with quiet rows above and below. The rule and its numbers are our choice. It finds plain overlays of devices;
that it finds nothing is no proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydicom import Dataset

from wardround.cases.images.window import Pixels

MODALITIES = frozenset(["US", "IVUS", "ES", "XC", "GM", "OT", "SC", "BMD", "SMR", "ECG"])  # often hold text
SECONDARY = "1.2.840.10008.5.1.4.1.1.7"  # secondary captures, and under it those with several frames
SCREENS = frozenset(["SCREEN SAVE", "SCREENSHOT", "DOSE_INFO", "REPORT"])
BAND = 0.2  # of the height, at the top and at the bottom
TILES = 4  # parts of a row that are looked at by themselves
STRONG = 100  # of 255, between neighbours
NEAR, LEAST_GROUND = 30, 0.5  # of 255 from the median; share of the pixels of a line that are ground, not letters
FEWEST_CHANGES, QUIET = 6, 1  # strong changes in a row of letters, in a row between lines
SHORTEST, TALLEST = 5, 80  # rows of a line of text


class Region(NamedTuple):
    """A part of an image, in pixels."""

    left: int
    top: int
    right: int
    bottom: int


def said_by_header(dataset: Dataset) -> list[str]:
    """Why the header lets expect text in the pixels; none where it says that there is none."""
    reasons = []
    burned = str(dataset.get("BurnedInAnnotation") or "").upper()
    if burned == "YES":
        reasons.append("BurnedInAnnotation is YES")
    if str(dataset.get("RecognizableVisualFeatures") or "").upper() == "YES":
        reasons.append("RecognizableVisualFeatures is YES")
    if burned == "NO":
        return reasons
    if (modality := str(dataset.get("Modality") or "")) in MODALITIES:
        reasons.append(f"images of modality {modality} often hold text")
    if str(dataset.get("SOPClassUID") or "").startswith(SECONDARY):
        reasons.append("a secondary capture")
    kinds = {str(each).upper() for each in _listed(dataset.get("ImageType"))[1:]}
    if screens := sorted(kinds & SCREENS):
        reasons.append(f"ImageType has {', '.join(screens)}")
    return reasons


def lines_of_text(shown: Pixels) -> list[Region]:
    """Regions at the upper and lower border that look like lines of text."""
    grey = shown.max(axis=2) if shown.ndim == 3 else shown
    height, width = grey.shape
    band = max(SHORTEST + 2, round(height * BAND))
    if height < 2 * SHORTEST or width < TILES * FEWEST_CHANGES:
        return []
    found = []
    for top in (0, max(0, height - band)):
        part = grey[top : top + band].astype(np.int16)
        strong = np.abs(np.diff(part, axis=1)) >= STRONG
        for tile in range(TILES):
            left, right = tile * width // TILES, (tile + 1) * width // TILES
            changes = strong[:, left:right].sum(axis=1)
            found += [
                Region(left, top + first, right, top + last)
                for first, last in _runs(changes)
                if _is_mostly_ground(part[first:last, left:right])
            ]
    return _joined(found)


def _runs(changes: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Runs of rows with letters: as high as a line, quiet above and below, or at the border."""
    busy = np.concatenate([[False], changes > QUIET, [False]])
    edges = np.flatnonzero(np.diff(busy.astype(np.int8)))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        rows = int((changes[first:last] >= FEWEST_CHANGES).sum())
        if SHORTEST <= last - first <= TALLEST and rows >= max(SHORTEST - 1, (last - first) // 2):
            yield int(first), int(last)


def _is_mostly_ground(line: NDArray[np.int16]) -> bool:
    """Between letters there is one grey; in noise there is not."""
    return float((np.abs(line - np.median(line)) <= NEAR).mean()) >= LEAST_GROUND


def _joined(regions: list[Region]) -> list[Region]:
    """Neighbours on one line become one."""
    joined: list[Region] = []
    for region in sorted(regions, key=lambda each: (each.top, each.left)):
        before = next((each for each in joined if each.right == region.left and _overlap(each, region)), None)
        if before is None:
            joined.append(region)
        else:
            both = Region(before.left, min(before.top, region.top), region.right, max(before.bottom, region.bottom))
            joined[joined.index(before)] = both
    return joined


def _overlap(one: Region, other: Region) -> bool:
    return one.top < other.bottom and other.top < one.bottom


def _listed(value: Any) -> list[Any]:
    if value is None or isinstance(value, str):
        return [value] if value else []
    return list(value)
