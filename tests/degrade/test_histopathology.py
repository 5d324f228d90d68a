"""What lies on a slide: cells absorb by Beer and Lambert, spots take light, a bubble blurs and enlarges."""

import itertools

import numpy as np
import pytest
import real_images as real
from numpy.random import Generator, Philox
from scipy import ndimage
from skimage import data

from wardround.degrade import degrade, load_profile
from wardround.degrade.operations.nuclei import nucleus_radius
from wardround.degrade.operations.overlay import box, noise, opacities
from wardround.degrade.types.blood_cell import DENSITY, blood_cell
from wardround.degrade.types.bubble import bubble
from wardround.degrade.types.dark_spots import ABSORBED, dark_spots

TYPES = {"blood_cell": blood_cell, "dark_spots": dark_spots, "bubble": bubble}
WHITE = np.ones((256, 256, 3), np.float32)
GREY = WHITE[..., 0]
SLIDE = (data.immunohistochemistry() / 255).astype(np.float32)


def rng(key=7):
    return Generator(Philox(key=key))


def draw(type, image, severity, key=7, profile="clinical-1", **parameters):
    return TYPES[type](image, load_profile(profile).at(type, severity) | parameters, rng(key))


def density(image):
    return -np.log(image.astype(np.float64))


def test_cells_absorb_by_beer_and_lambert():
    densities = density(draw("blood_cell", WHITE, 2.0))
    inside = densities[..., 1] > 0.1
    for channel in (0, 2):
        ratio = densities[..., channel][inside] / densities[..., 1][inside]
        assert np.allclose(ratio, DENSITY[channel] / DENSITY[1], rtol=1e-3)


def test_a_cell_more_adds_its_own_density_and_half_a_cell_half_of_it():
    seven, half, eight = (density(draw("blood_cell", GREY, 1.0, cells=cells)) for cells in (7.0, 7.5, 8.0))
    assert np.allclose(half, (seven + eight) / 2, atol=1e-5)
    rows, columns = np.nonzero(np.abs(eight - seven) > 1e-4)
    assert 5 < np.ptp(rows) < 30  # one cell, of radius 0.036 x 256
    assert 5 < np.ptp(columns) < 30


def test_a_cell_is_paler_in_its_middle_than_at_its_rim():
    pale = 0
    for key in range(20):
        densities = density(draw("blood_cell", GREY, 1.0, key=key, cells=1.0, radius=0.1))
        row, column = (int(middle) for middle in ndimage.center_of_mass(densities > 0.2))
        pale += densities[row, column] < 0.8 * densities.max()
    assert pale >= 15


@pytest.mark.parametrize("radius", [3.0, 6.0, 12.0])
def test_cells_are_as_large_as_the_nuclei_of_the_slide(radius):
    """Blue discs on white, far apart: haematoxylin by its usual optical densities."""
    y, x = np.mgrid[:256, :256] % (6 * radius) - 3 * radius
    stained = np.hypot(y, x) < radius
    slide = np.where(stained[..., None], np.exp(-np.array([0.65, 0.70, 0.29])), 0.95).astype(np.float32)
    assert nucleus_radius(slide) == pytest.approx(radius, rel=0.35)
    assert nucleus_radius(np.full((64, 64, 3), 0.9, np.float32)) is None


def test_cells_are_pink():
    red, green, blue = np.exp(-np.array(DENSITY))
    assert red > 0.9
    assert 0.5 < green < blue < 0.8


def test_cells_differ_in_size():
    sizes = [(density(draw("blood_cell", GREY, 1.0, key=key, cells=1.0)) > 0.1).sum() for key in range(40)]
    whole = np.sort(sizes)[8:]  # those at the border are cut
    assert whole.max() > 1.5 * whole.min()


@pytest.mark.parametrize(("severity", "share"), [(1.0, 0.17), (2.0, 0.42)])
def test_estimated_cells_cover_the_share_that_was_read_off_the_paper(severity, share):
    covered = [
        (density(draw("blood_cell", GREY, severity, key, "medq-deg-estimated")) > 0.05).mean() for key in range(40)
    ]
    assert np.mean(covered) == pytest.approx(share, abs=0.03)


def test_a_spot_takes_its_depth_at_most_and_leaves_brown():
    degraded = draw("dark_spots", WHITE, 2.0, spots=1.0, radius=0.2, depth=0.5)
    assert degraded.min(axis=(0, 1)) == pytest.approx([1 - 0.5 * share for share in ABSORBED], abs=0.02)
    red, green, blue = degraded[degraded[..., 1] < 0.9].mean(axis=0)
    assert red > green > blue


def test_a_spot_has_a_soft_and_irregular_border():
    absorbed = 1 - draw("dark_spots", GREY, 2.0, spots=1.0, radius=0.2)
    core = absorbed > absorbed.max() / 2
    rim = np.hypot(*(np.argwhere(core ^ ndimage.binary_erosion(core)) - np.argwhere(core).mean(axis=0)).T)
    assert rim.std() > 0.08 * rim.mean()  # no circle
    steps = np.abs(np.diff(absorbed, axis=1)).max()
    assert 0 < steps < 0.35 * absorbed.max()  # no edge from one pixel to the next


@pytest.mark.parametrize("type", ["dark_spots", "blood_cell", "bubble"])
def test_a_finer_image_shows_the_same_thing(type):
    coarse, fine = (draw(type, np.full((size, size), 0.8, np.float32), 2.0) for size in (256, 512))
    smaller = fine.reshape(256, 2, 256, 2).mean(axis=(1, 3))
    assert np.abs(smaller - coarse).mean() < 0.15 * np.abs(coarse - 0.8).mean()


def test_a_bubble_without_a_rim_is_a_blurred_disc():
    degraded = draw("bubble", SLIDE, 2.0, profile="medq-deg-estimated", rim=0.0, blur=0.02)
    blurred = ndimage.gaussian_filter(SLIDE, (10.24, 10.24, 0), mode="reflect", truncate=3.0)
    changed = (degraded != SLIDE).any(axis=2)
    inside = ndimage.binary_erosion(changed, iterations=16)
    assert changed.mean() == pytest.approx(np.pi * 0.355**2, rel=0.12)
    assert np.abs(degraded - blurred)[inside].max() < 1e-3
    assert np.array_equal(degraded[~changed], SLIDE[~changed])


def test_a_bubble_enlarges_what_lies_beneath():
    ramp = np.tile(np.linspace(0, 1, 256, dtype=np.float32), (256, 1))
    plain, lens = (np.diff(draw("bubble", ramp, 1.0, rim=rim), axis=1) for rim in (0.0, 1.0))
    row, column = (int(middle) for middle in ndimage.center_of_mass(draw("bubble", ramp, 1.0, rim=1.0) != ramp))
    here = np.s_[row - 4 : row + 5, column - 4 : column + 5]
    assert 0.6 < lens[here].mean() / plain[here].mean() < 0.9


def test_the_rim_is_dark_uneven_and_thin():
    degraded = draw("bubble", np.full((512, 512), 0.6, np.float32), 1.0, radius=0.2)
    dark = degraded < 0.5
    assert 0 < dark.mean() < 0.2 * np.pi * 0.2**2
    row, column = ndimage.center_of_mass(ndimage.binary_fill_holes(dark))
    down, across = np.nonzero(dark)
    sector = ((np.arctan2(down - row, across - column) + np.pi) / (2 * np.pi) * 12).astype(int) % 12
    counts = np.bincount(sector, minlength=12)
    assert counts.max() > 1.7 * max(1, counts.min())
    assert (degraded > 0.7).any()  # the bright line


def test_two_bubbles_lie_apart():
    for key in range(30):
        flat = np.full((256, 256), 0.6, np.float32)
        one, two = (draw("bubble", flat, 2.0, key=key, bubbles=number) != flat for number in (1.0, 2.0))
        assert (two & ~one).sum() > 0.5 * (two.sum() - one.sum()) > 0


@pytest.mark.parametrize("type", TYPES)
def test_what_l1_shows_l2_shows_too(type):
    """Only the count grows here: what was drawn first stays as it is."""
    counted = {"blood_cell": "cells", "dark_spots": "spots", "bubble": "bubbles"}[type]
    before, _, after = (draw(type, SLIDE, 1.5, **{counted: number}) for number in (1.0, 1.5, 2.0))
    changed = (before != SLIDE).any(axis=2)
    kept = changed & (before == after).all(axis=2)
    assert kept.sum() > 0.5 * changed.sum()


@pytest.mark.parametrize("profile", ["clinical-1", "medq-deg-estimated"])
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("image", [SLIDE, SLIDE[:300, :, 1]], ids=["colour", "grey"])
def test_error_grows_steadily_from_l0_over_l1_to_l2(type, image, profile):
    stored = np.rint(image * 255).astype(np.uint8)
    errors = [
        np.sqrt(np.mean((degrade(stored, type, severity, profile) - stored.astype(float)) ** 2))
        for severity in (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
    ]
    assert errors == sorted(errors)
    assert errors[4] >= 2
    assert errors[8] > 1.3 * errors[4]
    assert max(np.diff(errors)) < 0.45 * errors[8]


@pytest.mark.parametrize("type", TYPES)
def test_on_a_real_slide_a_faint_disc_stays_where_it_is_not_covered(type):
    scene = real.planted("immunohistochemistry")
    assert real.contrast_to_noise(degrade(scene.image, type, "L2"), scene.disc, scene.ring) > 1

    slide = real.real_image("immunohistochemistry")
    y, x = np.mgrid[:512, :512]
    contrasts = []
    for down, across in itertools.product(range(60, 460, 100), repeat=2):
        away = np.hypot(y - down, x - across)
        disc, ring = away <= 10, (away > 13) & (away <= 22)
        around = real.luma(slide)[ring]
        marked = slide.astype(float)
        marked[disc] = slide[ring].mean(axis=0) + max(25.5, 2 * around.std()) * (1 if around.mean() < 128 else -1)
        degraded = degrade(np.clip(marked, 0, 255).round().astype(np.uint8), type, "L2")
        contrasts.append(real.contrast_to_noise(degraded, disc, ring))
    assert np.mean(np.array(contrasts) > 1) >= 0.75
    assert min(contrasts) < 1.5 < max(contrasts)  # what is covered is hard to see, the rest is not


@pytest.mark.parametrize("shape", [(1, 1), (1, 1, 3), (1, 70), (70, 1, 3), (2, 3), (33, 64, 3)])
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("severity", [0.01, 1.0, 2.0])
def test_any_size_is_drawn(type, shape, severity):
    for profile in ("clinical-1", "medq-deg-estimated"):
        for value in (0.0, 0.5, 1.0):
            image = np.full(shape, value, np.float32)
            kept = image.copy()
            degraded = draw(type, image, severity, profile=profile)
            assert (degraded.shape, degraded.dtype) == (shape, np.float32)
            assert np.isfinite(degraded).all()
            assert np.array_equal(image, kept)


def test_opacities_are_whole_but_for_the_last():
    assert opacities(0.0) == []
    assert opacities(2.0) == [1.0, 1.0]
    assert opacities(2.25) == [1.0, 1.0, 0.25]


def test_noise_is_a_cubic_spline():
    knots = rng().random((9, 12)).astype(np.float32)
    down, across = np.linspace(1, 7, 23, dtype=np.float32), np.linspace(1, 10, 31, dtype=np.float32)
    expected = ndimage.map_coordinates(
        knots.astype(float), np.meshgrid(down, across, indexing="ij"), order=3, prefilter=False
    )
    assert np.allclose(noise(knots, down[:, None], across[None]), expected, atol=1e-5)


def test_a_box_is_cut_to_the_image():
    part = box((10, 20), 1.5, 19.0, 3.0)
    assert part.place == (slice(0, 6), slice(16, 20))
    assert part.down.ravel().tolist() == [-1.5, -0.5, 0.5, 1.5, 2.5, 3.5]
    assert part.across.ravel().tolist() == [-3, -2, -1, 0]
