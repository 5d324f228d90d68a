"""Sparse view: a CT scan of few views, reconstructed as it is.

Half a turn is seen from equally spaced angles, and filtered back-projection of these views is the image. It has
straight streaks beside dense structures, and has lost resolution: fine detail that the few views do not hold, and
what a plain reconstruction smooths. `sparse_view_streaks` instead adds softened streaks to the image and keeps its
detail.

`views` are those of an image of 512 pixels or more. A smaller one has less detail that could streak, and fewer views,
by the root of its side: measured on three CT slices, PSNR then stays the same. Or `added` is given: the standard
deviation of the change in soft tissue. Then the views are as many as leave so much of it, which differs from a head
to an abdomen. If a complete scan loses more than this already (of a small image with sharp edges, in a narrow window),
what it loses is left out and the streaks alone are as strong.

Drawn once: the first angle. Twice the views include all of the fewer.
"""

import math

import numpy as np
from numpy.random import Generator

from wardround.degrade.operations.frame import extend_patient, within_frame
from wardround.degrade.operations.projector import complete_view_count, project, reconstruct
from wardround.degrade.operations.soft_tissue import soft_tissue
from wardround.degrade.signature import Image, SeverityParameters

COUNTED_AT = 512  # pixels of the longer side
FIRST_GUESS, FALLS_BY = 140, 1.3  # views; the power of their number by which streaks fall
FEWEST, MOST = 8, 720
ATTEMPTS, NEAR = 5, 0.06  # scans to find the views for a strength; how near, by its logarithm
TOO_STRONG = 1.2  # times the change that is wanted


def sparse_view(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    start = np.pi * rng.random()
    scale = min(1.0, max(image.shape) / COUNTED_AT) ** 0.5
    if "added" in severity:
        return _scan_with_change(image, severity["added"], FIRST_GUESS * scale, start)
    views = max(1, round(severity["views"] * scale))
    return image.copy() if views >= complete_view_count(image.shape) else _scan(image, views, start)


def _scan(image: Image, views: int, start: float) -> Image:
    patient, margin = extend_patient(image)
    angles = start + np.pi * np.arange(views) / views
    weights = np.full(views, np.pi / views)
    sinogram = project(patient, angles)  # its own interpolation is divided out: a scanner has none
    return within_frame(reconstruct(sinogram, angles, weights, patient.shape, interpolations=1), margin)


def _scan_with_change(image: Image, wanted: float, guess: float, start: float) -> Image:
    """The scan that changes soft tissue by this standard deviation."""
    if wanted <= 0.0:
        return image.copy()
    result, strength = _scan_differing(image, image, wanted, guess, start)
    if strength <= TOO_STRONG * wanted:
        return result
    complete = _scan(image, MOST, start)
    result, _ = _scan_differing(image, complete, wanted, guess, start)
    return image + (result - complete)


def _scan_differing(image: Image, reference: Image, wanted: float, guess: float, start: float) -> tuple[Image, float]:
    """The scan of as many views as differ by so much from the reference, and by how much: by secants of logarithms."""
    inside, views, power = soft_tissue(image), guess, FALLS_BY
    known: dict[int, float] = {}
    result, strength = image, 0.0
    for _ in range(ATTEMPTS):
        count = round(min(max(views, FEWEST), MOST))
        if count in known:
            break
        result = _scan(image, count, start)
        strength = float((result - reference)[inside].std())
        if strength <= 0.0:
            break
        if known:
            last = next(reversed(known))
            slope = math.log(known[last] / strength) / math.log(count / last)
            power = min(max(slope, 0.5), 4.0)
        known[count] = strength
        if abs(math.log(strength / wanted)) < NEAR:
            break
        views = count * (strength / wanted) ** (1 / power)
    return result, strength
