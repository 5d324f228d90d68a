"""A recipe follows from the name of a file, and render follows the recipe."""

from __future__ import annotations

import hashlib
import io
import pickle
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image as Pillow

from wardround.cases.images import pixels, recipe_for, render
from wardround.core.canonical import canonical_json
from wardround.core.case import Image
from wardround.core.errors import WardroundError

FIT = ("fit", {"pixels": 2_359_296}, 1)
PNG = ("encode", {"format": "png"}, 2)


def test_the_recipe_depends_on_the_kind_of_file_without_opening_it():
    assert recipe_for(Image(path="nowhere/a.JPG")) == (
        ("frame", {"rule": "first"}, 1),
        ("orient", {"rule": "exif"}, 1),
        ("flatten", {"over": "black"}, 1),
        ("window", {"rule": "depth"}, 1),
        FIT,
        ("encode", {"format": "jpeg", "quality": 95}, 2),
    )
    assert recipe_for(Image(path="nowhere/a.dcm", modality="CT", frame=3)) == (
        ("window", {"rule": "header", "modality": "CT"}, 1),
        FIT,
        PNG,
    )
    assert recipe_for(Image(path="nowhere/IM0001", window=(40, 400))) == (
        ("frame", {"rule": "first"}, 1),
        ("window", {"center": 40.0, "width": 400.0}, 1),
        FIT,
        PNG,
    )
    assert recipe_for(Image(path="nowhere/a.nii.gz", axis=0), blank=True, pixels=100) == (
        ("slice", {"axis": 0, "rule": "middle"}, 1),
        ("window", {"rule": "values", "modality": None}, 1),
        ("blank", {}, 1),
        ("fit", {"pixels": 100}, 1),
        PNG,
    )
    assert recipe_for(Image(path="a.nii", frame=5))[0] == ("slice", {"axis": 2}, 1)


def test_a_recipe_can_be_hashed_and_pickled():
    recipe = recipe_for(Image(path="a.dcm", window=(1, 2)))
    canonical_json([list(step) for step in recipe])
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    assert pickle.loads(pickle.dumps(render)) is render


def test_an_unknown_step_is_refused(tmp_path):
    Pillow.new("L", (4, 4)).save(tmp_path / "a.png")
    for step in (("sharpen", {}, 1), ("fit", {"pixels": 4}, 2)):
        with pytest.raises(WardroundError, match=f"cannot do step '{step[0]}', version {step[2]}"):
            pixels(tmp_path / "a.png", None, (*recipe_for(Image(path="a.png"))[:-2], step))


def test_only_images_over_the_budget_are_shrunk(tmp_path):
    ramp = np.tile(np.linspace(0, 255, 400).astype(np.uint8), (100, 1))
    Pillow.fromarray(ramp).save(tmp_path / "ramp.png")
    whole = pixels(tmp_path / "ramp.png", None, recipe_for(Image(path="ramp.png"), pixels=40_000))
    np.testing.assert_array_equal(whole, ramp)
    small = pixels(tmp_path / "ramp.png", None, recipe_for(Image(path="ramp.png"), pixels=2_500))
    assert small.shape == (25, 100)
    np.testing.assert_allclose(small[12], ramp.reshape(25, 4, 100, 4).mean((1, 3))[12], atol=3)
    line = np.zeros((1, 5000), np.uint8)
    Pillow.fromarray(line).save(tmp_path / "line.png")
    assert pixels(tmp_path / "line.png", None, recipe_for(Image(path="line.png"), pixels=10)).size <= 223
    for budget in (1000, 1001, 7919):
        got = pixels(tmp_path / "ramp.png", None, recipe_for(Image(path="ramp.png"), pixels=budget))
        assert got.size <= budget
        assert abs(got.shape[1] / got.shape[0] - 4) < 0.3


def test_blank_is_mid_grey_of_the_same_size(tmp_path):
    array = np.random.default_rng(1).integers(0, 256, (31, 20, 3), dtype=np.uint8)
    Pillow.fromarray(array).save(tmp_path / "a.png")
    got = pixels(tmp_path / "a.png", None, recipe_for(Image(path="a.png"), blank=True))
    assert got.shape == array.shape
    assert np.unique(got).tolist() == [128]


def test_encoding_keeps_the_pixels(tmp_path):
    array = np.random.default_rng(1).integers(0, 256, (31, 20, 3), dtype=np.uint8)
    Pillow.fromarray(array).save(tmp_path / "a.png")
    sent = render(tmp_path / "a.png", None, recipe_for(Image(path="a.png")))
    assert (sent.media_type, sent.width, sent.height) == ("image/png", 20, 31)
    assert sent.sha256 == hashlib.sha256(sent.data).hexdigest()
    np.testing.assert_array_equal(np.asarray(Pillow.open(io.BytesIO(sent.data))), array)
    assert sent == render(str(tmp_path / "a.png"), None, recipe_for(Image(path="a.png")))

    smooth = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint8)
    Pillow.fromarray(np.dstack([smooth, smooth[::-1], smooth[:, ::-1]])).save(tmp_path / "a.jpg", quality=80)
    sent = render(tmp_path / "a.jpg", None, recipe_for(Image(path="a.jpg")))
    assert sent.media_type == "image/jpeg"
    decoded = Pillow.open(io.BytesIO(sent.data))
    assert [layer[1:3] for layer in decoded.layer] == [(1, 1)] * 3  # 4:4:4
    assert np.abs(np.asarray(decoded).astype(int) - np.asarray(Pillow.open(tmp_path / "a.jpg"))).mean() < 1


def test_medical_readers_are_imported_only_when_needed():
    process = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, wardround.cases.images; print({'nibabel', 'pydicom'} & set(sys.modules))",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.strip() == "set()"
