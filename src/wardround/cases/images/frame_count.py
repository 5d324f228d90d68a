"""How many frames or slices the file of an image has, and which of them a case shows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wardround.cases.images.recipe import kind_of
from wardround.core.errors import BadInput, WardroundError

if TYPE_CHECKING:
    from wardround.core.case import Image


@dataclass(frozen=True)
class Frames:
    """The number of frames of a file, and the index of the one that a case shows."""

    count: int
    shown: int


def count_frames(path: Path, image: Image) -> Frames:
    """From the header alone. BadInput if the file cannot be read."""
    count = {"raster": _raster, "dicom": _dicom, "nifti": _nifti}[kind_of(image.path)]
    try:
        frames = count(path, image)
    except WardroundError:
        raise
    except Exception as error:  # decoders raise anything on a broken file
        raise BadInput(path, f"cannot be decoded: {' '.join(str(error).split())}"[:300]) from None
    first = frames // 2 if kind_of(image.path) == "nifti" else 0
    return Frames(frames, first if image.frame is None else image.frame)


def _raster(path: Path, image: Image) -> int:
    from PIL import Image as Pillow

    from wardround.cases.images.raster import FORMATS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Pillow.open(path, formats=FORMATS) as opened:
            return int(getattr(opened, "n_frames", 1))


def _dicom(path: Path, image: Image) -> int:
    from pydicom import dcmread

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        header = dcmread(path, force=True, stop_before_pixels=True, specific_tags=["NumberOfFrames"])
    return max(1, int(header.get("NumberOfFrames") or 1))


def _nifti(path: Path, image: Image) -> int:
    from wardround.cases.images.nifti import read_volume

    shape = read_volume(path).shape
    return shape[2 if image.axis is None else image.axis] if len(shape) > 2 else 1
