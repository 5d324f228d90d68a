"""NIfTI (versions 1 and 2, one file, plain or gzipped): one slice of a volume, shown radiologically.

`axis` and `frame` count in the file's own array, as `data[:, :, frame]` does. The slice is turned by the
anatomical axes closest to the affine: the patient's right is on the left, anterior or superior on top, and a
sagittal slice looks to the left. A series is shown at its first time. Voxels are not resampled. If the
case gives no window, CT is taken to be in Hounsfield units; other values go by percentiles of the slice.

nibabel reads headers and planes. A file is read plane by plane, a gzipped one up to the last plane needed, so that
memory is bounded by the size of a plane whatever a header declares.
"""

import gzip
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from nibabel.arrayproxy import ArrayProxy
from nibabel.imageglobals import LoggingOutputSuppressor
from nibabel.nifti1 import Nifti1Header, data_type_codes
from nibabel.nifti2 import Nifti2Header
from nibabel.orientations import io_orientation
from nibabel.spatialimages import HeaderDataError
from numpy.typing import NDArray

from wardround.cases.images.limit import check_size
from wardround.cases.images.window import CT_WINDOW, ChangeValues, Pixels, Values, apply_window, scale_by_percentiles
from wardround.core.errors import BadInput

GZIP_MAGIC = b"\x1f\x8b"
AXES = 3
COLOURS = ("R", "G", "B")


def nifti_pixels(
    path: Path, frame: int | None, axis: int, window: dict[str, Any], hounsfield: ChangeValues | None
) -> Pixels:
    """One slice along an axis of the file's array; the middle one if no frame is given.

    `hounsfield` changes the values before the window, except colours.
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
    across, down = (other for other in range(AXES) if other != axis)
    check_size(path, shape[across], shape[down])
    values = _turn(volume.plane(axis, index), volume.affine, across, down)
    if values.dtype.names:
        return np.stack([values[name] for name in COLOURS], axis=-1)
    if hounsfield is not None:
        values = hounsfield(values, window.get("width", CT_WINDOW[1]))
    if "center" in window:
        return apply_window(values, window["center"], window["width"])
    if window["modality"] == "CT":
        return apply_window(values, *CT_WINDOW)
    return scale_by_percentiles(values)


def _turn(values: Values, affine: NDArray[np.float64], across: int, down: int) -> Values:
    """Rows from the top, columns from the left, for array axes `across` and `down` in anatomical order."""
    axes = anatomical_axes(affine)
    positions = {axes[axis][0]: position for position, axis in enumerate((across, down))}
    horizontal, vertical = sorted(positions)  # right before anterior before superior
    ordered = np.transpose(values, (positions[vertical], positions[horizontal]))
    signs = [axes[(across, down)[positions[name]]][1] for name in (vertical, horizontal)]
    # first make both axes grow to right, anterior, superior; then all three are shown from their far end
    rows, columns = (slice(None) if sign > 0 else slice(None, None, -1) for sign in signs)
    return ordered[rows, columns][::-1, ::-1]


@dataclass(frozen=True)
class Volume:
    """What a header says about the first volume of its file."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]  # in the file's byte order
    offset: int
    slope: float
    intercept: float
    affine: NDArray[np.float64]

    def plane(self, axis: int, index: int) -> NDArray[Any]:
        """One plane across an axis of the first volume, scaled as the header says."""
        width, height, depth = cube = (*self.shape, 1)[:AXES]
        check_size(self.path, width, height)  # planes across the last axis are read whole
        with _open(self.path) as file:
            promised = self.offset + math.prod(cube) * self.dtype.itemsize
            if not isinstance(file, gzip.GzipFile) and self.path.stat().st_size < promised:
                raise _cut_short(self.path)
            values = ArrayProxy(file, (cube, self.dtype, self.offset, self.slope, self.intercept), mmap=False)
            try:
                if axis == AXES - 1:
                    return np.asarray(values[:, :, index])
                planes = (values[:, :, number] for number in range(depth))
                return np.stack([plane.take(index, axis) for plane in planes], axis=-1)
            except ValueError:  # nibabel got fewer bytes than it asked for
                raise _cut_short(self.path) from None


def read_volume(path: Path) -> Volume:
    """Reads the header alone."""
    header = read_header(path)
    dimensions = int(header["dim"][0])
    shape = tuple(int(length) for length in header["dim"][1 : 1 + dimensions])
    if header["sizeof_hdr"] != header.sizeof_hdr or not 1 <= dimensions <= 7 or min(shape) < 0:
        raise BadInput(path, "its header is broken: it gives no shape")
    if not 0 <= header["vox_offset"] < math.inf:
        raise BadInput(path, "its header is broken: it does not say where its values begin")
    offset = int(header["vox_offset"]) or header.single_vox_offset
    if offset < header.single_vox_offset:
        raise BadInput(path, "its header is broken: its values would begin inside it")
    dtype = _data_type(path, header)
    slope, intercept = _scaling(path, header) if dtype.names is None else (1.0, 0.0)
    with LoggingOutputSuppressor():
        header.check_fix()  # codes and zooms that mean nothing
    return Volume(path, shape, dtype, offset, slope, intercept, _affine(header))


def _data_type(path: Path, header: Nifti1Header) -> np.dtype[Any]:
    code = int(header["datatype"])
    dtype: np.dtype[Any] = header.get_data_dtype() if code in data_type_codes.dtype else np.dtype("V")
    if dtype.names is None and (dtype.kind not in "iuf" or dtype.itemsize > 8):
        raise BadInput(path, f"holds values of NIfTI type {code}, which cannot be shown")
    return dtype


def _scaling(path: Path, header: Nifti1Header) -> tuple[float, float]:
    try:
        slope, intercept = header.get_slope_inter()
    except HeaderDataError:
        raise BadInput(path, "its header is broken: it has a slope and no intercept") from None
    return (1.0, 0.0) if slope is None else (slope, intercept)


def read_header(path: Path) -> Nifti1Header:
    """The header as it is stored."""
    with _open(path) as file:
        start = file.read(Nifti2Header.sizeof_hdr)
    kinds: tuple[type[Nifti1Header], ...] = (Nifti1Header, Nifti2Header)
    for kind in kinds:
        if len(start) >= kind.sizeof_hdr:
            header = kind(start[: kind.sizeof_hdr], check=False)
            if header["magic"].item().startswith(kind.single_magic[:3]):
                return header
    raise BadInput(path, "is not a NIfTI file")


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        is_gzipped = file.read(2) == GZIP_MAGIC
    return cast(BinaryIO, gzip.open(path)) if is_gzipped else path.open("rb")


def _affine(header: Nifti1Header) -> NDArray[np.float64]:
    """From array axes to right, anterior and superior; without an sform and a qform the first axis runs to the left."""
    try:
        return np.asarray(header.get_best_affine())
    except ValueError:  # a quaternion longer than 1
        names = ("quatern_b", "quatern_c", "quatern_d")
        length = math.hypot(*(float(header[name]) for name in names))
        for name in names:
            header[name] = header[name] / length
        return np.asarray(header.get_best_affine())


def anatomical_axes(affine: NDArray[np.float64]) -> list[tuple[int, int]]:
    """For each array axis the closest of right (0), anterior (1) and superior (2), and 1, or -1 if it runs against.

    An affine without three directions is taken to be in that order.
    """
    directions = affine[:AXES, :AXES]
    lengths = np.linalg.norm(directions, axis=0)
    if np.isfinite(affine).all() and lengths.all() and np.linalg.matrix_rank(directions / lengths) == AXES:
        return [(int(closest), int(sign)) for closest, sign in io_orientation(affine)]
    return [(axis, 1) for axis in range(AXES)]


def _cut_short(path: Path) -> BadInput:
    return BadInput(path, "is cut short: the values that its header promises are not all there")
