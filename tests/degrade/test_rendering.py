"""What every degradation shares: depth, colours, alpha, seeds and Hounsfield units."""

from __future__ import annotations

import numpy as np
import pytest

from wardround.core.errors import WardroundError
from wardround.degrade import apply_degradation, degrade, fits, parse_modality, parse_type
from wardround.degrade.rendering import apply_parameters

GREY = np.random.default_rng(0).integers(40, 200, (33, 47), dtype=np.uint8)
RGB = np.random.default_rng(1).integers(40, 200, (33, 47, 3), dtype=np.uint8)


def test_level_0_is_the_image_itself_and_a_copy():
    for severity in ("L0", 0, "0"):
        degraded = degrade(GREY, "gaussian_noise", severity)
        assert degraded is not GREY
        np.testing.assert_array_equal(degraded, GREY)


def test_brightness_is_a_shift_that_is_rounded_and_clipped_once():
    degraded = apply_parameters(GREY, "adjust_brightness", 1.0, {"shift": 0.4, "direction": "lighter"}, "display").image
    np.testing.assert_array_equal(degraded, np.clip(GREY.astype(float) + 0.4 * 255, 0, 255).round().astype(np.uint8))


def test_alpha_is_split_off_and_put_back():
    alpha = np.arange(33 * 47, dtype=np.uint8).reshape(33, 47, 1)
    with_alpha = degrade(np.concatenate([RGB, alpha], axis=2), "gaussian_blur", "L2")
    np.testing.assert_array_equal(with_alpha[..., 3:], alpha)
    grey_alpha = degrade(np.concatenate([GREY[..., None], alpha], axis=2), "gaussian_blur", "L2")
    np.testing.assert_array_equal(grey_alpha[..., 1:], alpha)
    np.testing.assert_array_equal(grey_alpha[..., 0], degrade(GREY, "gaussian_blur", "L2"))


def test_twelve_bits_in_sixteen_have_their_own_white():
    twelve = (GREY.astype(np.uint16) * 16) + 15
    degraded = apply_parameters(
        twelve, "adjust_brightness", 1.0, {"shift": 1.0, "direction": "lighter"}, "display"
    ).image
    assert degraded.dtype == np.uint16
    assert degraded.max() == 4095


def test_grey_stored_as_rgb_stays_grey_and_near_grey_becomes_it():
    stored = np.repeat(GREY[..., None], 3, axis=2)
    stored[0, 0, 1] += 1
    degraded = degrade(stored, "gaussian_noise", "L2")
    assert (degraded.max(axis=2) == degraded.min(axis=2)).all()


def test_coloured_marks_on_a_ct_keep_their_colour():
    marked = np.repeat(GREY[..., None], 3, axis=2)
    marked[10:20, 10:20] = (220, 60, 40)
    before, after = marked.astype(float), degrade(marked, "sparse_view", "L1").astype(float)
    inside = (after > 0).all(axis=2) & (after < 255).all(axis=2)
    np.testing.assert_allclose((after - before).std(axis=2)[inside], 0, atol=1)
    assert np.abs(after - before).max() > 1


def test_the_seed_is_of_the_pixels_and_the_type_and_of_nothing_else():
    base = apply_degradation(GREY, "gaussian_noise", "L1")
    assert base.seed == apply_degradation(GREY, "gaussian_noise", 1.7, "medq-deg-estimated").seed
    assert base.seed == apply_degradation(np.asfortranarray(GREY), "gaussian_noise", "L1").seed
    changed = GREY.copy()
    changed[3, 4] ^= 1
    assert (
        len(
            {
                base.seed,
                apply_degradation(changed, "gaussian_noise", "L1").seed,
                apply_degradation(GREY, "ghosting", "L1").seed,
            }
        )
        == 3
    )


def test_a_result_has_the_type_the_severity_and_the_parameters():
    degraded = apply_degradation(GREY, "downsample_artifact", "1.5")
    assert (degraded.type, degraded.severity) == ("low_resolution", 1.5)
    assert degraded.parameters["factor"] == pytest.approx((3 * 6) ** 0.5)


def test_hounsfield_units_keep_their_type_and_padding_counts_as_air_and_stays():
    y, x = np.mgrid[-32:32, -32:32]
    hounsfield = np.where(np.hypot(x, y) < 20, 40, -1000).astype(np.int16)
    hounsfield[:4] = -2000
    degraded = degrade(hounsfield, "low_dose", "L2", space="hu")
    assert degraded.dtype == np.int16
    as_air = degrade(np.maximum(hounsfield, -1000), "low_dose", "L2", space="hu")
    assert (degraded[:4] == -2000).all()
    np.testing.assert_allclose(degraded[4:].mean(), as_air[4:].mean(), atol=5)  # another seed
    assert 10 < (degraded - hounsfield)[np.hypot(x, y) < 15].std() < 300


@pytest.mark.parametrize(
    ("image", "type", "space", "message"),
    [
        (GREY.astype(float), "ghosting", "display", "expected uint8 or uint16"),
        (np.zeros((2, 2, 5), np.uint8), "ghosting", "display", "expected uint8 or uint16"),
        (np.zeros((0, 2), np.uint8), "ghosting", "display", "no pixels"),
        (GREY, "ghosting", "hu", "not on Hounsfield units"),
        (RGB, "low_dose", "hu", "expected Hounsfield units as"),
        (GREY, "rust", "display", "there is no degradation 'rust'; the types are limited_angle"),
    ],
)
def test_what_cannot_be_degraded_is_refused(image, type, space, message):
    with pytest.raises(WardroundError, match=message):
        degrade(image, type, "L1", space=space)


def test_types_fit_their_modality_in_usual_spellings():
    assert fits("sparse_view", "ct")
    assert fits("ghosting", "MR")
    assert fits("bubble", "Pathology")
    assert not fits("sparse_view", "MRI")
    assert not fits("sparse_view", None)
    assert fits("gaussian_noise", None)
    assert parse_modality("fundus photography") is None
    assert parse_type("Sparse-View") == "sparse_view"
