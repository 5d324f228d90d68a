"""The recipe of an image: the steps that prepare it for sending, by rule, so that no file is opened for it.

| step | parameters | what it does |
|---|---|---|
| orient | rule exif | turns a photograph upright by its EXIF |
| frame | rule first | takes the first frame if the case names none |
| slice | axis; rule middle | takes one slice of a volume; the middle one if the case names none |
| flatten | over black | composes transparent images on black, the background of medical images |
| window | center, width; or a rule | maps stored values to 8-bit greys; window.py has the rules |
| blank | | replaces every pixel by mid-grey |
| fit | pixels | shrinks to a pixel budget, keeps the aspect ratio, never enlarges |
| encode | format, quality | PNG; JPEG (4:4:4) if the file's name is that of a JPEG |
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from wardround.core.ask import Step

if TYPE_CHECKING:  # a worker that only renders images starts in two thirds of the time without pydantic
    from wardround.core.case import Image

PIXEL_BUDGET = 2_359_296  # 1536 x 1536
MID_GREY = 128
VERSIONS = {
    "orient": 1,
    "frame": 1,
    "slice": 1,
    "flatten": 1,
    "window": 1,
    "blank": 1,
    "fit": 1,
    "encode": 2,
}

Kind = Literal["raster", "dicom", "nifti"]
JPEG_SUFFIXES = (".jpg", ".jpeg", ".jpe", ".jfif")
RASTER_SUFFIXES = (*JPEG_SUFFIXES, ".png", ".tif", ".tiff", ".bmp", ".dib", ".webp")
NIFTI_SUFFIXES = (".nii", ".nii.gz")


def kind_of(path: str) -> Kind:
    """The kind of a file by its name. DICOM files often have no suffix, so all other names are DICOM."""
    name = path.lower()
    if name.endswith(RASTER_SUFFIXES):
        return "raster"
    return "nifti" if name.endswith(NIFTI_SUFFIXES) else "dicom"


def recipe_for(image: Image, *, blank: bool = False, pixels: int | None = PIXEL_BUDGET) -> tuple[Step, ...]:
    """The steps for an image of a case; a frame that the case gives is not among them. `pixels` None: native size."""
    path = image.path.lower()
    return _recipe(
        kind_of(path),
        path.endswith(JPEG_SUFFIXES),
        image.frame is None,
        2 if image.axis is None else image.axis,
        image.window,
        image.modality,
        blank,
        pixels,
    )


@lru_cache
def _recipe(
    kind: Kind,
    is_jpeg: bool,
    without_frame: bool,
    axis: int,
    window: tuple[float, float] | None,
    modality: str | None,
    blank: bool,
    pixels: int | None,
) -> tuple[Step, ...]:
    """The steps for all images that are alike in this; nobody changes their parameters."""
    steps: list[tuple[str, dict[str, Any]]] = []
    if kind == "nifti":
        steps.append(("slice", {"axis": axis, **({"rule": "middle"} if without_frame else {})}))
    elif without_frame:
        steps.append(("frame", {"rule": "first"}))
    if kind == "raster":
        steps += [("orient", {"rule": "exif"}), ("flatten", {"over": "black"})]
    steps.append(("window", _window(window, modality, kind)))
    if blank:
        steps.append(("blank", {}))
    if pixels is not None:
        steps.append(("fit", {"pixels": pixels}))
    steps.append(("encode", {"format": "jpeg", "quality": 95} if is_jpeg else {"format": "png"}))
    return tuple((name, parameters, VERSIONS[name]) for name, parameters in steps)


def fitted_size(width: int, height: int, budget: int) -> tuple[int, int]:
    """Width and height after `fit`."""
    if height * width <= budget:
        return width, height
    factor = math.sqrt(budget / (height * width))
    return max(1, int(width * factor)), max(1, int(height * factor))


def _window(window: tuple[float, float] | None, modality: str | None, kind: Kind) -> dict[str, Any]:
    if window is not None:
        center, width = window
        return {"center": float(center), "width": float(width)}
    if kind == "raster":
        return {"rule": "depth"}
    return {"rule": "header" if kind == "dicom" else "values", "modality": modality}
