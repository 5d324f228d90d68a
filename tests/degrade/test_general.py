"""The nine general types, against SciPy, Pillow, scikit-image and formulas; then on real images."""

from importlib import import_module

import numpy as np
import PIL.Image
import pytest
import real_images as real
from numpy.random import Generator, Philox
from PIL import ImageEnhance
from scipy import ndimage
from skimage import data as skimage_data
from skimage.exposure import adjust_gamma
from skimage.transform import rotate as rotate_bilinear

from wardround.core.errors import WardroundError
from wardround.degrade import apply_degradation, degrade
from wardround.degrade.operations.blur import along_line, gaussian, line_taps
from wardround.degrade.operations.resize import downsample_and_restore
from wardround.degrade.rendering import LUMA, apply_parameters
from wardround.degrade.types.exposure import FLOOR, _gain_of_grey, exposure, gain
from wardround.degrade.types.object_movement import move
from wardround.degrade.types.object_rotation import rotate

GENERAL = (
    "object_rotation",
    "object_movement",
    "adjust_brightness",
    "exposure",
    "reduce_contrast",
    "gaussian_noise",
    "low_resolution",
    "motion_blur",
    "gaussian_blur",
)
MOTION = ("object_rotation", "object_movement")


def random_image(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).random(shape).astype(np.float32)


def by_hand(type: str, image: np.ndarray, parameters: dict, seed: str) -> np.ndarray:
    """The function of a type itself, on any float image, with the draws that another image has had."""
    function = getattr(import_module(f"wardround.degrade.types.{type}"), type)
    return function(image, parameters, Generator(Philox(key=int(seed, 16))))


@pytest.mark.parametrize("shape", [(40, 61), (61, 40, 3), (1, 30), (5, 4)])
@pytest.mark.parametrize("sigma", [0.4, 1.5, 7.3])
def test_gaussian_blur_is_scipys(shape, sigma):
    image = random_image(*shape)
    radius = int(np.ceil(3 * sigma))
    expected = ndimage.gaussian_filter(image.astype(float), sigma, mode="reflect", axes=(0, 1), radius=radius)
    np.testing.assert_allclose(gaussian(image, sigma), expected, atol=2e-6)


@pytest.mark.parametrize("shape", [(40, 61), (31, 40, 3), (3, 2)])
@pytest.mark.parametrize(("length", "angle"), [(9.0, 0.0), (21.4, 2.2), (2.5, 1.1)])
def test_motion_blur_is_a_convolution_with_its_line(shape, length, angle):
    image = random_image(*shape)
    down, right, weights = line_taps(length, angle)
    reach = int(np.ceil(length))
    kernel = np.zeros((2 * reach + 1, 2 * reach + 1))
    kernel[reach - down, reach - right] = weights
    planes = np.atleast_3d(image).astype(float)
    expected = [ndimage.convolve(planes[..., c], kernel, mode="reflect") for c in range(planes.shape[2])]
    np.testing.assert_allclose(np.atleast_3d(along_line(image, length, angle)), np.stack(expected, -1), atol=2e-6)


@pytest.mark.parametrize("angle", [0.0, 0.7, 1.9, 3.0])
@pytest.mark.parametrize("length", [4.0, 9.3, 31.0])
def test_the_taps_are_a_line_of_that_length_and_direction(length, angle):
    down, right, weights = line_taps(length, angle)
    along = right * np.cos(angle) + down * np.sin(angle)
    across = down * np.cos(angle) - right * np.sin(angle)
    assert weights.sum() == pytest.approx(1, abs=1e-5)
    assert weights @ down == pytest.approx(0, abs=1e-4)
    assert weights @ right == pytest.approx(0, abs=1e-4)
    # an even line has the variance L^2 / 12; being shared among pixels adds at most a quarter of a pixel per axis
    assert length**2 / 12 - 0.05 <= weights @ along**2 <= length**2 / 12 + 0.3
    assert weights @ across**2 <= 0.3
    assert np.abs(across).max() < 1.5


def test_a_line_or_a_sigma_of_no_length_changes_nothing():
    image = random_image(20, 30)
    np.testing.assert_array_equal(along_line(image, 0.0, 1.0), image)
    np.testing.assert_array_equal(gaussian(image, 0.0), image)


def pillow(image: np.ndarray, height: int, width: int, method: PIL.Image.Resampling) -> np.ndarray:
    return np.asarray(PIL.Image.fromarray(image).resize((width, height), method))


def mean_by_area(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """Every pixel cut into as many as the new size has, so that the new pixels are whole blocks of them."""
    fine = image.astype(float).repeat(height, axis=0).repeat(width, axis=1)
    return fine.reshape(height, image.shape[0], width, image.shape[1]).mean(axis=(1, 3)).astype(np.float32)


@pytest.mark.parametrize("small", [(16, 20), (23, 37), (48, 80), (1, 1)])
def test_smaller_is_by_area_and_larger_is_pillows_bicubic_or_nearest(small):
    image = random_image(48, 80)
    coarse = mean_by_area(image, *small)
    expected = pillow(coarse, 48, 80, PIL.Image.Resampling.BICUBIC)
    edge = [2 * int(np.ceil(size / few)) for size, few in zip((48, 80), small, strict=True)]  # Pillow's own border
    inside = (slice(edge[0], 48 - edge[0]), slice(edge[1], 80 - edge[1]))
    degraded = downsample_and_restore(image, *small, "cubic")
    assert degraded.shape == image.shape
    np.testing.assert_allclose(degraded[inside], expected[inside], atol=5e-6)
    blocks = pillow(coarse, 48, 80, PIL.Image.Resampling.NEAREST)
    np.testing.assert_allclose(downsample_and_restore(image, *small, "nearest"), blocks, atol=2e-6)


def test_colours_are_made_smaller_one_by_one():
    image = random_image(30, 41, 3)
    degraded = downsample_and_restore(image, 7, 9, "cubic")
    for colour in range(3):
        np.testing.assert_array_equal(
            degraded[..., colour], downsample_and_restore(image[..., colour].copy(), 7, 9, "cubic")
        )


def test_low_resolution_goes_with_the_size_of_the_image():
    for side, pixels_left in ((512, 128), (1024, 128), (256, round(256 / 2.5))):
        image = (random_image(side, side) * 255).astype(np.uint8)
        parameters = {"factor": 4.0, "method": "nearest"}
        degraded = apply_parameters(image, "low_resolution", 2.0, parameters, "display").image
        changes = (np.diff(degraded.astype(int), axis=1) != 0).any(axis=0).sum()
        assert changes == pixels_left - 1


@pytest.mark.parametrize("type", MOTION)
def test_a_slide_that_is_turned_or_moved_shows_glass_and_a_scan_black(type):
    slide = skimage_data.immunohistochemistry()
    glass = np.median(slide[slide.min(axis=2) > 204], axis=0)
    for image, colour in ((slide, glass), (255 - np.full((80, 80), 55, np.uint8), 0)):
        parameters = {"least": 30.0, "most": 30.0} if type == "object_rotation" else {"least": 0.2, "most": 0.2}
        degraded = apply_parameters(image, type, 2.0, parameters, "display").image
        corners = degraded[[0, 0, -1, -1], [0, -1, 0, -1]].astype(float)
        differs = np.abs(corners - colour).reshape(4, -1).max(axis=1)
        assert (differs <= 2).sum() >= (4 if type == "object_rotation" else 1)


def turned_or_moved(image: np.ndarray, type: str) -> np.ndarray:
    parameters = {"least": 30.0, "most": 30.0} if type == "object_rotation" else {"least": 0.2, "most": 0.2}
    return apply_parameters(image, type, 2.0, parameters, "display").image


@pytest.mark.parametrize("type", MOTION)
def test_turned_or_moved_skin_shows_no_outline_of_the_frame(type):
    skin = np.full((200, 260, 3), (205, 165, 150), np.uint8)
    skin[:3] = skin[-3:] = 250
    skin[:, :3] = skin[:, -3:] = 250
    skin[70:130, 2:120] = (90, 60, 50)  # a lesion that touches the border casts no shadow beyond it
    degraded = turned_or_moved(skin, type).astype(int)
    assert (degraded[..., 0] < 215).all()
    beyond = turned_or_moved(np.zeros((200, 260), np.uint8) + 99, type) == 0  # of a grey scan that is black
    assert beyond.mean() > 0.05
    assert (degraded[beyond][:, 0] > 180).all()


@pytest.mark.parametrize("type", MOTION)
def test_turned_or_moved_tissue_that_fills_the_frame_goes_on(type):
    cells = np.random.default_rng(4).integers(60, 180, (40, 40, 3)).astype(np.uint8)
    tissue = cells.repeat(6, axis=0).repeat(6, axis=1)
    degraded = turned_or_moved(tissue, type).astype(float)
    beyond = turned_or_moved(np.zeros((240, 240), np.uint8) + 99, type) == 0
    assert degraded[beyond].std(axis=0).min() > 0.8 * tissue.reshape(-1, 3).std(axis=0).min()


def test_a_figure_on_white_paper_is_turned_on_white_paper():
    paper = np.full((120, 120), 255, np.uint8)
    paper[20:100, 20:100] = 30
    assert (turned_or_moved(paper, "object_rotation")[[0, 0, -1, -1], [0, -1, 0, -1]] == 255).all()


def wave(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    return 0.5 + 0.3 * np.sin(x / 3.1) * np.cos(y / 2.7)


@pytest.mark.parametrize("degrees", [7.0, -30.0, 45.0, 80.0, -153.0])
def test_rotation_is_that_of_the_function_and_sharper_than_bilinear(degrees):
    height, width = 120, 151
    y, x = np.mgrid[:height, :width].astype(float)
    turn, middle_y, middle_x = np.radians(degrees), (height - 1) / 2, (width - 1) / 2
    from_x = middle_x + np.cos(turn) * (x - middle_x) - np.sin(turn) * (y - middle_y)
    from_y = middle_y + np.sin(turn) * (x - middle_x) + np.cos(turn) * (y - middle_y)
    inside = (from_x > 3) & (from_x < width - 4) & (from_y > 3) & (from_y < height - 4)
    outside = (from_x < -5) | (from_x > width + 4) | (from_y < -5) | (from_y > height + 4)
    image = wave(y, x).astype(np.float32)
    degraded = rotate(image, degrees)
    assert degraded.shape == image.shape
    assert np.abs(degraded[outside]).max(initial=0) < 0.005
    error, bilinear = (
        np.abs(rotated - wave(from_y, from_x))[inside].mean() for rotated in (degraded, rotate_bilinear(image, degrees))
    )
    assert error < 4e-4
    assert error < bilinear / 5


def test_whole_quarter_turns_lose_nothing():
    image = random_image(30, 30, 3)
    np.testing.assert_allclose(rotate(image, 90), np.rot90(image), atol=1e-6)
    np.testing.assert_allclose(rotate(image, -180), image[::-1, ::-1], atol=1e-6)
    np.testing.assert_allclose(rotate(random_image(20, 31), 180), random_image(20, 31)[::-1, ::-1], atol=1e-6)
    np.testing.assert_array_equal(rotate(image, 0), image)


@pytest.mark.parametrize("shift", [(0, 0), (3, -5), (-12, 30), (50, 0), (-3, -60)])
def test_movement_is_scipys_shift(shift):
    image = random_image(20, 31)
    np.testing.assert_array_equal(move(image, *shift), ndimage.shift(image, shift, order=0))


@pytest.mark.parametrize("type", MOTION)
@pytest.mark.parametrize("key", range(6))
def test_what_moves_goes_the_same_way_and_further_at_a_higher_level(type, key):
    y, x = np.mgrid[:200, :260]
    image = np.exp(-((y - 100) ** 2 + (x - 170) ** 2) / 50)  # a spot 40 pixels right of the middle
    image = (image * 200).astype(np.uint8)
    image[5, key] = 1  # another seed

    def displacement(level: float | str) -> np.ndarray:
        degraded = degrade(image, type, level).astype(float)
        degraded[degraded < 10] = 0
        return np.array(ndimage.center_of_mass(degraded)) - (100, 170)

    steps = [displacement(level) for level in ("L1", 1.5, "L2")]
    lengths = [np.hypot(*step) for step in steps]
    assert 3 < lengths[0] < lengths[1] < lengths[2]
    if type == "object_movement":
        assert steps[0] @ steps[2] / lengths[0] / lengths[2] > 0.98
    else:
        assert np.sign(steps[0][0]) == np.sign(steps[2][0])


def test_exposure_is_gamma_above_the_floor():
    image = 0.2 + 0.6 * random_image(50, 60)  # with room to either side
    for gamma, direction, exponent, offset in ((1.8, "darker", 1.8, -0.02), (2.5, "lighter", 0.4, 0.02)):
        severity = {"gamma": gamma, "offset": -0.02, "direction": direction}
        degraded = exposure(image, severity, np.random.default_rng(0))
        bright = image >= FLOOR
        np.testing.assert_allclose(degraded[bright], (adjust_gamma(image, exponent) + offset)[bright], atol=1e-5)
        ramp = np.linspace(0, 1, 1001, dtype=np.float32)
        curve = ramp * gain(ramp, exponent)
        assert (np.diff(curve) > 0).all()  # no step at the floor
        assert np.diff(curve).max() < 0.03


@pytest.mark.parametrize("gamma", [1 / 2.2, 0.7, 1.4, 2.35])
def test_the_gain_of_a_grey_image_is_the_same_with_and_without_the_table(gamma):
    levels = np.arange(256, dtype=np.float32).reshape(8, 32) / np.float32(255)
    others = levels + np.float32(0.001)
    np.testing.assert_array_equal(_gain_of_grey(levels, gamma), gain(levels, gamma))
    np.testing.assert_array_equal(_gain_of_grey(others, gamma), gain(others, gamma))


def test_exposure_keeps_hues_and_does_not_colour_a_black_background():
    image = random_image(50, 60, 3) * 0.4 + 0.1
    severity = {"gamma": 2.5, "offset": 0.0, "direction": "lighter"}
    degraded = exposure(image, severity, np.random.default_rng(0))
    np.testing.assert_allclose(degraded @ LUMA, (image @ LUMA) ** 0.4, atol=1e-4)
    np.testing.assert_allclose(degraded[..., 0] / degraded[..., 2], image[..., 0] / image[..., 2], rtol=1e-4)
    noise = np.random.default_rng(1).integers(0, 4, (50, 60, 3)).astype(np.float32) / 255
    lit = exposure(noise, severity, np.random.default_rng(0))
    by_channel = adjust_gamma(noise, 0.4)
    assert np.ptp(lit, axis=2).max() < 6 / 255
    assert np.ptp(by_channel, axis=2).max() > 30 / 255  # what each channel's own gamma would do


def test_contrast_is_reduced_as_pillow_does():
    image = (random_image(60, 70, 3) * 200 + 20).astype(np.uint8)
    degraded = apply_parameters(image, "reduce_contrast", 1.0, {"factor": 0.4}, "display").image
    expected = np.asarray(ImageEnhance.Contrast(PIL.Image.fromarray(image)).enhance(0.4))
    assert np.abs(degraded.astype(int) - expected).max() <= 1


def test_a_scan_with_coloured_marks_has_grey_noise_and_a_photograph_coloured_noise():
    parameters = {"sigma": 0.05}
    scan = np.full((120, 160, 3), 90, np.uint8)
    scan[40:60, 50:90] = (200, 80, 20)  # flow
    noise = apply_parameters(scan, "gaussian_noise", 1.0, parameters, "display").image.astype(int) - scan
    assert np.ptp(noise[:40], axis=2).max() == 0
    assert noise[:40].std() == pytest.approx(0.05 * 255, rel=0.05)
    photograph = np.full((120, 160, 3), (200, 150, 130), np.uint8)
    noise = apply_parameters(photograph, "gaussian_noise", 1.0, parameters, "display").image.astype(int) - photograph
    assert abs(np.corrcoef(noise[..., 0].ravel(), noise[..., 1].ravel())[0, 1]) < 0.05


def test_noise_has_its_sigma_in_every_channel_and_only_grows():
    image = np.full((200, 300, 3), 128, np.uint8)
    image[..., 0] = 120
    mild, strong = (
        apply_parameters(image, "gaussian_noise", 1.0, {"sigma": sigma}, "display").image.astype(float) - image
        for sigma in (0.03, 0.09)
    )
    assert strong.std(axis=(0, 1)) == pytest.approx(0.09 * 255, rel=0.02)
    assert np.abs(strong.mean(axis=(0, 1))).max() < 0.3
    assert np.abs(np.corrcoef(strong.reshape(-1, 3).T) - np.eye(3)).max() < 0.02
    np.testing.assert_allclose(strong, 3 * mild, atol=2.1)  # the same field, rounded


@pytest.mark.parametrize("type", ["adjust_brightness", "exposure"])
def test_the_direction_is_drawn_once_or_given(type):
    base = np.linspace(60, 190, 40 * 50).reshape(40, 50).astype(np.uint8)
    signs = set()
    for key in range(12):
        image = base.copy()
        image[0, 0] = key
        changes = [(degrade(image, type, level).astype(int) - image).mean() for level in ("L1", 1.3, "L2")]
        assert np.sign(changes[0]) == np.sign(changes[1]) == np.sign(changes[2])
        assert abs(changes[0]) < abs(changes[1]) < abs(changes[2])
        signs.add(np.sign(changes[0]))
        assert (degrade(image, type, "L1", "medq-deg-estimated").astype(int) - image).mean() < 0  # darker
    assert signs == {-1, 1}
    parameters = {**apply_degradation(base, type, "L1").parameters, "direction": "up"}
    with pytest.raises(WardroundError, match="expected lighter, darker or either"):
        apply_parameters(base, type, 1.0, parameters, "display")


def test_an_unknown_method_is_refused():
    with pytest.raises(WardroundError, match="expected cubic or nearest"):
        apply_parameters(
            np.zeros((4, 4), np.uint8), "low_resolution", 1.0, {"factor": 2, "method": "linear"}, "display"
        )


@pytest.mark.parametrize("name", real.NAMES)
@pytest.mark.parametrize("type", GENERAL)
def test_on_real_images_the_error_grows_and_a_faint_disc_stays(type, name):
    image = real.real_image(name)
    first, second = (real.rms_within(real.body(name), degrade(image, type, level), image) for level in ("L1", "L2"))
    assert first >= 2
    if type not in MOTION:  # what those do is a displacement, which is tested above
        assert second > 1.2 * first
    scene = real.planted(name)
    degraded = apply_degradation(scene.image, type, "L2")
    disc, ring = scene.disc, scene.ring
    if type in MOTION:
        disc, ring = (
            by_hand(type, mask.astype(np.float32), degraded.parameters, degraded.seed) > 0.5 for mask in (disc, ring)
        )
    assert real.contrast_to_noise(degraded.image, disc, ring) > 1
