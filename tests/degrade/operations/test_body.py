import numpy as np
import pytest
import scipy
from pydicom.data import get_testdata_file
from skimage.data import immunohistochemistry, retina
from skimage.draw import disk
from skimage.filters import threshold_otsu

from wardround.cases.images import pixels, recipe_for
from wardround.core.case import Image
from wardround.degrade.operations.body import _cell_means, _count, _dark, _reaching_border, _smooth, body_mask


@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_is_otsus(seed):
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.normal(0.2, 0.05, 700), rng.normal(0.6, 0.15, 300)]).astype(np.float32)[None]
    dark, otsu = _dark(values), threshold_otsu(values)
    assert np.abs(dark.sum() - (values < otsu).sum()) <= 10  # a bin apart: skimage cuts at a bin's middle


SHAPES = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (1, 40), (57, 33), (128, 131)]


@pytest.mark.parametrize("shape", SHAPES)
def test_samples_are_smoothed_counted_and_connected_as_scipy_and_numpy_do(shape):
    values = np.random.default_rng(0).random(shape, dtype=np.float32)
    smooth = _smooth(values)
    np.testing.assert_array_equal(smooth, scipy.ndimage.uniform_filter(values, 3))

    low, high = float(smooth.min()), float(smooth.max()) + 0.1
    counts, edges = np.histogram(smooth, 256, (low, high))
    np.testing.assert_array_equal(_count(smooth.reshape(-1), edges), counts)

    dark = values < 0.6  # near the share at which what hangs together spans the image
    parts, _ = scipy.ndimage.label(dark)
    border = np.concatenate([parts[0], parts[-1], parts[:, 0], parts[:, -1]])
    np.testing.assert_array_equal(_reaching_border(dark), dark & np.isin(parts, border))


@pytest.mark.parametrize("step", [1, 2, 3, 4, 7, 8])
def test_a_cell_has_the_mean_of_its_pixels(step):
    luma = np.random.default_rng(0).random((8 * step, 5 * step + 3), dtype=np.float32)
    cells = _cell_means(luma[:, : 5 * step], step)
    expected = luma[:, : 5 * step].reshape(8, step, 5, step).mean(axis=(1, 3), dtype=np.float64)
    np.testing.assert_allclose(cells, expected, rtol=1e-6)


def test_a_disc_on_black_is_the_body_with_what_is_dark_in_it():
    image = np.random.default_rng(0).normal(0.01, 0.005, (256, 300)).astype(np.float32)
    inside = np.zeros(image.shape, bool)
    inside[disk((120, 150), 90)] = True
    image[inside] += 0.5
    image[disk((120, 150), 20)] = 0.0  # air
    assert (body_mask(image) == inside).mean() > 0.97


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((1, 1), np.float32),
        np.full((40, 50, 3), 0.4, np.float32),
        np.ones((1, 300), np.uint8),
        immunohistochemistry(),
        np.random.default_rng(0).integers(90, 200, (60, 60, 4)).astype(np.uint16),
    ],
    ids=["a pixel", "constant", "a line", "a slide", "no black"],
)
def test_an_image_without_black_around_is_all_body(image):
    assert body_mask(image).all()
    assert body_mask(image).shape == image.shape[:2]


def test_real_images_have_a_body_of_the_right_size():
    path = get_testdata_file("J2K_pixelrep_mismatch.dcm", download=False)
    head = body_mask(pixels(path, None, recipe_for(Image(path=path, modality="CT"))))
    assert 0.35 < head.mean() < 0.5
    assert head[256, 256]
    assert not head[0].any()
    eye = body_mask(retina())
    assert eye.mean() == pytest.approx(np.pi / 4, abs=0.03)
