"""The recipe of an image: what is done to make it sendable, said by rule, so that no file is opened for it.

| step | parameters | what it does |
|---|---|---|
| orient | rule exif | turns a photograph upright as its EXIF says |
| frame | rule first | takes the first frame where the case names none |
| slice | axis; rule middle | takes one slice of a volume; the middle one where the case names none |
| flatten | over black | puts what is transparent on black, the background of medical images |
| window | center, width; or a rule | makes stored values 8-bit greys; the rules are told in window.py |
| blank | | replaces every pixel by mid-grey |
| fit | pixels | shrinks to a pixel budget, keeps the aspect, never enlarges |
| encode | format, quality | PNG; JPEG (4:4:4) where the file's name says that it was a JPEG already |
"""

from __future__ import annotations

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
    """What a file is, by its name. DICOM files often have no suffix, so DICOM is what nothing else is."""
    name = path.lower()
    if name.endswith(RASTER_SUFFIXES):
        return "raster"
    return "nifti" if name.endswith(NIFTI_SUFFIXES) else "dicom"


def recipe_for(image: Image, *, blank: bool = False, pixels: int = PIXEL_BUDGET) -> tuple[Step, ...]:
    """The steps for an image as the case names it; `frame` is not among them where the case gives it."""
    kind = kind_of(image.path)
    steps: list[tuple[str, dict[str, Any]]] = []
    if kind == "nifti":
        middle = {"rule": "middle"} if image.frame is None else {}
        steps.append(("slice", {"axis": 2 if image.axis is None else image.axis, **middle}))
    elif image.frame is None:
        steps.append(("frame", {"rule": "first"}))
    if kind == "raster":
        steps += [("orient", {"rule": "exif"}), ("flatten", {"over": "black"})]
    steps.append(("window", _window(image, kind)))
    if blank:
        steps.append(("blank", {}))
    jpeg = image.path.lower().endswith(JPEG_SUFFIXES)
    steps.append(("fit", {"pixels": pixels}))
    steps.append(("encode", {"format": "jpeg", "quality": 95} if jpeg else {"format": "png"}))
    return tuple((name, parameters, VERSIONS[name]) for name, parameters in steps)


def _window(image: Image, kind: Kind) -> dict[str, Any]:
    if image.window is not None:
        center, width = image.window
        return {"center": float(center), "width": float(width)}
    if kind == "raster":
        return {"rule": "depth"}
    return {"rule": "header" if kind == "dicom" else "values", "modality": image.modality}
