"""DICOM pixels equal pydicom's own modality LUT, VOI LUT and windowing, on every file that comes with it."""

from __future__ import annotations

import io
import logging
import struct
import warnings
from collections import Counter
from functools import cache
from pathlib import Path

import data_store
import numpy as np
import pydicom
import pydicom.data
import pytest
from PIL import Image as Pillow
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.pixels import apply_color_lut, apply_modality_lut, apply_voi_lut, pixel_array
from pydicom.uid import ExplicitVRLittleEndian, JPEG2000Lossless, SecondaryCaptureImageStorage

from wardround.cases.images import pixels, recipe_for, render
from wardround.core.case import Image
from wardround.core.errors import BadInput

HALF = 0.5 + 1e-6  # ours is the 8-bit value nearest to pydicom's own floating-point one


@pytest.fixture(autouse=True)
def _quiet():
    logging.getLogger("pydicom").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def shown(path, frame=None, **fields):
    # a suffix of another kind of file never occurs here: everything is read as DICOM
    return pixels(path, frame, recipe_for(Image(path="x.dcm", frame=frame, **fields), pixels=10**9))


@cache
def decodable() -> tuple[Path, ...]:
    """The files of pydicom and pydicom-data that pydicom itself can decode with what is installed."""
    found = []
    for package in (pydicom.data, data_store):
        for path in sorted(Path(package.__file__).parent.rglob("*")):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                try:
                    pixel_array(pydicom.dcmread(path, force=True), index=0)
                except Exception:
                    continue
                found.append(path)
    return tuple(found)


def whole_range(dataset: Dataset) -> tuple[float, float]:
    """What windowing maps to, by PS3.3 C.11.2.1.2: all that the (rescaled) stored values could be."""
    if dataset.get("ModalityLUTSequence"):
        return 0, 2 ** dataset.ModalityLUTSequence[0].LUTDescriptor[2] - 1
    bits = dataset.BitsStored
    ends = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dataset.PixelRepresentation else (0, 2**bits - 1)
    slope, intercept = dataset.get("RescaleSlope"), dataset.get("RescaleIntercept")
    return ends if slope is None or intercept is None else tuple(end * slope + intercept for end in ends)


def pydicoms_own(path: Path, frame: int) -> tuple[str, np.ndarray]:
    """How the file says it is to be shown, and its pixels on 0 to 255 (not rounded) by pydicom's functions."""
    dataset = pydicom.dcmread(path, force=True)
    stored = pixel_array(dataset, index=frame)
    if stored.ndim == 3:
        return "colour", stored * (255.0 / (2**dataset.BitsStored - 1))
    if dataset.PhotometricInterpretation == "PALETTE COLOR":
        full = 2 ** dataset.RedPaletteColorLookupTableDescriptor[2] - 1
        return "palette", apply_color_lut(stored, dataset) * (255.0 / full)
    if "PerFrameFunctionalGroupsSequence" in dataset:
        groups = [dataset.SharedFunctionalGroupsSequence[0], dataset.PerFrameFunctionalGroupsSequence[frame]]
        for sequence in ("PixelValueTransformationSequence", "FrameVOILUTSequence"):
            for group in groups:
                if sequence in group:
                    for element in group[sequence].value[0]:
                        dataset[element.tag] = element
    values = apply_modality_lut(stored, dataset)
    if dataset.get("VOILUTSequence"):
        how, low, high = "VOI LUT", 0, 2 ** dataset.VOILUTSequence[0].LUTDescriptor[2] - 1
        out = apply_voi_lut(values, dataset)
    elif "WindowCenter" in dataset:
        how, (low, high) = "window", whole_range(dataset)
        out = apply_voi_lut(values, dataset)
    elif (
        dataset.get("Modality") == "CT"
        and dataset.get("RescaleType", "HU") == "HU"
        and ("RescaleSlope" in dataset or dataset.get("ModalityLUTSequence"))
    ):
        dataset.WindowCenter, dataset.WindowWidth = 40, 400
        how, (low, high) = "CT", whole_range(dataset)
        out = apply_voi_lut(values, dataset)
    elif dataset.BitsStored <= 8 and not dataset.PixelRepresentation and values is stored:
        how, low, high, out = "as is", 0, 2**dataset.BitsStored - 1, stored
    else:
        how, out = "percentiles", values.astype(float)
        low, high = np.percentile(out, [1, 99])
        if low == high:
            low, high = out.min(), out.max()
    grey = np.clip((out - float(low)) / ((float(high) - float(low)) or 1), 0, 1) * 255
    if dataset.PhotometricInterpretation == "MONOCHROME1":
        how, grey = f"{how}, inverted", 255 - grey
    if "PixelPaddingValue" in dataset:
        grey[stored == dataset.PixelPaddingValue] = 0
    return how, grey


@pytest.mark.slow
def test_every_file_of_pydicom_is_shown_as_pydicom_would():
    ways: Counter[str] = Counter()
    multiframe = 0
    for path in decodable():
        frames = int(pydicom.dcmread(path, force=True, stop_before_pixels=True).get("NumberOfFrames") or 1)
        multiframe += frames > 1
        for frame in sorted({0, frames // 2, frames - 1}):
            how, expected = pydicoms_own(path, frame)
            got = shown(path, frame)
            assert got.dtype == np.uint8
            assert got.shape == expected.shape, path.name
            assert np.abs(got - expected).max() <= HALF, (path.name, frame, how)
        ways[how] += 1
    # as many as were measured when this was written, so that the comparison can never go empty
    assert len(decodable()) >= 155
    assert multiframe >= 24
    measured = {"colour": 55, "window": 47, "as is": 17, "percentiles": 13, "window, inverted": 11, "palette": 9}
    measured |= {"CT": 2, "VOI LUT": 1}
    assert all(ways[how] >= count for how, count in measured.items()), ways


@pytest.mark.parametrize(("unit", "is_hounsfield"), [(None, True), ("HU", True), ("US", False)])
def test_a_ct_whose_header_names_another_unit_is_not_in_hounsfield_units(tmp_path, unit, is_hounsfield):
    """A map of perfusion: before, its blood flow was degraded as if it were attenuation."""
    stored = np.arange(64, dtype=np.uint16).reshape(8, 8) * 30
    path = tmp_path / "map.dcm"
    made(path, stored, Modality="CT", RescaleSlope="1", RescaleIntercept="-1024", RescaleType=unit)
    image = Image(path=path.name, modality="CT")
    seen = []

    class Renderer:
        def render_hounsfield(self, values, window):
            seen.append(values)
            return values

        def render_display(self, pixels):
            return pixels

    pixels(path, None, recipe_for(image), Renderer())
    assert bool(seen) is is_hounsfield


def made(path: Path, stored: np.ndarray, **elements) -> Path:
    """A small DICOM file with the given stored values; elements given are set, or left out where None."""
    meta = FileMetaDataset()
    meta.TransferSyntaxUID = elements.pop("syntax", ExplicitVRLittleEndian)
    meta.MediaStorageSOPClassUID = SecondaryCaptureImageStorage
    dataset = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    dataset.SOPClassUID = SecondaryCaptureImageStorage
    dataset.SOPInstanceUID = meta.MediaStorageSOPInstanceUID = "1.2.3"
    dataset.PatientName = "PATIENT^NAME"
    bits = stored.dtype.itemsize * 8
    attributes = {
        "Rows": stored.shape[-2],
        "Columns": stored.shape[-1],
        "SamplesPerPixel": 1,
        "PhotometricInterpretation": "MONOCHROME2",
        "BitsAllocated": bits,
        "BitsStored": bits,
        "HighBit": bits - 1,
        "PixelRepresentation": int(stored.dtype.kind == "i"),
        "PixelData": stored.tobytes(),
        **({"NumberOfFrames": len(stored)} if stored.ndim == 3 else {}),
        **elements,
    }
    for name, value in attributes.items():
        if value is not None:
            setattr(dataset, name, value)
    dataset.save_as(path, enforce_file_format=True)
    return path


def lut(first: int, entries: list[int], bits: int) -> list[Dataset]:
    item = Dataset()
    item.add_new("LUTDescriptor", "SS" if first < 0 else "US", [len(entries), first, bits])
    item.add_new("LUTData", "US", entries)
    return [item]


STORED = np.random.default_rng(3).integers(-1500, 3000, (24, 30)).astype(np.int16)
RESCALE = {"RescaleSlope": "2", "RescaleIntercept": "-100"}


@pytest.mark.parametrize("function", ["LINEAR", "LINEAR_EXACT", "SIGMOID"])
@pytest.mark.parametrize("rescale", [{}, RESCALE, {"RescaleSlope": "-1", "RescaleIntercept": "7"}])
@pytest.mark.parametrize(("center", "width"), [("400", "1000"), ("0.5", "1"), (["-50", "9"], ["351.5", "9"])])
@pytest.mark.parametrize("photometric", ["MONOCHROME1", "MONOCHROME2"])
def test_every_window_function_is_pydicoms(tmp_path, function, rescale, center, width, photometric):
    attributes = {"VOILUTFunction": function, "WindowCenter": center, "WindowWidth": width, **rescale}
    path = made(tmp_path / "a.dcm", STORED, PhotometricInterpretation=photometric, **attributes)
    _, expected = pydicoms_own(path, 0)
    assert np.abs(shown(path) - expected).max() <= HALF
    assert np.ptp(expected) > 0


@pytest.mark.parametrize("bits", [8, 12, 16])
def test_lookup_tables_are_pydicoms(tmp_path, bits):
    entries = np.random.default_rng(bits).integers(0, 2**bits, 200).tolist()
    # pydicom 3.0 counts in the type of the entries, so that far above a table of 8 bits it wraps around
    stored = np.arange(-50, 230 if bits == 8 else 350, dtype=np.int16).reshape(20, -1)
    path = made(tmp_path / "voi.dcm", stored, VOILUTSequence=lut(-20, entries, bits))
    how, expected = pydicoms_own(path, 0)
    assert how == "VOI LUT"
    assert np.abs(shown(path) - expected).max() <= HALF
    if bits != 12:  # pydicom takes modality LUTs of 8 and 16 bits only
        window = {"WindowCenter": "100", "WindowWidth": "150"}
        path = made(tmp_path / "modality.dcm", stored, ModalityLUTSequence=lut(-20, entries, bits), **window)
        _, expected = pydicoms_own(path, 0)
        assert np.abs(shown(path) - expected).max() <= HALF


def test_values_beyond_a_lookup_table_take_its_ends(tmp_path):
    stored = np.array([[-900, -20, -19, 179, 180, 500, 3000]], dtype=np.int16)
    path = made(tmp_path / "a.dcm", stored, VOILUTSequence=lut(-20, list(range(50, 250)), 8))
    assert shown(path).tolist() == [[50, 50, 51, 249, 249, 249, 249]]


def test_a_lookup_table_wins_over_a_window_as_in_pydicom(tmp_path):
    stored = np.arange(256, dtype=np.uint8).reshape(16, 16)
    path = made(
        tmp_path / "a.dcm", stored, VOILUTSequence=lut(0, [*range(255, -1, -1)], 8), WindowCenter="9", WindowWidth="9"
    )
    np.testing.assert_array_equal(shown(path), 255 - stored)


def test_the_window_of_the_case_wins_over_the_headers(tmp_path):
    path = made(tmp_path / "a.dcm", STORED, WindowCenter="0", WindowWidth="10", **RESCALE)
    other = made(tmp_path / "b.dcm", STORED, WindowCenter="200", WindowWidth="900", **RESCALE)
    np.testing.assert_array_equal(shown(path, window=(200, 900)), shown(other))
    assert np.any(shown(path) != shown(other))


def test_the_default_window_depends_on_the_modality(tmp_path):
    soft = np.clip((STORED * 2 - 100 - 39.5) / 399 + 0.5, 0, 1) * 255
    assert np.abs(shown(made(tmp_path / "a.dcm", STORED, Modality="CT", **RESCALE)) - soft).max() <= HALF
    # the case's word counts before the header's; and without rescale values are no Hounsfield units
    path = made(tmp_path / "b.dcm", STORED, Modality="MR", **RESCALE)
    assert np.abs(shown(path, modality="CT") - soft).max() <= HALF
    low, high = np.percentile(STORED, [1, 99])
    stretched = np.clip((STORED - low) / (high - low), 0, 1) * 255
    for other in (path, made(tmp_path / "c.dcm", STORED, Modality="CT")):
        assert np.abs(shown(other) - stretched).max() <= HALF
    # a width of zero is no window
    path = made(tmp_path / "d.dcm", STORED, Modality="CT", WindowCenter="40", WindowWidth="0", **RESCALE)
    assert np.abs(shown(path) - soft).max() <= HALF


@pytest.mark.parametrize("photometric", ["MONOCHROME1", "MONOCHROME2"])
def test_padding_is_black_and_does_not_count(tmp_path, photometric):
    values = np.random.default_rng(5).integers(0, 1000, (20, 20)).astype(np.int16)
    stored = values.copy()
    stored[:8], stored[8:10] = -2000, -1990
    attributes = {"PhotometricInterpretation": photometric, "PixelPaddingValue": -2000, "PixelPaddingRangeLimit": -1990}
    got = shown(made(tmp_path / "a.dcm", stored, **attributes))
    assert not got[:10].any()
    low, high = np.percentile(values[10:], [1, 99])
    grey = np.clip((values[10:] - low) / (high - low), 0, 1) * 255
    assert np.abs(got[10:] - (255 - grey if photometric == "MONOCHROME1" else grey)).max() <= HALF


def test_frames_have_their_own_windows(tmp_path):
    stored = np.stack([np.arange(256, dtype=np.uint16).reshape(16, 16) * k for k in (1, 2, 3)])
    groups = []
    for k in (1, 2, 3):
        window, rescale, group = Dataset(), Dataset(), Dataset()
        window.WindowCenter, window.WindowWidth = 100 * k, 200
        rescale.RescaleSlope, rescale.RescaleIntercept = k, 0
        group.FrameVOILUTSequence, group.PixelValueTransformationSequence = [window], [rescale]
        groups.append(group)
    path = made(tmp_path / "a.dcm", stored, PerFrameFunctionalGroupsSequence=groups)
    for frame, k in enumerate((1, 2, 3)):
        values = stored[frame].astype(float) * k
        expected = np.clip((values - (100 * k - 0.5)) / 199 + 0.5, 0, 1) * 255
        assert np.abs(shown(path, frame) - expected).max() <= HALF
    np.testing.assert_array_equal(shown(path), shown(path, 0))
    with pytest.raises(BadInput, match="there is no frame 3; it has frames 0 to 2"):
        shown(path, 3)


def jpeg2000(array: np.ndarray) -> bytes:
    held = io.BytesIO()
    Pillow.fromarray(array).save(held, "JPEG2000", irreversible=False, no_jp2=True)
    return held.getvalue()


def test_jpeg_2000_of_sixteen_bits_is_decoded(tmp_path):
    stored = np.random.default_rng(5).integers(0, 65536, (40, 50)).astype(np.uint16)
    window = {"WindowCenter": "30000", "WindowWidth": "50000"}
    plain = made(tmp_path / "plain.dcm", stored, **window)
    packed = encapsulate([jpeg2000(stored)])
    path = made(tmp_path / "packed.dcm", stored, PixelData=packed, syntax=JPEG2000Lossless, **window)
    np.testing.assert_array_equal(shown(path), shown(plain))


def test_broken_files_are_one_line(tmp_path):
    values = STORED
    (tmp_path / "text.dcm").write_text("this is a text, and a long one at that " * 20)
    (tmp_path / "empty.dcm").write_bytes(b"")
    made(tmp_path / "without.dcm", values, PixelData=None, Rows=None)
    made(tmp_path / "header.dcm", values, PixelData=None)
    made(tmp_path / "short.dcm", values, PixelData=values.tobytes()[:100])
    made(tmp_path / "huge.dcm", values, Rows=60_000, Columns=60_000)
    made(tmp_path / "nosize.dcm", values, Rows=None)
    made(tmp_path / "noise.dcm", values, PixelData=encapsulate([b"noise" * 20]), syntax=JPEG2000Lossless)
    # a frame that declares far more than the header: the size field of a real codestream, made 60,000 x 60,000
    small = bytearray(jpeg2000(values.astype(np.uint16)))
    place = small.index(b"\xff\x51") + 6
    small[place : place + 8] = struct.pack(">II", 60_000, 60_000)
    made(tmp_path / "bomb.dcm", values, PixelData=encapsulate([bytes(small)]), syntax=JPEG2000Lossless)
    said = {
        "text": "is not a DICOM file, nor PNG, JPEG, TIFF, BMP, WebP or NIfTI by its name",
        "empty": "is not a DICOM file, nor PNG",
        "without": "is DICOM without pixels",
        "header": "is DICOM without pixels",
        "short": "cannot be decoded: The number of bytes of pixel data is less than expected",
        "huge": "is too large: 60,000 x 60,000",
        "nosize": "cannot be decoded",
        "noise": "cannot be decoded",
        "bomb": "could be decompression bomb",
    }
    for name, message in said.items():
        with pytest.raises(BadInput) as raised:
            shown(tmp_path / f"{name}.dcm")
        assert message in str(raised.value), name
        assert "\n" not in str(raised.value)
    with pytest.raises(BadInput, match="there is no such file"):
        shown(tmp_path / "nowhere.dcm")


def test_a_compression_that_cannot_be_decoded_is_named():
    path = next(Path(pydicom.data.__file__).parent.rglob("MR_small_jpeg_ls_lossless.dcm"))
    if path in decodable():
        pytest.fail("a JPEG-LS decoder is installed: choose another file")
    with pytest.raises(BadInput, match="is compressed as JPEG-LS Lossless Image Compression"):
        shown(path)


def test_the_header_is_not_sent(tmp_path):
    path = made(tmp_path / "a.dcm", STORED)
    assert b"PATIENT" in path.read_bytes()
    sent = render(path, None, recipe_for(Image(path="a.dcm")))
    assert b"PATIENT" not in sent.data
    np.testing.assert_array_equal(np.asarray(Pillow.open(io.BytesIO(sent.data))), shown(path))
