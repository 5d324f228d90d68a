"""Low dose: a CT scan with little X-ray, whose image is grainy, with streaks along the rays that few photons pass.

The image is projected. A bin counts photons, by Poisson's law, of which I0 exp(-line integral) pass on average. The
logarithm of the count, less that of its mean, is the noise of the line integral; it is reconstructed and added to the
image, which a complete scan gives back and which is otherwise left as it is. A bin that no photon reaches counts half
of one. `low_dose_normal` instead draws normal noise, which it scales.

Attenuation is the grey value, 0 being air (or that of water = 1 in Hounsfield space), scaled so that the densest
ray has a line integral of 5, as through a large patient: the size of a pixel is not known. `photons` is I0 for a
bin one pixel wide in a scan of 720 views of 512 pixels; in an image of another size the noise is as strong. Or
`noise` is given: the standard deviation that is added inside the body, in the units of the image; I0 is then what
gives that.

Drawn once: the chance of every bin. Dose decides how many photons that is.
"""

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.random import Generator

from wardround.degrade.operations.body import body_mask
from wardround.degrade.operations.logarithms import exp_of, log_ratio
from wardround.degrade.operations.normals import standard_normals
from wardround.degrade.operations.poisson import poisson_counts
from wardround.degrade.operations.projector import complete_view_count, pitch, project, reconstruct
from wardround.degrade.signature import Image, SeverityParameters

DENSEST = 5.0  # line integral
SCAN_VIEWS, COUNTED_AT = 720, 512
NO_PHOTON = 0.5
FEWEST = 0.001  # photons that pass on average, at least: the logarithm of none is infinite
SAMPLED = 4  # of so many views one is looked at to find the dose for a noise


def low_dose(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    views = complete_view_count(image.shape)
    angles = np.pi * (np.arange(views) + 0.5) / views
    weights = np.full(views, np.pi / views)
    lines = project(image, angles)
    densest = float(lines.max())
    if densest <= 0.0:
        return image.copy()
    field, pitches = standard_normals(lines.shape, rng), pitch(angles)
    if "photons" in severity:  # fewer views than in the scan: each has the photons of several
        dose, strength = severity["photons"] * SCAN_VIEWS / views, densest / DENSEST * COUNTED_AT / max(image.shape)
    else:
        some = slice(0, None, SAMPLED)
        noise = _noise_of_one_photon(lines[some], field[some], pitches[some], -DENSEST / densest)
        sample = reconstruct(noise, angles[some], weights[some], image.shape, interpolations=1)
        strength = densest / DENSEST
        # the noise of the views is independent: its variance is proportional to their number
        of_one = strength * float(sample[body_mask(image)].std()) * math.sqrt(views / len(noise))
        if severity["noise"] <= 0.0 or of_one <= 0.0:
            return image.copy()
        dose = (of_one / severity["noise"]) ** 2
    noise = _noise_of_counts(lines, field, pitches, -DENSEST / densest, dose)
    result = reconstruct(noise, angles, weights, image.shape, interpolations=1)
    result *= np.float32(strength)
    result += image
    return result


@njit(cache=True, nogil=True, error_model="numpy")
def _noise_of_one_photon(lines: Any, field: Any, pitches: Any, factor: float) -> Any:  # pragma: no cover
    """Normal noise of the line integrals, as strong as that of one photon in a bin one pixel wide."""
    noise = np.empty(lines.shape, np.float32)
    for view in range(len(lines)):
        passed = exp_of(lines[view], factor) * pitches[view]
        _round_to(noise[view], field[view] / np.sqrt(passed))
    return noise


@njit(cache=True, nogil=True, error_model="numpy")
def _noise_of_counts(lines: Any, field: Any, pitches: Any, factor: float, dose: float) -> Any:  # pragma: no cover
    """The logarithm of the mean count of each bin less that of what it counts; view by view, within the cache."""
    noise = np.empty(lines.shape, np.float32)
    for view in range(len(lines)):
        mean = np.maximum(exp_of(lines[view], factor) * (pitches[view] * dose), FEWEST)
        counts = np.maximum(poisson_counts(mean, field[view]), NO_PHOTON)
        _round_to(noise[view], log_ratio(mean, counts))
    return noise


@njit(inline="always")
def _round_to(single: Any, values: Any) -> None:  # pragma: no cover
    for place in range(len(single)):  # to assign them at once takes two seconds more to compile
        single[place] = values[place]
