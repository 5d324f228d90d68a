"""PNG files of our own: Pillow reads the same pixels from them, and makes none that are much smaller."""

import io

import numpy as np
import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage import data

from wardround.cases.images.png import AT_ONCE, png


def read(file: bytes) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(file))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([None, 3]), st.integers(0, 2**32), st.booleans())
def test_every_pixel_is_read_back(height, width, channels, seed, smooth):
    rng = np.random.default_rng(seed)
    shape = (height, width) if channels is None else (height, width, channels)
    shown = rng.integers(0, 256, shape, dtype=np.uint8)
    if smooth:  # steps of a few levels that wrap around: every branch of the filter, ties included
        shown = rng.integers(-2, 3, shape).cumsum(axis=0).cumsum(axis=1).astype(np.uint8)
    held = read(png(shown))
    assert held.mode == ("L" if channels is None else "RGB")
    np.testing.assert_array_equal(np.asarray(held), shown)


def test_an_image_larger_than_one_helping_is_read_back():
    slide = data.immunohistochemistry()
    assert slide.size > 2 * AT_ONCE
    for shown in (slide, slide[::2, ::-1], np.asfortranarray(slide[..., 0]), np.full((900, 1000), 128, np.uint8)):
        np.testing.assert_array_equal(np.asarray(read(png(shown))), shown)


def test_there_is_nothing_but_pixels_in_it():
    file = png(np.zeros((7, 5, 3), np.uint8))
    held = read(file)
    held.load()
    assert held.info == {}
    assert [file.count(name) for name in (b"IHDR", b"IDAT", b"IEND")] == [1, 1, 1]


@pytest.mark.parametrize("shown", [data.immunohistochemistry(), data.retina()[::2, ::2], data.camera()])
def test_it_is_hardly_larger_than_pillows(shown):
    held = io.BytesIO()
    PIL.Image.fromarray(shown).save(held, "PNG")
    assert len(png(shown)) < 1.05 * len(held.getvalue())
