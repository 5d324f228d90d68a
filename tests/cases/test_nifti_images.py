"""NIfTI slices are found, turned radiologically and windowed, whatever way the file stores them."""

from __future__ import annotations

import itertools

import nibabel
import numpy as np
import pytest
from nibabel.orientations import apply_orientation, axcodes2ornt, inv_ornt_aff, ornt_transform

from wardround.cases.images import pixels, recipe_for
from wardround.core.case import Image
from wardround.core.errors import BadInput

# one body in RAS+ order, brighter to the patient's right, anterior and superior, in different steps
RIGHT, FRONT, TOP = np.meshgrid(np.arange(4), np.arange(5), np.arange(6), indexing="ij")
BODY = (RIGHT * 1 + FRONT * 10 + TOP * 40).astype(np.int16)
WHOLE = (127.5, 255.0)  # a window that shows 0 to 255 as they are


def shown(path, **fields):
    return pixels(path, fields.get("frame"), recipe_for(Image(path=path.name, **fields)))


def saved(path, values, affine=None):
    nibabel.save(nibabel.Nifti1Image(values, np.eye(4) if affine is None else affine), path)
    return path


def stored_as(codes: str) -> tuple[np.ndarray, np.ndarray]:
    """The body as a scanner that stores in this order would have it, by nibabel's own reorientation."""
    turn = ornt_transform(axcodes2ornt("RAS"), axcodes2ornt(codes))
    return apply_orientation(BODY, turn), np.eye(4) @ inv_ornt_aff(turn, BODY.shape)


ALL_ORDERS = [
    "".join(pair[sign] for pair, sign in zip(order, signs, strict=True))
    for order in itertools.permutations(("RL", "AP", "SI"))
    for signs in itertools.product((0, 1), repeat=3)
]


@pytest.mark.parametrize("codes", ALL_ORDERS)
def test_every_orientation_is_shown_radiologically(tmp_path, codes):
    values, affine = stored_as(codes)
    path = saved(tmp_path / "body.nii", values, affine)
    for axis in range(3):
        for frame in range(values.shape[axis]):
            got = shown(path, axis=axis, frame=frame, window=WHOLE)
            body_axis = next(number for number, pair in enumerate(("RL", "AP", "SI")) if codes[axis] in pair)
            body_index = frame if codes[axis] in "RAS" else values.shape[axis] - 1 - frame
            body = np.take(BODY, body_index, axis=body_axis)
            # the patient's right at the left edge (or, seen from the side, the front); front or head on top
            np.testing.assert_array_equal(got, body.T[::-1, ::-1])


def test_right_and_anterior_are_in_the_upper_left_corner(tmp_path):
    path = saved(tmp_path / "body.nii.gz", BODY)
    axial = shown(path, frame=0, window=WHOLE).astype(int)
    assert axial.shape == (5, 4)
    assert axial[0, 0] == RIGHT.max() * 1 + FRONT.max() * 10  # right and anterior in the upper left corner
    assert axial[-1, -1] == 0
    sagittal = shown(path, axis=0, frame=0, window=WHOLE).astype(int)
    assert sagittal[0, 0] == FRONT.max() * 10 + TOP.max() * 40


def test_the_middle_slice_of_the_last_axis_is_the_default(tmp_path):
    path = saved(tmp_path / "body.nii.gz", BODY)
    np.testing.assert_array_equal(shown(path, window=WHOLE), shown(path, axis=2, frame=3, window=WHOLE))
    np.testing.assert_array_equal(shown(path, axis=1, window=WHOLE), shown(path, axis=1, frame=2, window=WHOLE))


def test_values_go_by_the_slices_percentiles_with_slope_and_intercept(tmp_path):
    values = np.random.default_rng(2).normal(100, 30, (40, 50, 3))
    image = nibabel.Nifti1Image(values, np.eye(4))
    image.set_data_dtype(np.int16)  # nibabel chooses slope and intercept
    nibabel.save(image, tmp_path / "scaled.nii")
    read = nibabel.load(tmp_path / "scaled.nii").get_fdata()[:, :, 1].T[::-1, ::-1]
    low, high = np.percentile(read, [1, 99])
    expected = np.clip((read - low) / (high - low), 0, 1) * 255
    assert np.abs(shown(tmp_path / "scaled.nii") - expected).max() <= 0.5 + 1e-6


def test_ct_is_taken_to_be_in_hounsfield_units(tmp_path):
    values = np.random.default_rng(2).integers(-1000, 1000, (8, 9, 3)).astype(np.int16)
    got = shown(saved(tmp_path / "ct.nii.gz", values), modality="CT")
    expected = np.clip((values[:, :, 1].T[::-1, ::-1] - 40) / 400 + 0.5, 0, 1) * 255
    assert np.abs(got - expected).max() <= 0.5


def test_series_show_their_first_volume_and_flat_images_and_colours_work(tmp_path):
    series = np.stack([BODY, BODY + 1], axis=-1)
    path = saved(tmp_path / "series.nii", series)
    np.testing.assert_array_equal(
        shown(path, frame=1, window=WHOLE), shown(saved(tmp_path / "b.nii", BODY), frame=1, window=WHOLE)
    )
    flat = saved(tmp_path / "flat.nii", BODY[:, :, 0])
    np.testing.assert_array_equal(shown(flat, window=WHOLE), BODY[:, :, 0].T[::-1, ::-1])
    colours = np.random.default_rng(1).integers(0, 256, (4, 5, 2, 3), dtype=np.uint8)
    packed = np.ascontiguousarray(colours).view([("R", "u1"), ("G", "u1"), ("B", "u1")])[..., 0]
    got = shown(saved(tmp_path / "rgb.nii", packed), frame=1)
    np.testing.assert_array_equal(got, colours[:, :, 1].transpose(1, 0, 2)[::-1, ::-1])


def test_broken_volumes_are_one_line(tmp_path):
    path = saved(tmp_path / "body.nii", BODY)
    with pytest.raises(BadInput, match="there is no slice 6 on axis 2; it has slices 0 to 5"):
        shown(path, frame=6)
    (tmp_path / "text.nii").write_text("this is a text " * 40)
    (tmp_path / "text.nii.gz").write_text("this is a text " * 40)
    (tmp_path / "cut.nii").write_bytes(path.read_bytes()[:400])
    whole = saved(tmp_path / "whole.nii.gz", np.random.default_rng(1).integers(0, 999, (30, 30, 30)).astype(np.int16))
    (tmp_path / "cut.nii.gz").write_bytes(whole.read_bytes()[:5000])
    huge = nibabel.Nifti1Header()
    huge.set_data_shape((30_000, 30_000, 3))
    (tmp_path / "huge.nii").write_bytes(huge.binaryblock + b"\0" * 2000)
    messages = {
        "text.nii": "",
        "text.nii.gz": "",
        "cut.nii": "",
        "cut.nii.gz": "",
        "huge.nii": "is too large: 30,000 x",
    }
    for name, message in messages.items():
        with pytest.raises(BadInput) as raised:
            shown(tmp_path / name)
        assert raised.value.problem.file == tmp_path / name
        assert message in str(raised.value)
        assert "\n" not in str(raised.value)
    with pytest.raises(BadInput, match="there is no such file"):
        shown(tmp_path / "nowhere.nii")
