"""The three CT types, against scikit-image's radon and iradon, an analytic disc and the theory of noise.

The planted disc: 10% of the display range, or 40 HU; radius 3% of the shorter side, in the flattest grey place of the
body. Its contrast is that of its mean to the mean of the ring around it, over the standard deviation in the ring.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pydicom
import pytest
from numpy.random import Generator, Philox
from pydicom.data import get_testdata_file
from scipy.ndimage import gaussian_filter
from scipy.signal import fftconvolve
from scipy.stats import norm, poisson
from skimage.transform import iradon, radon

from wardround.cases.images import pixels, recipe_for
from wardround.core.case import Image
from wardround.degrade import apply_degradation, degrade, load_profile
from wardround.degrade.operations.body import body_mask
from wardround.degrade.operations.poisson import poisson_counts
from wardround.degrade.operations.projector import complete_view_count, pitch, project, reconstruct
from wardround.degrade.types.limited_angle import limited_angle
from wardround.degrade.types.low_dose import low_dose
from wardround.degrade.types.sparse_view import sparse_view
from wardround.degrade.variants.sparse_view_streaks import ABOVE, BELOW, sparse_view_streaks

Pixels = np.ndarray[Any, Any]
CTS = ["J2K_pixelrep_mismatch.dcm", "CT_small.dcm", "693_UNCI.dcm"]
CT_TYPES = ["limited_angle", "sparse_view", "low_dose"]
BOTH = pytest.mark.parametrize("space", ["display", "hu"])
EVERY_CT = pytest.mark.parametrize("name", CTS)
EVERY_TYPE = pytest.mark.parametrize("type", CT_TYPES)
HEAD = "J2K_pixelrep_mismatch.dcm"


@lru_cache
def stored(name: str, space: str) -> Pixels:
    """A real CT as it is shown, or in Hounsfield units."""
    path = get_testdata_file(name, download=False)
    if path is None:
        pytest.skip("pydicom-data is not installed")
    if space == "display":
        return pixels(path, None, recipe_for(Image(path=path, modality="CT")))
    file = pydicom.dcmread(path)
    return (file.pixel_array * int(file.RescaleSlope) + int(file.RescaleIntercept)).astype(np.int16)


def attenuation(name: str, space: str) -> Pixels:
    values = stored(name, space).astype(np.float32)
    return np.maximum(values + 1000, 0) / 1000 if space == "hu" else values / 255


def shown(values: Pixels) -> Pixels:
    """In grey levels; Hounsfield units in the soft tissue window."""
    return values.astype(float) if values.dtype == np.uint8 else np.clip((values - 40.0) / 400.0 + 0.5, 0, 1) * 255


def fresh() -> Generator:
    return Generator(Philox(key=7))


def half_turn(views: int, start: float = 0.1) -> Pixels:
    return start + np.pi * np.arange(views) / views


def rms(values: Pixels) -> float:
    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64))))


def disc(side: int, radius: float, across: float = 0.0, down: float = 0.0) -> Pixels:
    """With its edge pixels covered in part, as the mean of 8 x 8 points in each."""
    at = (np.arange(8 * side) + 0.5) / 8 - side / 2
    covered = np.hypot(at[None] - across, at[:, None] - down) < radius
    return covered.reshape(side, 8, side, 8).mean(axis=(1, 3)).astype(np.float32)


def test_line_integrals_of_a_disc_are_its_chords() -> None:
    angles = half_turn(90)
    sinogram = project(disc(256, 70, 20, -31), angles)
    bins = np.arange(512) - 511 / 2
    at = bins * np.where(np.abs(np.cos(angles)) >= np.abs(np.sin(angles)), np.cos(angles), np.sin(angles))[:, None]
    away = at - (20 * np.cos(angles) - 31 * np.sin(angles))[:, None]
    chords = 2 * np.sqrt(np.maximum(70**2 - away**2, 0))
    assert rms(sinogram - chords) < 0.006 * rms(chords)


def test_line_integrals_agree_with_scikit_image() -> None:
    image = attenuation("CT_small.dcm", "hu")
    degrees = np.array([0.0, 17.0, 45.0, 71.0, 90.0, 123.0, 166.0])
    theirs = radon(image, -degrees, circle=False)  # their angles turn the other way
    bins = theirs.shape[0]
    theirs_at = np.arange(bins) - bins // 2
    angles = np.deg2rad(degrees)
    for view, angle in enumerate(angles):
        line = project(image, angles[view : view + 1])[0]
        axis = np.cos(angle) if abs(np.cos(angle)) >= abs(np.sin(angle)) else np.sin(angle)
        at = (np.arange(len(line)) - (len(line) - 1) / 2) * axis
        at -= 0.5 * (np.sin(angle) + np.cos(angle))  # they turn around pixel 64, not around the middle, 63.5
        order = np.argsort(at)
        ours = np.interp(theirs_at, at[order], line[order])
        assert rms(ours - theirs[:, view]) < 0.03 * rms(theirs[:, view]), degrees[view]


def test_every_view_holds_the_whole_mass() -> None:
    image = attenuation("CT_small.dcm", "display")[:, :90]
    angles = half_turn(40)
    assert project(image, angles).sum(axis=1) * pitch(angles) == pytest.approx(image.sum(), rel=1e-5)


@BOTH
def test_a_complete_scan_gives_the_image_back_better_than_scikit_image_does(space: str) -> None:
    image = attenuation(HEAD, space).reshape(128, 4, 128, 4).mean(axis=(1, 3))
    angles = half_turn(240, 0.0)
    ours = reconstruct(project(image, angles), angles, np.full(240, np.pi / 240), image.shape, interpolations=2)
    theirs = iradon(radon(image, np.rad2deg(angles), circle=False), np.rad2deg(angles), circle=False, output_size=128)
    inside = body_mask(image)
    assert rms((ours - image)[inside]) < 0.75 * rms((theirs - image)[inside])


def test_an_image_that_is_not_square_is_what_it_is_in_a_square_frame() -> None:
    image = attenuation("CT_small.dcm", "display")[:100, 10:70]
    square = np.zeros((100, 100), np.float32)
    square[:, 20:80] = image
    angles, weights = half_turn(60), np.full(60, np.pi / 60)
    ours = reconstruct(project(image, angles), angles, weights, image.shape)
    framed = reconstruct(project(square, angles), angles, weights, square.shape)[:, 20:80]
    assert np.abs(ours - framed).max() < 3e-3  # the cutoff falls on other frequencies


def scikit_image_scan(image: Pixels, start: float) -> tuple[Pixels, Pixels]:
    """360 views over half a turn from our angle `start`, and their angles in scikit-image's sense."""
    degrees = -np.rad2deg(half_turn(360, start))
    return radon(image, degrees, circle=False), degrees


def reconstructed(sinogram: Pixels, degrees: Pixels, side: int) -> Pixels:
    """They weigh the views as if they were half a turn, however few there are."""
    return iradon(sinogram, degrees, circle=False, output_size=side)


def test_few_views_are_reconstructed_as_scikit_image_does() -> None:
    """The image itself is what filtered back-projection makes of the views, streaks and lost detail alike."""
    image = np.pad(attenuation("CT_small.dcm", "hu"), 16)
    inside = np.pad(body_mask(image[16:-16, 16:-16]), 16)
    inside[[16, 17, 18, -19, -18, -17]] = inside[:, [16, 17, 18, -19, -18, -17]] = False
    for views in (60, 40):
        degrees = -np.rad2deg(half_turn(views, np.pi * fresh().random()))
        theirs = iradon(radon(image, degrees, circle=False), degrees, circle=False, output_size=len(image))
        ours = sparse_view(image, {"views": views / np.sqrt(len(image) / 512)}, fresh())
        lost, their_loss = (ours - image)[inside], (theirs - image)[inside]
        assert rms(ours[inside] - theirs[inside]) < 0.65 * rms(their_loss), views
        assert np.corrcoef(lost, their_loss)[0, 1] > 0.8, views


def test_few_views_lose_resolution_and_streaks_alone_do_not() -> None:
    """The share of a fine texture that is left, by regression on it."""
    texture = gaussian_filter(fresh().normal(size=(256, 256)), 0.7) * disc(256, 80)
    image = (disc(256, 100) + 0.1 * texture / texture.std()).astype(np.float32)
    left = [
        float(np.sum((draw(image, {"views": 30}, fresh()) - disc(256, 100)) * texture) / np.sum(texture**2))
        / float(np.sum((image - disc(256, 100)) * texture) / np.sum(texture**2))
        for draw in (sparse_view, sparse_view_streaks)
    ]
    assert left[0] < 0.9
    assert left[1] > left[0] + 0.05


LARGE = [pytest.param(name, marks=pytest.mark.slow) for name in (CTS[0], CTS[2])]


@BOTH
@pytest.mark.parametrize("name", [*LARGE, "CT_small.dcm"])
def test_streaks_and_shadows_have_the_energy_that_scikit_image_gives_them(name: str, space: str) -> None:
    image = np.pad(attenuation(name, space), 16)  # nothing touches the frame, which they do not extend
    inside = np.pad(body_mask(image[16:-16, 16:-16]), 16)
    size = len(image) / 512
    inside[[16, 17, 18, -19, -18, -17]] = inside[:, [16, 17, 18, -19, -18, -17]] = False
    inside[[0, 1, 2, -3, -2, -1]] = inside[:, [0, 1, 2, -3, -2, -1]] = False  # they pad with half-covered pixels
    direction = fresh().random()
    sinogram, degrees = scikit_image_scan(image, np.pi * direction)
    full = reconstructed(sinogram, degrees, len(image))
    for step in (6, 3) if size > 1 else (9, 6):  # of 160 pixels, 120 views leave next to nothing
        views = 360 // step
        expected = (reconstructed(sinogram[:, ::step], degrees[::step], len(image)) - full)[inside]
        counted_at_512 = views / size ** (BELOW if size < 1 else ABOVE)
        added = (sparse_view_streaks(image, {"views": counted_at_512}, fresh()) - image)[inside]
        assert np.sum(added**2) == pytest.approx(np.sum(expected**2), rel=0.2), views
        assert np.corrcoef(added, expected)[0, 1] > 0.7, views
    missing = np.arange(-30, 30) % 360  # half a degree each, around the drawn direction
    expected = -reconstructed(sinogram[:, missing], degrees[missing], len(image))[inside] * 60 / 360
    added = (limited_angle(image, {"degrees": 150, "level": "lost"}, fresh()) - image)[inside]
    assert np.sum(added**2) == pytest.approx(np.sum(expected**2), rel=0.2)
    assert np.corrcoef(added, expected)[0, 1] > 0.95


@BOTH
@EVERY_CT
@pytest.mark.parametrize("level", ["L1", "L2"])
def test_noise_inside_the_body_has_its_target(name: str, space: Any, level: str) -> None:
    image = stored(name, space)
    row = load_profile().at("low_dose", float(level[1]), space)
    target = row["noise"] if space == "display" else row["noise_of_window"] * 0.4  # 400 HU, the window of soft tissue
    added = degrade(image, "low_dose", level, space=space) - np.maximum(image.astype(float), -1000)
    unit = 1000 if space == "hu" else 255
    padding = image < -1500 if space == "hu" else np.zeros(image.shape, bool)  # which stays what it was
    assert added[body_mask(image) & ~padding].std() == pytest.approx(target * unit, rel=0.2)


@pytest.mark.parametrize("photons", [1e5, 1e4])
def test_noise_behind_a_cylinder_is_what_theory_says(photons: float) -> None:
    """The variance at the centre is pi^2 / 12 views times that of a line integral (ramp filter, unit bins).

    The noise is that of an image of 512 pixels, whose cylinder is as many times wider.
    """
    image = disc(192, 80)
    views = complete_view_count(image.shape)
    draws = [Generator(Philox(key=key)) for key in range(8)]  # one alone is off by up to a sixth
    noise = np.stack([low_dose(image, {"photons": photons}, rng) - image for rng in draws])
    variance = np.pi**2 / (12 * views) / (photons * 720 / views * np.exp(-5))
    centre = np.hypot(*(np.mgrid[:192, :192] - 95.5)) < 12
    assert noise[:, centre].std() == pytest.approx(np.sqrt(variance) * 160 / 5 * 512 / 192, rel=0.15)


@pytest.mark.parametrize("mean", [0.3, 4.0, 9.9, 10.0, 33.0, 1234.5, 4e6])
def test_counts_are_those_of_poissons_law(mean: float) -> None:
    """scipy's quantiles at the same probabilities; of a mean of millions, where a count is nothing, within one."""
    size = 50_000 if mean < 1e6 else 10_000  # scipy takes long for millions
    field = fresh().standard_normal(size, dtype=np.float32)
    counts = poisson_counts(np.full(size, mean), field)
    exact = poisson.ppf(norm.cdf(field.astype(np.float64)), mean)
    assert np.abs(counts - exact).max() <= 1
    assert (counts != exact).mean() < (1e-3 if mean < 1e6 else 0.01)
    assert counts.mean() == pytest.approx(mean, rel=0.02)
    assert counts.var() == pytest.approx(mean, rel=0.03)


@pytest.mark.parametrize("doses", [({"noise": 0.01}, {"noise": 0.05}), ({"photons": 1e6}, {"photons": 1e4})])
def test_less_dose_scales_the_same_noise(doses: tuple[dict[str, float], dict[str, float]]) -> None:
    image = attenuation("CT_small.dcm", "hu")
    mild, severe = (low_dose(image, dose, fresh()) - image for dose in doses)
    assert np.corrcoef(mild.ravel(), severe.ravel())[0, 1] > 0.97
    assert severe.std() > 4 * mild.std()


def test_few_views_are_among_twice_as_many() -> None:
    """Where the rays of a spot run, those of twice the views run too, at half the weight."""
    image = disc(512, 4)
    few, many = (sparse_view(image, {"views": views}, fresh()) for views in (8, 16))
    ring = np.abs(np.hypot(*(np.mgrid[:512, :512] - 255.5)) - 180) < 16
    rays = few[ring] > np.quantile(few[ring], 0.9)
    assert many[ring][rays].mean() == pytest.approx(0.5 * few[ring][rays].mean(), rel=0.2)


def test_a_missing_angle_widens_around_its_middle() -> None:
    """The spectrum of what a disc loses lies around one direction, the drawn one, ever wider."""
    image = disc(128, 20)
    down, across = np.fft.fftfreq(256)[:, None], np.fft.fftfreq(256)[None]
    mid = (np.hypot(down, across) > 0.03) & (np.hypot(down, across) < 0.3)
    turns = np.exp(2j * np.arctan2(down, across))
    narrowness = []
    for degrees in (170, 150, 120):
        lost = image - limited_angle(image, {"degrees": degrees, "level": "lost"}, fresh())
        power = np.abs(np.fft.fft2(lost, (256, 256))) ** 2 * mid
        around = (power * turns).sum() / power.sum()
        assert np.angle(around * np.exp(-2j * np.pi * fresh().random())) == pytest.approx(0, abs=0.05)
        narrowness.append(abs(around))
    assert narrowness[0] > narrowness[1] > narrowness[2]


def test_the_level_of_the_body_can_be_kept() -> None:
    image = attenuation(HEAD, "hu")
    body = body_mask(image)
    lost, kept = (limited_angle(image, {"degrees": 150, "level": level}, fresh()) for level in ("lost", "kept"))
    assert lost[body].mean() < 0.9 * image[body].mean()
    assert kept[body].mean() == pytest.approx(image[body].mean(), rel=1e-4)


def test_the_frame_of_a_cropped_patient_is_no_edge() -> None:
    """A constant image that fills its frame stays smooth where its frame runs along the missing rays."""

    class Upright(Generator):
        def random(self) -> float:  # type: ignore[override]
            return 0.0

    left = limited_angle(np.ones((96, 96), np.float32), {"degrees": 150, "level": "kept"}, Upright(Philox(key=7)))
    assert np.abs(np.diff(left, axis=1)).max() < 0.1


def test_few_views_of_a_cropped_patient_show_no_line_along_the_frame() -> None:
    """A patient who is cut is alike at the frame and inside: before, the first row was 20% brighter."""
    image = np.ones((128, 128), np.float32)
    streaks = np.abs(sparse_view(image, {"views": 60}, fresh()) - image)
    assert streaks[0].mean() < 3 * streaks[32:96, 32:96].mean() + 0.01


@pytest.mark.parametrize("profile", ["clinical-1", "medq-deg-estimated"])
@pytest.mark.parametrize("type", ["limited_angle", "sparse_view"])
def test_in_hounsfield_units_a_head_and_an_abdomen_get_the_same_strength(type: str, profile: str) -> None:
    for level in ("L1", "L2"):
        share = load_profile(profile).at(type, float(level[1]), "hu")["added_of_window"]
        for name, window in ((HEAD, 400.0), (HEAD, 80.0), ("explicit_VR-UN.dcm", 400.0)):
            image = stored(name, "hu")
            body = body_mask(np.maximum(image, -1000) + 1000)
            soft = body & (image > -150) & (image < 150)
            degraded = apply_degradation(image, type, level, profile, "hu", window).image
            strength = (degraded.astype(float) - image)[soft].std()
            assert strength == pytest.approx(share * window, rel=0.3), (name, window)


def test_a_head_in_the_window_of_the_brain_stays_readable() -> None:
    """Before, a level was the same for every window: at 80 HU wide, L2 left 12 to 15 dB of the head."""
    image = stored(HEAD, "hu")
    body = body_mask(np.maximum(image, -1000) + 1000)

    def brain(values: Pixels) -> Pixels:
        return np.clip((values - 35.0) / 80.0 + 0.5, 0, 1)

    for profile in ("clinical-1", "medq-deg-estimated"):
        for type in CT_TYPES:
            degraded = apply_degradation(image, type, "L2", profile, "hu", 80.0).image
            decibels = -20 * np.log10(rms((brain(degraded) - brain(image))[body]))
            assert 18 < decibels < 32, (profile, type)


def test_where_no_view_is_lost_nothing_changes() -> None:
    image = attenuation("CT_small.dcm", "display")
    assert (limited_angle(image, {"degrees": 180, "level": "lost"}, fresh()) == image).all()
    assert (sparse_view(image, {"views": 720}, fresh()) == image).all()
    assert (low_dose(image, {"noise": 0.0}, fresh()) == image).all()


@EVERY_TYPE
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (7, 1), (2, 3), (5, 13), (64, 64)])
@pytest.mark.parametrize("value", [0, 1, 255])
def test_any_shape_and_any_constant_gives_finite_greys(type: str, shape: tuple[int, int], value: int) -> None:
    image = np.full(shape, value, np.uint8)
    for level in ("L1", 1.37, "L2"):
        degraded = degrade(image, type, level)
        assert degraded.shape == shape
        assert degraded.dtype == np.uint8
    hounsfield = degrade(np.full(shape, 4.0 * value - 1000, np.float32), type, "L2", space="hu")
    assert np.isfinite(hounsfield).all()


class Planted(NamedTuple):
    image: Pixels
    inside: Pixels
    ring: Pixels

    def contrast_to_noise(self, values: Pixels) -> float:
        return float((values[self.inside].mean() - values[self.ring].mean()) / values[self.ring].std())


def planted(image: Pixels) -> Planted:
    radius = max(2, round(0.03 * min(image.shape)))
    rows, columns = np.ogrid[: image.shape[0], : image.shape[1]]
    near = np.hypot(*np.ogrid[-3 * radius : 3 * radius + 1, -3 * radius : 3 * radius + 1]) <= 2.5 * radius
    mean, square, body = (
        fftconvolve(plane, near / near.sum(), "same")
        for plane in (shown(image), shown(image) ** 2, body_mask(image) * 1.0)
    )
    fitting = (body > 0.999) & (mean > 60) & (mean < 215)  # neither black nor white: the disc is not cut off
    down, across = np.unravel_index(np.where(fitting, square - mean**2, np.inf).argmin(), image.shape)
    away = np.hypot(rows - down, columns - across)
    contrast = 40 if image.dtype == np.int16 else 25.5
    with_disc = np.rint(image + contrast * (away <= radius)).astype(image.dtype)
    return Planted(with_disc, away <= 0.8 * radius, (away > 1.3 * radius) & (away <= 2.5 * radius))


@BOTH
@pytest.mark.parametrize("name", [*CTS, "explicit_VR-UN.dcm"])
@EVERY_TYPE
def test_real_images_get_worse_and_stay_readable(type: str, name: str, space: Any) -> None:
    image = stored(name, space)
    body = body_mask(image)
    mild, severe = (
        rms((shown(degrade(image, type, level, space=space)) - shown(image))[body]) for level in ("L1", "L2")
    )
    assert 2 <= mild < severe
    scene = planted(image)
    contrasts = []
    for draw in range(8):  # of one draw alone the contrast varies by a tenth
        scene.image[0, 0] += draw > 0
        contrasts.append(scene.contrast_to_noise(degrade(scene.image, type, "L2", space=space).astype(float)))
    assert np.mean(contrasts) > 1


@pytest.mark.parametrize("profile", ["clinical-1", "medq-deg-estimated"])
def test_a_small_head_in_a_narrow_window_has_its_levels_of_sparse_view(profile):
    """Before, a complete scan of it lost more than both levels stand for: L1 was L2, with 19.7 dB."""
    large = np.maximum(stored(HEAD, "hu"), -1024)
    small = large.reshape(128, 4, 128, 4).mean(axis=(1, 3)).round().astype(np.int16)
    by_size = []
    for clean in (small, large):
        body = body_mask(in_window(clean).astype(np.uint8))
        copies = [apply_degradation(clean, "sparse_view", level, profile, "hu", 100.0).image for level in ("L1", "L2")]
        errors = [rms((in_window(copy) - in_window(clean))[body]) for copy in copies]
        by_size.append([20 * math.log10(255 / error) for error in errors])
    (mild, severe), (mild_large, severe_large) = by_size
    assert mild > severe + 3
    assert mild == pytest.approx(mild_large, abs=2.5)
    assert severe == pytest.approx(severe_large, abs=2.5)


def in_window(values: Pixels) -> Pixels:
    """Of 100 HU around 40, in grey levels."""
    return np.clip((values - 40.0) / 100.0 + 0.5, 0, 1) * 255
