"""The range of values in a file of more than 8 bits: its initial window, and the limits of other windows."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wardround.cases.images.recipe import kind_of
from wardround.cases.images.window import CT_WINDOW, Values, white_value
from wardround.core.errors import BadInput, WardroundError

if TYPE_CHECKING:
    from wardround.core.case import Image


class ValueRange(NamedTuple):
    """The initial window, and the lowest and highest value. `unit` is HU or empty."""

    center: float
    width: float
    low: float
    high: float
    unit: str


def value_range(path: Path, image: Image) -> ValueRange | None:
    """None for colours and 8 bits, which have no window. BadInput if the file cannot be read."""
    read = {"raster": _raster, "dicom": _dicom, "nifti": _nifti}[kind_of(image.path)]
    try:
        return read(path, image)
    except WardroundError:
        raise
    except Exception as error:  # decoders raise anything on a broken file
        raise BadInput(path, f"cannot be decoded: {' '.join(str(error).split())}"[:300]) from None


def _raster(path: Path, image: Image) -> ValueRange | None:
    from wardround.cases.images.raster import raster_values

    values = raster_values(path, image.frame or 0)
    if values.ndim == 3 or values.dtype == np.uint8:
        return None
    white = white_value(values)
    return _from_values(values, image.window or (None if white is None else (white / 2, white)))


def _dicom(path: Path, image: Image) -> ValueRange | None:
    from wardround.cases.images.dicom import grey_values

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        greys = grey_values(path, image.frame)
    if greys is None:
        return None
    values, window, is_hounsfield = greys
    if is_hounsfield:
        window = window or CT_WINDOW
    if window is None and values.dtype == np.uint8:
        window = (127.5, 255.0)
    return _from_values(values, image.window or window, "HU" if is_hounsfield else "")


def _nifti(path: Path, image: Image) -> ValueRange | None:
    from wardround.cases.images.nifti import nifti_pixels

    slices: list[Values] = []

    def record(values: Values, width: float) -> Values:
        slices.append(values)
        return values

    rule: dict[str, Any] = {"rule": "values", "modality": image.modality}
    nifti_pixels(path, image.frame, 2 if image.axis is None else image.axis, rule, record)
    if not slices:
        return None
    window, unit = (CT_WINDOW, "HU") if image.modality == "CT" else (None, "")
    return _from_values(slices[0], image.window or window, unit)


def _from_values(values: Values, window: tuple[float, float] | None, unit: str = "") -> ValueRange | None:
    finite = values[np.isfinite(values)].astype(np.float64)
    if not finite.size:
        return None
    low, high = float(finite.min()), float(finite.max())
    if window is None:
        first, last = np.percentile(finite, (1.0, 99.0))
        window = (first + last) / 2, last - first
    return ValueRange(float(window[0]), max(float(window[1]), 1e-6), low, high, unit)
