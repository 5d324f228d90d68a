"""NIfTI files, versions 1 and 2, plain or gzipped: what the header says, and one plane of the first volume.

Of a plain file only the plane is read; a gzipped one is unfolded plane by plane, up to the last one needed.
Units, intents and extensions are not looked at. Two-file NIfTI (.hdr and .img) is not read.
"""

from __future__ import annotations

import gzip
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wardround.cases.images.limit import check_size
from wardround.core.errors import BadInput

GZIPPED = b"\x1f\x8b"
AXES = 3
FIELDS = (
    *("dim", "datatype", "pixdim", "vox_offset", "scl_slope", "scl_inter"),
    *("qform_code", "sform_code", "quatern", "srow", "magic"),
)


def _header(size: int, formats: tuple[str, ...], offsets: tuple[int, ...]) -> np.dtype[Any]:
    return np.dtype({"names": FIELDS, "formats": formats, "offsets": offsets, "itemsize": size})


# by the length of the header, which is its first number; then what the magic word of a one-file NIfTI begins with
HEADERS = {
    348: (
        _header(
            348,
            ("8i2", "i2", "8f4", "f4", "f4", "f4", "i2", "i2", "3f4", "(3,4)f4", "S4"),
            (40, 70, 76, 108, 112, 116, 252, 254, 256, 280, 344),
        ),
        b"n+1",
    ),
    540: (
        _header(
            540,
            ("8i8", "i2", "8f8", "i8", "f8", "f8", "i4", "i4", "3f8", "(3,4)f8", "S8"),
            (16, 12, 104, 168, 176, 184, 344, 348, 352, 400, 4),
        ),
        b"n+2",
    ),
}
XFORM_CODES = range(1, 6)  # others say nothing
RGB = [(name, "u1") for name in "RGB"]
INTEGERS = {2: "u1", 4: "i2", 8: "i4", 256: "i1", 512: "u2", 768: "u4", 1024: "i8", 1280: "u8"}
TYPES: dict[int, Any] = {**INTEGERS, 16: "f4", 64: "f8", 128: RGB, 2304: [*RGB, ("A", "u1")]}


@dataclass(frozen=True)
class Volume:
    """What a header says of its file."""

    path: Path
    gzipped: bool
    shape: tuple[int, ...]
    dtype: np.dtype[Any]  # in the file's byte order
    offset: int
    scaling: tuple[float, float] | None  # slope and intercept
    affine: NDArray[np.float64]  # from array axes to right, anterior, superior; without the origin

    def plane(self, axis: int, index: int) -> NDArray[Any]:
        """One plane across an axis of the first volume, scaled as the header says."""
        stored = self._stored_gzipped(axis, index) if self.gzipped else self._stored(axis, index)
        if self.scaling is None or self.dtype.names:
            return stored
        slope, intercept = self.scaling
        return stored * np.float64(slope) + intercept

    @property
    def _cube(self) -> tuple[int, int, int]:
        width, height, depth = (*self.shape, 1)[:AXES]
        return width, height, depth

    def _stored(self, axis: int, index: int) -> NDArray[Any]:
        if self.path.stat().st_size < self.offset + math.prod(self._cube) * self.dtype.itemsize:
            raise cut_short(self.path)
        mapped = np.memmap(self.path, self.dtype, "r", self.offset, self._cube, order="F")
        return np.array(mapped[_across(axis, index)])

    def _stored_gzipped(self, axis: int, index: int) -> NDArray[Any]:
        width, height, depth = self._cube
        check_size(self.path, width, height)  # each plane before the last one needed is unfolded whole
        size = width * height * self.dtype.itemsize
        with gzip.open(self.path) as file:
            if axis == AXES - 1:
                file.seek(self.offset + index * size)
                return self._flat(file.read(size))
            file.seek(self.offset)
            return np.stack(
                [self._flat(file.read(size))[_across(axis, index)[:2]].copy() for _ in range(depth)], axis=-1
            )

    def _flat(self, data: bytes) -> NDArray[Any]:
        width, height, _ = self._cube
        if len(data) < width * height * self.dtype.itemsize:
            raise cut_short(self.path)
        return np.frombuffer(data, self.dtype).reshape(width, height, order="F")


def _across(axis: int, index: int) -> tuple[Any, ...]:
    """A plane as a place in an array; `take` would copy the array first."""
    return tuple(index if other == axis else slice(None) for other in range(AXES))


def read_volume(path: Path) -> Volume:
    """Reads the header; the values stay where they are."""
    with path.open("rb") as file:
        gzipped = file.read(2) == GZIPPED
        file.seek(0)
        header, size = _read_header(path, gzip.GzipFile(fileobj=file) if gzipped else file)
    dimensions = int(header["dim"][0])
    shape = tuple(int(length) for length in header["dim"][1 : 1 + dimensions])
    if not 1 <= dimensions <= 7 or min(shape) < 0:
        raise BadInput(path, "its header is broken: it gives no shape")
    code = int(header["datatype"])
    if code not in TYPES:
        raise BadInput(path, f"holds values of NIfTI type {code}, which cannot be shown")
    offset = _whole(path, header["vox_offset"]) or size + 4
    if offset < size + 4:  # four bytes say whether extensions follow
        raise BadInput(path, "its header is broken: its values would begin inside it")
    dtype = np.dtype(TYPES[code]).newbyteorder(header.dtype["dim"].base.byteorder)
    return Volume(path, gzipped, shape, dtype, offset, _scaling(path, header), _affine(header))


def _read_header(path: Path, file: BinaryIO | gzip.GzipFile) -> tuple[Any, int]:
    """The header in its own byte order, and its length."""
    start = file.read(max(HEADERS))
    for order in "<>":
        size = int(np.frombuffer(start, f"{order}i4", 1)[0]) if len(start) >= 4 else 0
        if size in HEADERS and len(start) >= size:
            layout, magic = HEADERS[size]
            header = np.frombuffer(start, layout.newbyteorder(order), 1)[0]
            if header["magic"].startswith(magic):
                return header, size
    raise BadInput(path, "is not a NIfTI file")


def _whole(path: Path, number: Any) -> int:
    if not math.isfinite(number) or number < 0:
        raise BadInput(path, "its header is broken: it does not say where its values begin")
    return int(number)


def _scaling(path: Path, header: Any) -> tuple[float, float] | None:
    """Slope and intercept; None where there is no usable slope."""
    slope, intercept = float(header["scl_slope"]), float(header["scl_inter"])
    if slope == 0 or not math.isfinite(slope) or (slope, intercept) == (1, 0):
        return None
    if not math.isfinite(intercept):
        raise BadInput(path, "its header is broken: it has a slope and no intercept")
    return slope, intercept


def _affine(header: Any) -> NDArray[np.float64]:
    """The sform where there is one, else the qform, else the array's own axes with the first one to the left."""
    if int(header["sform_code"]) in XFORM_CODES:
        return np.array(header["srow"][:, :AXES], np.float64)
    zooms: NDArray[np.float64] = np.abs(header["pixdim"][1 : 1 + AXES].astype(np.float64))
    zooms[zooms == 0] = 1
    if int(header["qform_code"]) not in XFORM_CODES:
        return np.diag(zooms * [-1, 1, 1])
    handed = -1 if header["pixdim"][0] == -1 else 1
    zooms[AXES - 1] *= handed
    return _rotation(*header["quatern"].astype(np.float64)) * zooms


def _rotation(b: float, c: float, d: float) -> NDArray[np.float64]:
    """Of a unit quaternion whose first part is what the other three leave."""
    length = math.sqrt(b * b + c * c + d * d)
    if length > 1:  # by rounding
        b, c, d = b / length, c / length, d / length
    a = math.sqrt(max(0.0, 1 - (b * b + c * c + d * d)))
    return np.array(
        [
            [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
            [2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)],
            [2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - b * b - c * c],
        ]
    )


def anatomical_axes(affine: NDArray[np.float64]) -> list[tuple[int, int]]:
    """For each array axis the closest of right (0), anterior (1) and superior (2), and 1, or -1 if it runs against.

    An affine that gives no three directions is taken to be in that order.
    """
    unturned = [(axis, 1) for axis in range(AXES)]
    lengths = np.linalg.norm(affine, axis=0)
    if not np.isfinite(affine).all() or not lengths.all() or np.linalg.matrix_rank(affine / lengths) < AXES:
        return unturned
    left, _, right = np.linalg.svd(affine / lengths)
    turned = left @ right  # the closest rotation, shears left out
    free = np.ones(AXES, bool)
    found = unturned
    for axis in np.argsort(-np.abs(turned).max(axis=0), kind="stable"):  # those that are clearest first
        closest = int(np.argmax(np.where(free, np.abs(turned[:, axis]), -1)))
        free[closest] = False
        found[axis] = (closest, 1 if turned[closest, axis] > 0 else -1)
    return found


def cut_short(path: Path) -> BadInput:
    return BadInput(path, "is cut short: the values that its header promises are not all there")
