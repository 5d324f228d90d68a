"""Whatever the size, the colours and the depth: all types, at both levels."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.degrade import TYPES, degrade
from wardround.degrade.types import TAXONOMY

sizes = st.one_of(st.just(1), st.integers(1, 12), st.integers(13, 70))
FILLINGS = ("noise", "constant", "black", "white", "ramp", "spot", "grey stored as colour")


@st.composite
def images(draw: st.DrawFn) -> np.ndarray:
    """Grey, grey with alpha, RGB or RGBA, of 8 or 16 bits."""
    height, width = draw(sizes), draw(sizes)
    channels = draw(st.sampled_from([None, 1, 2, 3, 4]))
    dtype = draw(st.sampled_from([np.uint8, np.uint16]))
    depth = 8 if dtype == np.uint8 else draw(st.sampled_from([10, 12, 16]))
    filling, rng = draw(st.sampled_from(FILLINGS)), np.random.default_rng(draw(st.integers(0, 2**32)))
    white, shape = 2**depth - 1, (height, width, channels or 1)
    image = rng.integers(0, white, shape, dtype=dtype, endpoint=True)
    if filling in ("constant", "black", "white"):
        image[:] = {"constant": image[0, 0, 0], "black": 0, "white": white}[filling]
    elif filling == "ramp":
        image[:] = np.linspace(0, white, width)[:, None]
    elif filling == "spot":
        image[1:, 1:] = 0
    elif filling == "grey stored as colour":
        image[..., :3] = image[..., :1]
    return image if channels else image[..., 0]


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(images())
def test_every_type_at_every_level_gives_an_image_of_the_same_kind(image):
    colours = 3 if image.ndim == 3 and image.shape[2] >= 3 else 1
    channels = image.reshape(*image.shape[:2], -1)
    grey = _is_grey(channels[..., :colours])
    before = image.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # casting a value that is not a number warns
        for type in TYPES:
            assert degrade(image, type, "L0").tobytes() == before.tobytes()
            for level in ("L1", "L2"):
                degraded = degrade(image, type, level)
                assert (degraded.shape, degraded.dtype) == (image.shape, image.dtype), type
                shown = degraded.reshape(channels.shape)
                np.testing.assert_array_equal(shown[..., colours:], channels[..., colours:], type)
                assert not grey or _is_grey(shown[..., :colours]), type
                assert degraded.tobytes() == degrade(image, type, level).tobytes(), type
    np.testing.assert_array_equal(image, before)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(sizes, sizes, st.sampled_from([np.int16, np.int32, np.float32]), st.integers(0, 2**32))
def test_hounsfield_units_of_any_size_stay_finite(height, width, dtype, seed):
    hounsfield = np.random.default_rng(seed).integers(-2000, 3000, (height, width)).astype(dtype)
    before = hounsfield.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for type in (name for name in TYPES if TAXONOMY[name].modality == "CT"):
            for level in ("L1", "L2"):
                degraded = degrade(hounsfield, type, level, space="hu")
                assert (degraded.shape, degraded.dtype) == (hounsfield.shape, hounsfield.dtype)
                assert np.isfinite(degraded).all()
                assert degraded.tobytes() == degrade(hounsfield, type, level, space="hu").tobytes()
    np.testing.assert_array_equal(hounsfield, before)


@pytest.mark.parametrize("type", TYPES)
def test_the_order_of_the_bytes_in_memory_does_not_matter(type):
    image = np.random.default_rng(0).integers(0, 255, (31, 40, 3), dtype=np.uint8)
    views = (np.asfortranarray(image), np.repeat(image, 2, axis=1)[:, ::2], image[::-1][::-1])
    for view in views:
        np.testing.assert_array_equal(degrade(view, type, "L2"), degrade(image, type, "L2"))


def _is_grey(colours: np.ndarray) -> bool:
    return bool((colours == colours[..., :1]).all())
