"""The window of images with more than 8 bits: where it starts, and what is seen under another."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from desk_site import DeskSite, case, once, opinion, write_set
from PIL import Image
from pydicom import dcmread
from pydicom.data import get_testdata_file
from pydicom.pixels import apply_modality_lut

from wardround.cases.images.value_range import value_range
from wardround.core.case import Image as CaseImage


def deep() -> np.ndarray:
    """12 bits in a file of 16."""
    return (np.add.outer(np.arange(64), np.arange(96)) * 25).astype(np.uint16)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> DeskSite:
    site = DeskSite(tmp_path_factory.mktemp("desk"))
    images = [
        {"path": "images/ct.dcm", "modality": "CT"},
        {"path": "images/deep.png"},
        {"path": "images/plain.png"},
        {"path": "images/photo.jpg"},
    ]
    folder = site.root / "set"
    write_set(folder, [case(1)])
    (folder / "images").mkdir()
    (folder / "images/ct.dcm").write_bytes(Path(get_testdata_file("CT_small.dcm")).read_bytes())
    Image.fromarray(deep()).save(folder / "images/deep.png")
    Image.fromarray((deep() // 16).astype(np.uint8)).save(folder / "images/plain.png")
    Image.fromarray((deep() // 16).astype(np.uint8)).save(folder / "images/photo.jpg")
    (folder / "cases.jsonl").write_text(json.dumps(case(1, images=images)) + "\n")
    site.reader = site.add_person("Stu", "student")
    site.task = site.make_task("review", "set", ["role:student"])
    return site


@pytest.fixture(scope="module")
def frames(site) -> list[str]:
    page = site.reader.get(f"/tasks/{site.task.id}/next").text
    assert len(re.findall(r"data-window=", page)) == 3  # a JPEG has 8 bits and is not asked
    return re.findall(r'<img src="(/images/[^"]+)"', page)


def picture(answer) -> np.ndarray:
    assert answer.status_code == 200, answer.text
    return np.asarray(Image.open(io.BytesIO(answer.content)))


def test_a_ct_starts_with_its_window_in_hounsfield_units(site, frames):
    window = site.reader.get(f"{frames[0]}/window").json()
    dataset = dcmread(get_testdata_file("CT_small.dcm"))
    values = apply_modality_lut(dataset.pixel_array, dataset)
    assert (window["low"], window["high"], window["unit"]) == (values.min(), values.max(), "HU")
    assert (window["center"], window["width"]) == (40, 400)  # the file names none
    shown = picture(site.reader.get(f"{frames[0]}/window/{window['center']}/{window['width']}"))
    np.testing.assert_array_equal(shown, picture(site.reader.get(frames[0])))


def test_another_window_is_what_dicom_defines(site, frames):
    dataset = dcmread(get_testdata_file("CT_small.dcm"))
    values = apply_modality_lut(dataset.pixel_array, dataset).astype(float)
    for center, width in ((-600, 1500), (400, 1800), (-100.5, 50)):
        wanted = np.clip(((values - (center - 0.5)) / (width - 1) + 0.5) * 255, 0, 255)
        shown = picture(site.reader.get(f"{frames[0]}/window/{center}/{width}"))
        assert np.abs(shown - wanted).max() <= 0.51


def test_sixteen_bits_start_at_their_depth_and_eight_have_no_window(site, frames):
    window = site.reader.get(f"{frames[1]}/window").json()
    assert window == {"center": 2047.5, "width": 4095.0, "low": 0.0, "high": float(deep().max()), "unit": ""}
    shown = picture(site.reader.get(f"{frames[1]}/window/1000/500"))
    np.testing.assert_allclose(shown, np.clip((deep().astype(float) - 1000) / 500 + 0.5, 0, 1) * 255, atol=0.51)
    assert site.reader.get(f"{frames[2]}/window").json() == {}


def test_windows_that_cannot_be_and_those_of_others_are_refused(site, frames):
    for bad in ("40/0", "40/-1", "nan/400", "40/inf", "x/400", "1e999/400"):
        assert site.reader.get(f"{frames[0]}/window/{bad}").status_code == 422
    stranger = site.add_person("Sue", "attending")
    assert stranger.get(f"{frames[0]}/window").status_code == 404
    assert stranger.get(f"{frames[0]}/window/40/400").status_code == 404
    page = site.reader.get(f"/tasks/{site.task.id}/next")
    site.reader.submit(str(page.url), {"once": once(page.text), **opinion("keep")})


@pytest.mark.parametrize("name", ["MR_small.dcm", "color-px.dcm", "J2K_pixelrep_mismatch.dcm", "CT_small.dcm"])
def test_files_of_the_world_have_a_window_or_none(name):
    file = get_testdata_file(name)
    if file is None:
        pytest.skip(f"pydicom has no {name} here")
    window = value_range(file, CaseImage(path=name))
    if name.startswith("color"):
        assert window is None
    else:
        assert window.low <= window.center <= window.high or window.width > 0
        assert window.low < window.high


def test_a_slice_of_a_volume(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    volume = np.arange(4 * 5 * 6, dtype=np.int16).reshape(4, 5, 6) * 10 - 200
    nibabel.save(nibabel.Nifti1Image(volume, np.eye(4)), tmp_path / "v.nii.gz")
    window = value_range(tmp_path / "v.nii.gz", CaseImage(path="v.nii.gz", frame=2, modality="CT"))
    part = volume[:, :, 2]
    assert (window.low, window.high, window.center, window.width, window.unit) == (
        part.min(),
        part.max(),
        40,
        400,
        "HU",
    )
