"""The window of images with more than 8 bits: where it starts, and what is seen under another."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from desk_room import Room, case, once, opinion, write_set
from PIL import Image
from pydicom import dcmread
from pydicom.data import get_testdata_file
from pydicom.pixels import apply_modality_lut

from wardround.cases.images.stretch import stretch
from wardround.core.case import Image as CaseImage


def deep() -> np.ndarray:
    """12 bits in a file of 16."""
    return (np.add.outer(np.arange(64), np.arange(96)) * 25).astype(np.uint16)


@pytest.fixture(scope="module")
def room(tmp_path_factory) -> Room:
    room = Room(tmp_path_factory.mktemp("desk"))
    images = [
        {"path": "images/ct.dcm", "modality": "CT"},
        {"path": "images/deep.png"},
        {"path": "images/plain.png"},
        {"path": "images/photo.jpg"},
    ]
    folder = room.root / "set"
    write_set(folder, [case(1)])
    (folder / "images").mkdir()
    (folder / "images/ct.dcm").write_bytes(Path(get_testdata_file("CT_small.dcm")).read_bytes())
    Image.fromarray(deep()).save(folder / "images/deep.png")
    Image.fromarray((deep() // 16).astype(np.uint8)).save(folder / "images/plain.png")
    Image.fromarray((deep() // 16).astype(np.uint8)).save(folder / "images/photo.jpg")
    (folder / "cases.jsonl").write_text(json.dumps(case(1, images=images)) + "\n")
    room.reader = room.enter("Stu", "student")
    room.task = room.make("review", "set", ["role:student"])
    return room


@pytest.fixture(scope="module")
def frames(room) -> list[str]:
    page = room.reader.get(f"/tasks/{room.task.id}/next").text
    assert len(re.findall(r"data-window=", page)) == 3  # a JPEG has 8 bits and is not asked
    return re.findall(r'<img src="(/images/[^"]+)"', page)


def picture(answer) -> np.ndarray:
    assert answer.status_code == 200, answer.text
    return np.asarray(Image.open(io.BytesIO(answer.content)))


def test_a_ct_starts_with_its_window_in_hounsfield_units(room, frames):
    told = room.reader.get(f"{frames[0]}/window").json()
    dataset = dcmread(get_testdata_file("CT_small.dcm"))
    values = apply_modality_lut(dataset.pixel_array, dataset)
    assert (told["low"], told["high"], told["unit"]) == (values.min(), values.max(), "HU")
    assert (told["center"], told["width"]) == (40, 400)  # the file names none
    shown = picture(room.reader.get(f"{frames[0]}/window/{told['center']}/{told['width']}"))
    np.testing.assert_array_equal(shown, picture(room.reader.get(frames[0])))


def test_another_window_is_what_dicom_defines(room, frames):
    dataset = dcmread(get_testdata_file("CT_small.dcm"))
    values = apply_modality_lut(dataset.pixel_array, dataset).astype(float)
    for center, width in ((-600, 1500), (400, 1800), (-100.5, 50)):
        wanted = np.clip(((values - (center - 0.5)) / (width - 1) + 0.5) * 255, 0, 255)
        shown = picture(room.reader.get(f"{frames[0]}/window/{center}/{width}"))
        assert np.abs(shown - wanted).max() <= 0.51


def test_sixteen_bits_start_at_their_depth_and_eight_have_no_window(room, frames):
    told = room.reader.get(f"{frames[1]}/window").json()
    assert told == {"center": 2047.5, "width": 4095.0, "low": 0.0, "high": float(deep().max()), "unit": ""}
    shown = picture(room.reader.get(f"{frames[1]}/window/1000/500"))
    np.testing.assert_allclose(shown, np.clip((deep().astype(float) - 1000) / 500 + 0.5, 0, 1) * 255, atol=0.51)
    assert room.reader.get(f"{frames[2]}/window").json() == {}


def test_windows_that_cannot_be_and_those_of_others_are_refused(room, frames):
    for bad in ("40/0", "40/-1", "nan/400", "40/inf", "x/400", "1e999/400"):
        assert room.reader.get(f"{frames[0]}/window/{bad}").status_code == 422
    stranger = room.enter("Sue", "attending")
    assert stranger.get(f"{frames[0]}/window").status_code == 404
    assert stranger.get(f"{frames[0]}/window/40/400").status_code == 404
    page = room.reader.get(f"/tasks/{room.task.id}/next")
    room.reader.submit(str(page.url), {"once": once(page.text), **opinion("keep")})


@pytest.mark.parametrize("name", ["MR_small.dcm", "color-px.dcm", "J2K_pixelrep_mismatch.dcm", "CT_small.dcm"])
def test_files_of_the_world_have_a_window_or_none(name):
    file = get_testdata_file(name)
    if file is None:
        pytest.skip(f"pydicom has no {name} here")
    told = stretch(file, CaseImage(path=name))
    if name.startswith("color"):
        assert told is None
    else:
        assert told.low <= told.center <= told.high or told.width > 0
        assert told.low < told.high


def test_a_slice_of_a_volume(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    volume = np.arange(4 * 5 * 6, dtype=np.int16).reshape(4, 5, 6) * 10 - 200
    nibabel.save(nibabel.Nifti1Image(volume, np.eye(4)), tmp_path / "v.nii.gz")
    told = stretch(tmp_path / "v.nii.gz", CaseImage(path="v.nii.gz", frame=2, modality="CT"))
    part = volume[:, :, 2]
    assert (told.low, told.high, told.center, told.width, told.unit) == (part.min(), part.max(), 40, 400, "HU")
