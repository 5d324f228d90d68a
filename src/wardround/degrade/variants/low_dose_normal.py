"""Low dose, with normal noise: a variant of `low_dose` whose noise is drawn once and scaled, not counted.

Noise is inserted: the image is projected, the noise that the counts behind each line integral would have is
reconstructed, and added to the image, which is otherwise left as it is. A bin counts on average
I0 exp(-line integral) photons; the logarithm of the count has the variance 1 / count, and that of the electronics
on top. It is drawn as normal: the fewest counts at the shipped severities are about a hundred, where that is close
to Poisson, and the same field then serves every dose.

Attenuation is the grey value, 0 being air (or that of water = 1 in Hounsfield space), scaled so that the densest
ray has a line integral of 5, as through a large patient: the size of a pixel is not known. `photons` is I0 for a
bin one pixel wide in a scan of 720 views of 512 pixels; in an image of another size the noise is as strong. Or
`noise` is given: the standard deviation that is added inside the body, in the units of the image; then the noise is
that of the photons alone, scaled.

Drawn once: the noise of every bin. Dose scales it.
"""

import numpy as np
from numpy.random import Generator

from wardround.degrade.operations.body import body_mask
from wardround.degrade.operations.projector import complete_view_count, pitch, project, reconstruct
from wardround.degrade.signature import Image, SeverityParameters
from wardround.degrade.types.low_dose import COUNTED_AT, DENSEST, SCAN_VIEWS

ELECTRONIC = 5.0  # standard deviation, in photons


def low_dose_normal(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    views = complete_view_count(image.shape)
    angles = np.pi * (np.arange(views) + 0.5) / views
    lines = project(image, angles)
    field = rng.standard_normal(lines.shape, dtype=np.float32)
    densest = float(lines.max())
    if densest <= 0.0:
        return image.copy()
    passed = np.exp(lines * np.float32(-DENSEST / densest)) * pitch(angles)[:, None]
    if "photons" in severity:  # fewer views than in the scan: each has the photons of several
        counts = np.maximum(passed * np.float32(severity["photons"] * SCAN_VIEWS / views), np.float32(1))
        field *= np.sqrt(counts + np.float32(ELECTRONIC**2)) / counts
    else:
        field /= np.sqrt(passed)
    noise = reconstruct(field, angles, np.full(views, np.pi / views), image.shape, interpolations=1)
    if "photons" in severity:
        return image + noise * np.float32(densest / DENSEST * COUNTED_AT / max(image.shape))
    noise_level = float(noise[body_mask(image)].std())
    return image + noise * np.float32(severity["noise"] / noise_level) if noise_level > 0.0 else image.copy()
