"""The real images that the tests of each family leave out: every type that fits them shows at L1, and more at L2.

The families' own tests do the same on the others, CT files in Hounsfield units included.
"""

import numpy as np
import pytest
import real_images as real
from test_general import MOTION, by_hand

from wardround.degrade import TYPES, apply_degradation, degrade, fits


@pytest.mark.parametrize("name", real.MORE)
def test_what_fits_it_shows_grows_and_leaves_a_faint_disc(name):
    image, scene = real.real_image(name), real.planted(name)
    inside = real.body(name) & (real.luma(image) < 255)  # what a collimator leaves blank is no body
    for type in (type for type in TYPES if fits(type, real.modality_of(name))):
        mild, severe = (real.rms_within(inside, degrade(image, type, level), image) for level in ("L1", "L2"))
        assert mild >= 2, type
        assert severe > mild or type in MOTION, type
        degraded = apply_degradation(scene.image, type, "L2")
        masks = [scene.disc, scene.ring]
        if type in MOTION:
            masks = [by_hand(type, mask.astype(np.float32), degraded.parameters, degraded.seed) > 0.5 for mask in masks]
        assert real.contrast_to_noise(degraded.image, *masks) > 1, type


def test_every_type_fits_a_real_image():
    modalities = {*real.DICOM.values(), "Histopathology"}  # immunohistochemistry
    assert all(any(fits(type, modality) for modality in modalities) for type in TYPES)
