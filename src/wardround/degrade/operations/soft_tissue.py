"""Soft tissue in a CT slice in Hounsfield units, and artefacts scaled to be as strong in it as a level stands for."""

import numpy as np

from wardround.degrade.operations.body import Mask, body_mask
from wardround.degrade.signature import Image

NEAR_WATER = (0.85, 1.15)  # attenuation relative to water
LEAST_SHARE = 0.05  # of the body: less is taken for none, and the whole body counts


def soft_tissue(image: Image) -> Mask:
    """Where the body is neither air nor bone; the whole body if there is hardly any such place."""
    body = body_mask(image)
    soft = body & (image > NEAR_WATER[0]) & (image < NEAR_WATER[1])
    return soft if soft.sum() >= LEAST_SHARE * body.sum() else body


def scale_to(artefact: Image, image: Image, deviation: float | None) -> Image:
    """The artefact with this standard deviation in the soft tissue of the image; as it is if none is wanted."""
    if deviation is None:
        return artefact
    strength = float(artefact[soft_tissue(image)].std())
    return artefact * np.float32(deviation / strength) if strength > 0.0 else artefact
