"""NIfTI: one slice of a volume, shown radiologically.

`axis` and `frame` count in the file's own array, as `data[:, :, frame]` does. The slice is turned by the
anatomical axes closest to the affine: the patient's right is on the left, anterior or superior on top, and a
sagittal slice looks to the left. A series is shown at its first time. Voxels are not resampled. Where the
case gives no window, CT is taken to be in Hounsfield units; other values go by percentiles of the slice.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from wardround.cases.images.limit import check_size
from wardround.cases.images.nifti_file import anatomical_axes, read_volume
from wardround.cases.images.window import CT_WINDOW, Pixels, Values, by_percentiles, windowed
from wardround.core.errors import BadInput

COLOURS = ("R", "G", "B")


def nifti_pixels(
    path: Path,
    frame: int | None,
    axis: int,
    window: dict[str, Any],
    hounsfield: Callable[[Values], Values] | None = None,
) -> Pixels:
    """One slice along an axis of the file's array; the middle one where no frame is given.

    `hounsfield` alters the values of a CT before its window, and leaves others alone.
    """
    volume = read_volume(path)
    shape = volume.shape
    if len(shape) < 2 or 0 in shape:
        raise BadInput(path, f"holds no slice: its shape is {shape}")
    axis = min(axis, 2) if len(shape) > 2 else 2
    depth = shape[axis] if len(shape) > 2 else 1
    index = depth // 2 if frame is None else frame
    if index >= depth:
        raise BadInput(path, f"there is no slice {index} on axis {axis}; it has slices 0 to {depth - 1}")
    across, down = (other for other in range(3) if other != axis)
    check_size(path, shape[across], shape[down])
    values = _turned(volume.plane(axis, index), volume.affine, across, down)
    if values.dtype.names:
        return np.stack([values[name] for name in COLOURS], axis=-1)
    if hounsfield is not None:
        values = hounsfield(values)
    if "center" in window:
        return windowed(values, window["center"], window["width"])
    if window["modality"] == "CT":
        return windowed(values, *CT_WINDOW)
    return by_percentiles(values)


def _turned(values: Values, affine: Values, across: int, down: int) -> Values:
    """Rows from the top, columns from the left, for array axes `across` and `down` in anatomical order."""
    axes = anatomical_axes(affine)
    anatomical = {axes[axis][0]: place for place, axis in enumerate((across, down))}
    horizontal, vertical = sorted(anatomical)  # right before anterior before superior
    grown = np.transpose(values, (anatomical[vertical], anatomical[horizontal]))
    signs = [axes[(across, down)[anatomical[name]]][1] for name in (vertical, horizontal)]
    # first make both axes grow to right, anterior, superior; then all three are shown from their far end
    rows, columns = (slice(None) if sign > 0 else slice(None, None, -1) for sign in signs)
    return grown[rows, columns][::-1, ::-1]
