"""DICOM: one frame, as a workstation would first show it.

Modality LUT or rescale, then the window that the case gives, or else the header's first VOI LUT or window,
or else a window by modality (window.py); unsigned values of up to 8 bits without any window are not changed.
Padding is black. MONOCHROME1 is inverted. Nothing of the header is in the result.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydicom import Dataset, dcmread
from pydicom.pixels.decoders.base import get_decoder
from pydicom.pixels.processing import apply_color_lut
from pydicom.pixels.utils import pixel_array
from pydicom.uid import ExplicitVRLittleEndian, ImplicitVRLittleEndian

from wardround.cases.images.limit import check_size
from wardround.cases.images.window import (
    CT_WINDOW,
    ChangeValues,
    Pixels,
    Values,
    apply_window,
    scale_by_percentiles,
    to_uint8,
)
from wardround.core.errors import BadInput

PIXEL_ELEMENTS = ("PixelData", "FloatPixelData", "DoubleFloatPixelData")
NOT_AN_IMAGE = "is not a DICOM file, nor PNG, JPEG, TIFF, BMP, WebP or NIfTI by its name"


def dicom_pixels(path: Path, frame: int | None, window: dict[str, Any], hounsfield: ChangeValues | None) -> Pixels:
    """One frame of a DICOM file, (h, w) or (h, w, 3). `hounsfield` changes the values of a CT before its window."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        dataset, stored = _frame(path, frame)
        if stored.ndim == 3:
            return _scale_to_bytes(stored[..., :3], int(dataset.BitsStored))
        if dataset.PhotometricInterpretation == "PALETTE COLOR":
            depth = int(dataset.RedPaletteColorLookupTableDescriptor[2])
            return _scale_to_bytes(apply_color_lut(stored, dataset)[..., :3], depth)
        greys = _to_greys(stored, dataset, window, hounsfield)
        if dataset.PhotometricInterpretation == "MONOCHROME1":
            greys = 255 - greys
        greys[_padding(stored, dataset)] = 0
        return greys


def grey_values(path: Path, frame: int | None) -> tuple[Values, tuple[float, float] | None, bool] | None:
    """The values before the window, the header's own window, and whether they are Hounsfield units."""
    dataset, stored = _frame(path, frame)
    if stored.ndim == 3 or dataset.PhotometricInterpretation == "PALETTE COLOR":
        return None
    values, rescaled = _modality_values(stored, dataset)
    center, width = _first(dataset.get("WindowCenter")), _first(dataset.get("WindowWidth"))
    window = None if center is None or width is None or width < 1 else (center, width)
    return values[~_padding(stored, dataset)], window, rescaled and _is_ct(dataset, dataset.get("Modality"))


def dicom_modality(path: Path) -> str | None:
    """The modality that the header of a file names; None if there is none, or no header."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            modality = dcmread(path, force=True, stop_before_pixels=True, specific_tags=["Modality"]).get("Modality")
    except Exception:  # decoding the file will say what is wrong with it
        return None
    return str(modality) if modality else None


def _frame(path: Path, frame: int | None) -> tuple[Dataset, Values]:
    """The header as it applies to one frame, and the frame's stored values."""
    dataset = _open(path)
    index = frame or 0
    frames = int(dataset.get("NumberOfFrames") or 1)
    if index >= frames:
        raise BadInput(path, f"there is no frame {index}; it has frames 0 to {frames - 1}")
    stored = _decode(path, dataset, index)
    _apply_functional_groups(dataset, index)
    return dataset, stored


def _open(path: Path) -> Dataset:
    dataset = dcmread(path, force=True)  # files without the DICM prefix are common
    if not any(name in dataset for name in PIXEL_ELEMENTS):
        is_dicom = "SOPClassUID" in dataset or "MediaStorageSOPClassUID" in dataset.file_meta
        raise BadInput(path, "is DICOM without pixels" if is_dicom else NOT_AN_IMAGE)
    check_size(path, int(dataset.Columns), int(dataset.Rows))
    return dataset


def _decode(path: Path, dataset: Dataset, index: int) -> Values:
    """The stored values of one frame; YBR becomes RGB."""
    if "TransferSyntaxUID" not in dataset.file_meta:
        implicit, _ = dataset.original_encoding
        dataset.file_meta.TransferSyntaxUID = ImplicitVRLittleEndian if implicit else ExplicitVRLittleEndian
    syntax = dataset.file_meta.TransferSyntaxUID
    if not get_decoder(syntax).is_available:
        raise BadInput(path, f"is compressed as {syntax.name}, which cannot be decoded here")
    return pixel_array(dataset, index=index)


def _apply_functional_groups(dataset: Dataset, index: int) -> None:
    """Enhanced files have rescale and window per frame: they are copied to where other files have them."""
    shared = dataset.get("SharedFunctionalGroupsSequence") or []
    by_frame = dataset.get("PerFrameFunctionalGroupsSequence") or []
    for group in [*shared[:1], *by_frame[index : index + 1]]:
        for name in ("PixelValueTransformationSequence", "FrameVOILUTSequence"):
            for item in (group.get(name) or [])[:1]:
                dataset.update(item)


def _to_greys(stored: Values, dataset: Dataset, window: dict[str, Any], hounsfield: ChangeValues | None) -> Pixels:
    values, rescaled = _modality_values(stored, dataset)
    is_hounsfield = rescaled and _is_ct(dataset, window.get("modality") or dataset.get("Modality"))
    if hounsfield is not None and is_hounsfield:
        values = hounsfield(values, window.get("width") or _first(dataset.get("WindowWidth")) or CT_WINDOW[1])
    if "center" in window:
        return apply_window(values, window["center"], window["width"], "LINEAR")
    if luts := dataset.get("VOILUTSequence"):
        return to_uint8(_look_up(values, luts[0]) / (2.0 ** luts[0].LUTDescriptor[2] - 1.0))
    center, width = _first(dataset.get("WindowCenter")), _first(dataset.get("WindowWidth"))
    function = str(dataset.get("VOILUTFunction") or "LINEAR").upper()
    if center is not None and width is not None and (width >= 1 or (width > 0 and function != "LINEAR")):
        return apply_window(values, center, width, function)
    if is_hounsfield:
        return apply_window(values, *CT_WINDOW, "LINEAR")
    depth = int(dataset.get("BitsStored") or 64)
    if depth <= 8 and not rescaled and stored.dtype.kind == "u":
        return _scale_to_bytes(stored, depth)
    return scale_by_percentiles(values, ~_padding(stored, dataset))


def _is_ct(dataset: Dataset, modality: str | None) -> bool:
    """A CT whose rescaled values are Hounsfield units: maps of perfusion and the like name another unit."""
    return modality == "CT" and str(dataset.get("RescaleType") or "HU").upper().startswith("HU")


def _modality_values(stored: Values, dataset: Dataset) -> tuple[Values, bool]:
    """The values in the modality's own unit (Hounsfield units of CT), and whether the header defines it."""
    if luts := dataset.get("ModalityLUTSequence"):
        return _look_up(stored, luts[0]), True
    slope, intercept = dataset.get("RescaleSlope"), dataset.get("RescaleIntercept")
    if slope is None or intercept is None:
        return stored, False
    return stored.astype(np.float64) * float(slope) + float(intercept), True


def _look_up(values: Values, item: Dataset) -> Values:
    entries, first = item.LUTDescriptor[0] or 2**16, item.LUTDescriptor[1]
    data = item.LUTData
    if isinstance(data, bytes):
        order = "<" if item.original_encoding[1] is not False else ">"
        data = np.frombuffer(data, f"{order}u2")
    table = np.asarray(data, dtype=np.uint16)[:entries]
    indices = np.clip(values.astype(np.float64) - first, 0, len(table) - 1)
    result: Values = table[indices.astype(np.int64)]
    return result


def _padding(stored: Values, dataset: Dataset) -> NDArray[np.bool_]:
    value = dataset.get("PixelPaddingValue")
    if value is None or stored.dtype.kind == "f":
        return np.zeros(stored.shape, bool)
    # a header may write -2000 as 63536: both are converted to the type of the pixels
    limits = np.array([int(value), int(dataset.get("PixelPaddingRangeLimit", value))]).astype(stored.dtype)
    inside: NDArray[np.bool_] = (stored >= limits.min()) & (stored <= limits.max())
    return inside


def _scale_to_bytes(values: Values, depth: int) -> Pixels:
    if depth == 8 and values.dtype == np.uint8:
        return values
    return to_uint8(values / (2.0**depth - 1.0))


def _first(value: Any) -> float | None:
    if value is None or value == "":
        return None
    if isinstance(value, str | int | float):
        return float(value)
    return float(value[0]) if len(value) else None
