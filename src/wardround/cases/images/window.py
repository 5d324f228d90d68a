"""Maps stored values to 8-bit greys: by a window, by the declared depth, or by percentiles.

Our rules if neither the case nor the DICOM header gives a window:
- CT in Hounsfield units: centre 40, width 400 (soft tissue).
- Integers of a PNG or TIFF with more than 8 bits: by the depth in use, the smallest of 8, 10, 12, 14 and 16 bits that
  fits the largest value, so that 12-bit data in 16-bit files is not black.
- Everything else (MR, floating point, negative values): percentiles 1 to 99 become black to white.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]
Pixels = NDArray[np.uint8]
ChangeValues = Callable[[Values, float], Values]  # with the width of the window that they are shown in

CT_WINDOW = (40.0, 400.0)
DEPTHS = (8, 10, 12, 14, 16)


def to_uint8(fraction: Values) -> Pixels:
    """0 to 1 as 0 to 255, rounded; NaN is black."""
    clipped = np.clip(np.nan_to_num(fraction, nan=0.0), 0.0, 1.0)
    greys: Pixels = np.rint(clipped * 255.0).astype(np.uint8)
    return greys


def apply_window(values: Values, center: float, width: float, function: str = "LINEAR_EXACT") -> Pixels:
    """A window as DICOM defines it (PS3.3 C.11.2.1.2 and C.11.2.1.3)."""
    values = values.astype(np.float64)
    if function == "SIGMOID":
        with np.errstate(over="ignore"):  # far below the window exp is infinite and the grey rightly 0
            return to_uint8(1.0 / (1.0 + np.exp(-4.0 * (values - center) / width)))
    if function == "LINEAR":
        center, width = center - 0.5, width - 1.0
    if width <= 0:
        return to_uint8(values > center)
    return to_uint8((values - center) / width + 0.5)


def white_value(values: Values) -> float | None:
    """The largest integer of the depth in use; None for values that are not integers from 0 of up to 16 bits."""
    if values.dtype.kind not in "ui" or values.min(initial=0) < 0:
        return None
    return next((2.0**depth - 1.0 for depth in DEPTHS if values.max(initial=0) < 2**depth), None)


def scale_by_depth(values: Values) -> Pixels:
    """Integers by the depth in use; other values by percentiles."""
    white = white_value(values)
    return scale_by_percentiles(values) if white is None else to_uint8(values / white)


def scale_by_percentiles(values: Values, mask: NDArray[np.bool_] | None = None) -> Pixels:
    """Percentiles 1 to 99 become black to white; they are taken over the values in the mask."""
    values = values.astype(np.float64)
    chosen = np.isfinite(values) if mask is None else np.isfinite(values) & mask
    if not chosen.any():
        return np.zeros(values.shape, np.uint8)
    low, high = np.percentile(values[chosen], (1.0, 99.0))
    if high <= low:  # nearly all values are equal: a mask, a drawing
        low, high = values[chosen].min(), values[chosen].max()
    if high <= low:
        return np.zeros(values.shape, np.uint8)
    return to_uint8((values - low) / (high - low))
