"""The three MRI types, against transforms degraded by hand and TorchIO's formula; then on real images."""

import numpy as np
import pytest
import real_images as real

from wardround.core.errors import WardroundError
from wardround.degrade import degrade
from wardround.degrade.operations.body import body_mask
from wardround.degrade.operations.kspace import line_numbers, multiply_lines, smooth_phase
from wardround.degrade.rendering import apply_parameters
from wardround.degrade.severities import load_profile
from wardround.degrade.types.bias_field import bias_field
from wardround.degrade.types.ghosting import ghosting
from wardround.degrade.types.undersampling import kept_lines, line_order, undersampling

MRI = ("bias_field", "undersampling", "ghosting")
SHAPES = [(1, 1), (1, 40), (33, 47), (64, 64)]


def random_image(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).random(shape).astype(np.float32)


def dft(size: int) -> np.ndarray:
    k = np.arange(size)
    return np.exp(-2j * np.pi * np.outer(k, k) / size)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", SHAPES)
def test_lines_are_those_of_a_fourier_transform_along_one_axis(shape, axis):
    image, phase = random_image(*shape), random_image(*shape) * 4
    factors = (random_image(shape[axis]) * np.exp(2j * random_image(shape[axis]))).astype(np.complex64)
    matrix = dft(shape[axis])
    operator = np.linalg.inv(matrix) @ np.diag(factors) @ matrix
    for object_image, object_phase in ((image, None), (image * np.exp(1j * phase), phase)):
        expected = np.abs(operator @ object_image if axis == 0 else object_image @ operator.T)
        np.testing.assert_allclose(multiply_lines(image, axis, factors, object_phase), expected, atol=1e-5)


def test_lines_are_numbered_from_the_centre():
    assert line_numbers(5).tolist() == [0, 1, 2, -2, -1]
    assert line_numbers(4).tolist() == [0, 1, -2, -1]


def test_the_phase_is_smooth():
    phase = smooth_phase((200, 300), np.random.default_rng(0), 1.5)
    assert max(np.abs(np.diff(phase, axis=axis)).max() for axis in (0, 1)) < 0.1
    assert np.ptp(phase) > 1


@pytest.mark.parametrize("count", [1, 2, 7, 64, 300, 511])
@pytest.mark.parametrize("pattern", ["equispaced", "random"])
@pytest.mark.parametrize("profile", ["clinical-1", "medq-deg-estimated"])
def test_worse_images_have_a_subset_of_the_lines_of_better_ones(count, pattern, profile):
    order = line_order(count, pattern, np.random.default_rng(count))
    before = np.ones(count, bool)
    for severity in np.linspace(0, 2, 41):
        row = load_profile(profile).at("undersampling", float(severity))
        lines = kept_lines(order, row["kept"], row["centre"])
        assert lines[0]  # the centre of k-space
        if count > 256:  # a smaller image keeps more lines: its centre is a larger part of it
            assert lines.sum() == pytest.approx(row["kept"] * count, abs=17 + 0.08 * count)
        assert not (lines & ~before).any()
        before = lines


@pytest.mark.parametrize("spacing", [2, 4, 8])
def test_equispaced_lines_are_equally_spaced_outside_the_centre(spacing):
    order = line_order(256, "equispaced", np.random.default_rng(1))
    lines = kept_lines(order, 1 / 16 + 15 / 16 / spacing, 1 / 16)
    outer = np.flatnonzero(lines & (np.abs(line_numbers(256)) > 16))
    gaps = np.diff(outer[outer < 128])
    assert (gaps == spacing).all()
    assert len(gaps) > 10


def test_every_second_line_without_phase_folds_the_image_over():
    image = np.zeros((64, 64), np.float32)
    image[20, 30] = 1
    folded = multiply_lines(image, 0, (line_numbers(64) % 2 == 0).astype(np.complex64))
    assert folded[20, 30] == pytest.approx(0.5, abs=1e-5)
    assert folded[52, 30] == pytest.approx(0.5, abs=1e-5)
    assert folded.sum() == pytest.approx(1, abs=1e-4)


def test_all_lines_kept_is_the_image():
    image = random_image(60, 71)
    severity = {"kept": 1.0, "centre": 0.1, "pattern": "random"}
    np.testing.assert_allclose(undersampling(image, severity, np.random.default_rng(0)), image, atol=1e-5)
    none = {"fewest": 4, "most": 9, "intensity": 0.0}
    np.testing.assert_allclose(ghosting(image, none, np.random.default_rng(0)), image, atol=1e-5)


def test_an_unknown_pattern_is_refused():
    with pytest.raises(WardroundError, match="expected equispaced or random"):
        line_order(16, "radial", np.random.default_rng(0))


def profile_of_ghosts(size: int, severity: dict, key: int) -> np.ndarray:
    """What becomes of one bright pixel in the middle, along the axis that was drawn, from that pixel on."""
    image = np.zeros((size, size), np.float32)
    image[size // 2, size // 2] = 1
    degraded = ghosting(image, severity, np.random.default_rng(key))
    down, across = degraded[:, size // 2].copy(), degraded[size // 2].copy()
    degraded[:, size // 2] = degraded[size // 2] = 0
    assert degraded.max() < 1e-5  # nothing beside the two axes
    return np.roll(max(down, across, key=np.sum), -(size // 2))


@pytest.mark.parametrize("key", range(4))
@pytest.mark.parametrize("ghosts", [4, 6])
def test_ghosts_lie_at_equal_parts_of_the_field_of_view(key, ghosts):
    size = 48 * ghosts
    line = profile_of_ghosts(size, {"fewest": ghosts, "most": ghosts, "intensity": 0.8}, key)
    assert set(np.argsort(line)[-3:]) == {0, 48, size - 48}
    assert line[48] == pytest.approx(line[-48], abs=0.03)  # as strong on either side
    assert np.delete(line, range(0, size, 48)).max() < 0.05


def test_the_number_of_ghosts_is_drawn_once():
    ghost_distances = set()
    for key in range(12):
        places = {
            int(profile_of_ghosts(420, {"fewest": 6, "most": 7, "intensity": intensity}, key)[20:].argmax()) + 20
            for intensity in (0.2, 0.5, 0.9)
        }
        distances = {min(place, 420 - place) for place in places}
        assert len(distances) == 1
        ghost_distances |= distances
    assert ghost_distances == {60, 70}


def test_ghosts_leave_the_mean_brightness():
    image = real.real_image("examples_overlay.dcm").astype(np.float32) / 255
    for key in range(4):
        degraded = ghosting(image, {"fewest": 4, "most": 4, "intensity": 0.8}, np.random.default_rng(key))
        assert degraded.mean() == pytest.approx(image.mean(), rel=0.1)


@pytest.mark.parametrize("key", range(4))
@pytest.mark.parametrize("profile", ["clinical-1", "medq-deg-estimated"])
@pytest.mark.parametrize("type", ["undersampling", "ghosting"])
def test_a_body_that_the_frame_cuts_gets_no_line(type, profile, key):
    """Brighter from corner to corner: neighbours differ by 1 of 255. Before, the frame itself was copied over it."""
    y, x = np.mgrid[:256, :256]
    image = ((y + x) / 2 + 0.5).astype(np.uint8)
    for severity in (1.0, 2.0):
        parameters = load_profile(profile).at(type, severity)
        degraded = apply_parameters(image, type, severity, parameters, "display", seed=f"{key:x}").image.astype(int)
        inner = degraded[16:-16, 16:-16]
        assert max(np.abs(np.diff(inner, axis=axis)).max() for axis in (0, 1)) <= 8, severity


@pytest.mark.parametrize("key", range(6))
def test_a_bias_field_has_its_ratio_inside_the_body(key):
    y, x = np.mgrid[:180, :240]
    inside = ((y - 80) / 60) ** 2 + ((x - 140) / 80) ** 2 < 1
    image = np.where(inside, 0.4, 0.0).astype(np.float32)
    fields = {}
    for ratio in (1.0, 1.6, 2.5, 4.0):
        degraded = bias_field(image, {"ratio": ratio}, np.random.default_rng(key))
        field = degraded[inside] / 0.4
        low, high = np.percentile(field, (2, 98))
        assert high / low == pytest.approx(ratio, rel=0.05)
        assert degraded[inside].mean() == pytest.approx(0.4, rel=0.02)
        assert np.abs(degraded[~inside]).max() == 0
        fields[ratio] = np.log(field)
    # the same field at every severity, only scaled
    assert np.corrcoef(fields[1.6], fields[4.0])[0, 1] == pytest.approx(1, abs=1e-4)
    # and visible over the body, not in a corner: a good part of its range between the quartiles
    assert np.subtract(*np.percentile(fields[4.0], (75, 25))) > 0.2 * np.log(4)


def test_a_coefficient_is_torchios_exponential_polynomial():
    image = random_image(40, 53)
    rng = np.random.default_rng(5)
    y, x = np.meshgrid(np.linspace(-1, 1, 40), np.linspace(-1, 1, 53), indexing="ij")
    exponent = np.zeros((40, 53))
    for i in range(4):
        for j in range(4 - i):
            exponent += 0.5 * rng.uniform(-1, 1) * y**i * x**j
    degraded = bias_field(image, {"coefficient": 0.5}, np.random.default_rng(5))
    np.testing.assert_allclose(degraded, image * np.exp(exponent), rtol=1e-5)


def test_a_bias_field_does_not_light_up_what_is_outside():
    noise = 0.01 * random_image(200, 200)
    noise[60:140, 60:140] += 0.5
    for key in range(5):
        degraded = bias_field(noise, {"ratio": 4.0}, np.random.default_rng(key))
        outside = ~body_mask(noise)
        assert (degraded[outside] <= 5 * noise[outside]).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("type", MRI)
def test_any_size_works(type, shape):
    for image in (random_image(*shape), np.zeros(shape, np.float32), np.ones(shape, np.float32)):
        stored = (image * 255).astype(np.uint8)
        for profile in ("clinical-1", "medq-deg-estimated"):
            degraded = degrade(stored, type, "L2", profile)
            assert degraded.shape == shape


@pytest.mark.parametrize("name", real.MRI)
@pytest.mark.parametrize("type", MRI)
def test_on_real_images_the_error_grows_and_a_faint_disc_stays(type, name):
    image, body = real.real_image(name), real.body(name)
    errors = [real.rms_within(body, degrade(image, type, level), image) for level in ("L1", 1.5, "L2")]
    assert errors[0] >= 2
    assert errors[0] < errors[1] < errors[2]
    scene = real.planted(name)
    assert real.contrast_to_noise(degrade(scene.image, type, "L2"), scene.disc, scene.ring) > 1


def test_the_axis_of_the_lines_does_not_depend_on_the_level():
    image = real.real_image("examples_overlay.dcm")
    for type, parameters in (
        ("undersampling", ({"kept": k, "centre": 0.05, "pattern": "equispaced"} for k in (0.3, 0.6))),
        ("ghosting", ({"fewest": 4, "most": 4, "intensity": i} for i in (0.3, 0.9))),
    ):
        axes = set()
        for row in parameters:
            error = apply_parameters(image, type, 1.0, row, "display").image - image.astype(float)
            spectrum = np.abs(np.fft.fft2(error)) ** 2
            lowest = [np.take(spectrum, [0], axis=axis).sum() for axis in (0, 1)]  # what the spared centre leaves
            axes.add(int(np.argmin(lowest)))
        assert len(axes) == 1


@pytest.mark.parametrize("profile", ["clinical-1", "medq-deg-estimated"])
@pytest.mark.parametrize("name", real.MRI)
def test_a_bias_field_turns_next_to_nothing_white(name, profile):
    """All is darker instead, where the bright side of the field would be above white."""
    image = real.real_image(name)
    shaded = degrade(image, "bias_field", "L2", profile)
    became_white = (shaded == 255) & (image < 255)
    assert became_white[real.body(name)].mean() < 0.01
