"""The stretch of values in a file of more than 8 bits: its first window, and how far a window can be moved."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wardround.cases.images.recipe import kind_of
from wardround.cases.images.window import CT_WINDOW, DEPTHS, Values
from wardround.core.errors import BadInput, WardroundError

if TYPE_CHECKING:
    from wardround.core.case import Image


class Stretch(NamedTuple):
    """The window as the image is first shown, and the values that there are. `unit` is HU or nothing."""

    center: float
    width: float
    low: float
    high: float
    unit: str


def stretch(path: Path, image: Image) -> Stretch | None:
    """None for colours and for 8 bits, which have no window to move. A file that cannot be read: BadInput."""
    read = {"raster": _raster, "dicom": _dicom, "nifti": _nifti}[kind_of(image.path)]
    try:
        return read(path, image)
    except WardroundError:
        raise
    except Exception as error:  # decoders raise whatever they like about a broken file
        raise BadInput(path, f"cannot be decoded: {' '.join(str(error).split())}"[:300]) from None


def _raster(path: Path, image: Image) -> Stretch | None:
    from wardround.cases.images.raster import raster_values

    values = raster_values(path, image.frame or 0)
    if values.ndim == 3 or values.dtype == np.uint8:
        return None
    white = float(values.max(initial=0))
    if values.dtype.kind in "ui" and values.min(initial=0) >= 0 and white < 2 ** DEPTHS[-1]:
        white = next(2.0**depth - 1 for depth in DEPTHS if white < 2**depth)
        return _stretch(values, image.window or (white / 2, white))
    return _stretch(values, image.window)


def _dicom(path: Path, image: Image) -> Stretch | None:
    from wardround.cases.images.dicom import grey_values

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = grey_values(path, image.frame)
    if found is None:
        return None
    values, window, is_hounsfield = found
    if is_hounsfield:
        window = window or CT_WINDOW
    if window is None and values.dtype == np.uint8:
        window = (127.5, 255.0)
    return _stretch(values, image.window or window, "HU" if is_hounsfield else "")


def _nifti(path: Path, image: Image) -> Stretch | None:
    from wardround.cases.images.nifti import nifti_pixels

    seen: list[Values] = []

    def look(values: Values) -> Values:
        seen.append(values)
        return values

    rule: dict[str, Any] = {"rule": "values", "modality": image.modality}
    nifti_pixels(path, image.frame, 2 if image.axis is None else image.axis, rule, look)
    if not seen:
        return None
    is_hounsfield = image.modality == "CT"
    return _stretch(seen[0], image.window or (CT_WINDOW if is_hounsfield else None), "HU" if is_hounsfield else "")


def _stretch(values: Values, window: tuple[float, float] | None, unit: str = "") -> Stretch | None:
    known = values[np.isfinite(values)].astype(np.float64)
    if not known.size:
        return None
    low, high = float(known.min()), float(known.max())
    if window is None:
        first, last = np.percentile(known, (1.0, 99.0))
        window = (first + last) / 2, last - first
    return Stretch(float(window[0]), max(float(window[1]), 1e-6), low, high, unit)
