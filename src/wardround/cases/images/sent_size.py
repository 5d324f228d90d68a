"""The size of an image as it is sent, from the header of its file: no pixel is decoded."""

import struct
import warnings
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from wardround.cases.images.png import SIGNATURE
from wardround.cases.images.recipe import fitted_size, kind_of
from wardround.core.ask import ImagePart

CACHED_SIZES = 65_536
MAX_PARTS = 1024  # whose sizes are kept by the object
_sizes: dict[int, tuple[ImagePart, "PixelSize"]] = {}  # the same object -> its size
PNG_HEADER = struct.Struct(">8s4x4sII")  # signature, name of the first chunk, width, height


class PixelSize(NamedTuple):
    width: int
    height: int

    @property
    def pixels(self) -> int:
        return self.width * self.height


UNKNOWN_SIZE = PixelSize(1024, 1024)  # of a file whose header cannot be read


def sent_size(part: ImagePart) -> PixelSize:
    """Width and height after all steps of its recipe; sides may be swapped, because a header is not turned upright.

    Many Asks show the same part: its size is found once.
    """
    known = _sizes.get(id(part))
    if known is None:
        if len(_sizes) >= MAX_PARTS:
            _sizes.clear()
        known = _sizes[id(part)] = (part, _find_size(part))
    return known[1]


def _find_size(part: ImagePart) -> PixelSize:
    steps = {name: parameters for name, parameters, _ in part.recipe}
    size = _stored_size(part.path, part.frame, steps.get("slice", {}).get("axis", 2))
    return PixelSize(*fitted_size(*size, steps["fit"]["pixels"])) if "fit" in steps else size


@lru_cache(CACHED_SIZES)
def _stored_size(path: str, frame: int | None, axis: int) -> PixelSize:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _read_size(Path(path), frame, axis)
    except Exception:  # decoders raise anything on a broken file; the run itself says what is wrong with it
        return UNKNOWN_SIZE


def _read_size(path: Path, frame: int | None, axis: int) -> PixelSize:
    kind = kind_of(path.name)
    if kind == "raster":
        if not frame and (size := _png_size(path)) is not None:
            return size
        from PIL import Image

        with Image.open(path) as image:
            if frame:
                image.seek(frame)
            return PixelSize(*image.size)
    if kind == "nifti":
        from wardround.cases.images.nifti import read_volume

        lengths = [*read_volume(path).shape, 1][:3]
        width, height = (length for number, length in enumerate(lengths) if number != axis)
        return PixelSize(width, height)
    from pydicom import dcmread

    header = dcmread(path, force=True, stop_before_pixels=True, specific_tags=["Rows", "Columns"])
    return PixelSize(int(header.Columns), int(header.Rows))


def _png_size(path: Path) -> PixelSize | None:
    """Read in a tenth of Pillow's time; None for other files."""
    with path.open("rb") as file:
        header = file.read(PNG_HEADER.size)
    if len(header) < PNG_HEADER.size:
        return None
    signature, chunk, width, height = PNG_HEADER.unpack(header)
    return PixelSize(width, height) if (signature, chunk) == (SIGNATURE, b"IHDR") and width and height else None
