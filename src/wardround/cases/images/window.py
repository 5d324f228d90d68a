"""Stored values become 8-bit greys: by a window, by the declared depth, or by percentiles.

Our rules where no window is given:
- CT in Hounsfield units: centre 40, width 400 (soft tissue).
- Whole numbers of a PNG or TIFF with more than 8 bits: by the depth in use, the smallest of 8, 10, 12, 14 and
  16 bits that holds the largest value, so that 12-bit data in 16-bit files is not black.
- Everything else (MR, floating point, negative values): percentiles 1 to 99 become black to white.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]
Pixels = NDArray[np.uint8]

CT_WINDOW = (40.0, 400.0)
DEPTHS = (8, 10, 12, 14, 16)


def to_bytes(fraction: Values) -> Pixels:
    """0 to 1 as 0 to 255, rounded; what is not a number is black."""
    clipped = np.clip(np.nan_to_num(fraction, nan=0.0), 0.0, 1.0)
    greys: Pixels = np.rint(clipped * 255.0).astype(np.uint8)
    return greys


def windowed(values: Values, center: float, width: float, function: str = "LINEAR_EXACT") -> Pixels:
    """A window as DICOM defines it (PS3.3 C.11.2.1.2 and C.11.2.1.3)."""
    values = values.astype(np.float64)
    if function == "SIGMOID":
        with np.errstate(over="ignore"):  # far below the window exp is infinite and the grey 0, as it should be
            return to_bytes(1.0 / (1.0 + np.exp(-4.0 * (values - center) / width)))
    if function == "LINEAR":
        center, width = center - 0.5, width - 1.0
    if width <= 0:
        return to_bytes(values > center)
    return to_bytes((values - center) / width + 0.5)


def by_depth(values: Values) -> Pixels:
    """Whole numbers by the depth in use; other values by percentiles."""
    if values.dtype.kind not in "ui" or values.min(initial=0) < 0 or values.max(initial=0) >= 2 ** DEPTHS[-1]:
        return by_percentiles(values)
    depth = next(depth for depth in DEPTHS if values.max(initial=0) < 2**depth)
    return to_bytes(values / (2.0**depth - 1.0))


def by_percentiles(values: Values, counted: NDArray[np.bool_] | None = None) -> Pixels:
    """Percentiles 1 to 99 become black to white; they are taken over what is `counted`."""
    values = values.astype(np.float64)
    kept = np.isfinite(values) if counted is None else np.isfinite(values) & counted
    if not kept.any():
        return np.zeros(values.shape, np.uint8)
    low, high = np.percentile(values[kept], (1.0, 99.0))
    if high <= low:  # nearly all of one value: a mask, a drawing
        low, high = values[kept].min(), values[kept].max()
    if high <= low:
        return np.zeros(values.shape, np.uint8)
    return to_bytes((values - low) / (high - low))
