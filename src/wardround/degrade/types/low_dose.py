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

import numpy as np
from numpy.random import Generator

from wardround.degrade.operations.body import body_mask
from wardround.degrade.operations.poisson import Reals, poisson_counts
from wardround.degrade.operations.projector import complete_view_count, pitch, project, reconstruct
from wardround.degrade.signature import Image, SeverityParameters

DENSEST = 5.0  # line integral
SCAN_VIEWS, COUNTED_AT = 720, 512
NO_PHOTON = 0.5
STEPS = 1024  # of a mean count: the last bits of an exponential differ between processors


def low_dose(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    views = complete_view_count(image.shape)
    angles = np.pi * (np.arange(views) + 0.5) / views
    lines = project(image, angles)
    field = rng.standard_normal(lines.shape, dtype=np.float32)
    densest = float(lines.max())
    if densest <= 0.0:
        return image.copy()
    passed: Reals = np.exp(lines.astype(np.float64) * (-DENSEST / densest)) * pitch(angles)[:, None]

    def reconstructed(noise: Image) -> Image:
        return reconstruct(noise, angles, np.full(views, np.pi / views), image.shape, interpolations=1)

    if "photons" in severity:  # fewer views than in the scan: each has the photons of several
        dose, strength = severity["photons"] * SCAN_VIEWS / views, densest / DENSEST * COUNTED_AT / max(image.shape)
    else:
        strength = densest / DENSEST
        of_one = strength * float(reconstructed((field / np.sqrt(passed)).astype(np.float32))[body_mask(image)].std())
        if severity["noise"] <= 0.0 or of_one <= 0.0:
            return image.copy()
        dose = (of_one / severity["noise"]) ** 2
    mean: Reals = np.maximum(np.rint(dose * passed * STEPS), 1.0) / STEPS
    counts = np.maximum(poisson_counts(mean, field), NO_PHOTON)
    return image + reconstructed(np.log(mean / counts).astype(np.float32)) * np.float32(strength)
