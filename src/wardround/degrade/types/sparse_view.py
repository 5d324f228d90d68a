"""Sparse view: a CT scan of few views, as when dose or time is saved by pulsing the tube.

Half a turn is seen from `views` equally spaced angles; filtered back-projection from so few leaves straight streaks
beside dense structures. What is added to the image is the reconstruction from these views less the one from a
complete scan around the same angles, so that only the streaks are added and no blur from reconstructing. The blur
of interpolating is not divided out of the streaks: that would make them sharper than usual reconstructions do.

Drawn once: the first angle. Twice the views include all of the fewer.
"""

import numpy as np
from numpy.random import Generator

from wardround.degrade.operations.projector import complete_view_count, project, reconstruct
from wardround.degrade.signature import Image, SeverityParameters


def sparse_view(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    start = np.pi * rng.random()
    views = max(1, round(severity["views"]))
    between = -(-complete_view_count(image.shape) // views)  # the complete scan has so many views for each of the few
    if between == 1:
        return image.copy()
    angles = start + np.pi * np.arange(views * between) / (views * between)
    weights = np.full(len(angles), -np.pi / len(angles))
    weights[::between] += np.pi / views
    return image + reconstruct(project(image, angles), angles, weights, image.shape)
