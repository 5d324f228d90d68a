"""Our PNG files: Pillow reads the same pixels from them, and its own are hardly smaller."""

import io

import numpy as np
import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage import data

from wardround.cases.images.png import BLOCK, encode_png


def read(file: bytes) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(file))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([None, 3]), st.integers(0, 2**32), st.booleans())
def test_every_pixel_is_read_back(height, width, channels, seed, smooth):
    rng = np.random.default_rng(seed)
    shape = (height, width) if channels is None else (height, width, channels)
    pixels = rng.integers(0, 256, shape, dtype=np.uint8)
    if smooth:  # steps of a few levels that wrap around: every branch of the filter, ties included
        pixels = rng.integers(-2, 3, shape).cumsum(axis=0).cumsum(axis=1).astype(np.uint8)
    decoded = read(encode_png(pixels))
    assert decoded.mode == ("L" if channels is None else "RGB")
    np.testing.assert_array_equal(np.asarray(decoded), pixels)


def test_an_image_larger_than_one_block_is_read_back():
    slide = data.immunohistochemistry()
    assert slide.size > 2 * BLOCK
    for pixels in (slide, slide[::2, ::-1], np.asfortranarray(slide[..., 0]), np.full((900, 1000), 128, np.uint8)):
        np.testing.assert_array_equal(np.asarray(read(encode_png(pixels))), pixels)


def test_a_file_has_no_metadata():
    file = encode_png(np.zeros((7, 5, 3), np.uint8))
    decoded = read(file)
    decoded.load()
    assert decoded.info == {}
    assert [file.count(name) for name in (b"IHDR", b"IDAT", b"IEND")] == [1, 1, 1]


@pytest.mark.parametrize("pixels", [data.immunohistochemistry(), data.retina()[::2, ::2], data.camera()])
def test_a_file_is_hardly_larger_than_pillows(pixels):
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG")
    assert len(encode_png(pixels)) < 1.05 * len(file.getvalue())
