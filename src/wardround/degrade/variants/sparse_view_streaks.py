"""Streaks of a sparse view alone: those of a CT scan of few views, added to an image that keeps its detail.

A variant of `sparse_view` for who wants the artefact without the loss of resolution.

Half a turn is seen from equally spaced angles; filtered back-projection from so few leaves straight streaks beside
dense structures. A complete scan gives the image back, so what the few views give less the image is the streaks:
these are added, softened as much as usual reconstructions do, and the image is otherwise left as it is.

`views` are those of an image of 512 pixels. A smaller one has less detail that could streak, and fewer views; a larger
one has a few more: by powers of the side, measured on three CT slices, at which PSNR stays the same. `added`, if it
is there, is the standard deviation of the streaks in soft tissue: what comes out otherwise is scaled to it.

Drawn once: the first angle. Twice the views include all of the fewer.
"""

import numpy as np
from numpy.random import Generator

from wardround.degrade.operations.blur import convolve
from wardround.degrade.operations.frame import extend_patient, within_frame
from wardround.degrade.operations.projector import complete_view_count, project, reconstruct
from wardround.degrade.operations.soft_tissue import scale_to
from wardround.degrade.signature import Image, SeverityParameters

COUNTED_AT = 512  # pixels of the longer side
BELOW, ABOVE = 0.62, 0.18  # powers of the side
SOFTENED = np.array([0.2, 0.6, 0.2], np.float32)  # a fifth is left of the finest streaks


def sparse_view_streaks(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    start = np.pi * rng.random()
    size = max(image.shape) / COUNTED_AT
    views = max(1, round(severity["views"] * size ** (BELOW if size < 1 else ABOVE)))
    if views >= complete_view_count(image.shape):
        return image.copy()
    patient, margin = extend_patient(image)
    angles = start + np.pi * np.arange(views) / views
    reconstruction = reconstruct(
        project(patient, angles), angles, np.full(views, np.pi / views), patient.shape, interpolations=2
    )
    streaks = convolve(within_frame(reconstruction, margin) - image, SOFTENED)
    return image + scale_to(streaks, image, severity.get("added"))
