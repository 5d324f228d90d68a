"""Limited angle: a CT scan that could not go all the way round, as in tomosynthesis or with a C-arm.

Half a turn is complete; `degrees` of it were measured. The views that were not measured are projected, filtered,
back-projected with the weight they have in a complete scan, and taken from the image. The remaining views keep
their weights: edges along the missing rays fade, and shadows run beside dense structures. Where nothing is missing
nothing is taken, so that there is no blur from reconstructing. A body that touches the frame fades out beyond it:
an edge there would be the frame's and not the patient's.

With the views the image loses attenuation in proportion. `level` says what becomes of that: `lost`, the image is
darker; or `kept`, the mean of the body is what it was, as on a scanner that was calibrated with water for this scan.
In Hounsfield units it has to be kept: 10 of 180 degrees are 56 HU, more than half of a window for the brain.
`added`, if it is there, is the standard deviation of the change in soft tissue: the missing views then count in part.
The same angle wipes a head out, between its bones, and cannot be seen in an abdomen.

Drawn once: the direction that is missing. More severe, it widens to both sides.
"""

import numpy as np
from numpy.random import Generator

from wardround.degrade.operations.body import body_mask
from wardround.degrade.operations.frame import extend_patient, within_frame
from wardround.degrade.operations.projector import complete_view_count, project, reconstruct
from wardround.degrade.operations.soft_tissue import scale_to
from wardround.degrade.signature import Image, SeverityParameters


def limited_angle(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    direction = 180.0 * rng.random()
    missing = min(max(180.0 - severity["degrees"], 0.0), 180.0)
    views = max(1, round(complete_view_count(image.shape) * missing / 180.0))
    patient, margin = extend_patient(image)
    angles = np.deg2rad(direction + missing * ((np.arange(views) + 0.5) / views - 0.5))
    weights = np.full(views, np.deg2rad(missing) / views)
    missing_part = reconstruct(project(patient, angles), angles, weights, patient.shape, interpolations=2)
    left = image - scale_to(within_frame(missing_part, margin), image, severity.get("added"))
    return left * _gain(image, left) if severity["level"] == "kept" else left


def _gain(image: Image, left: Image) -> np.float32:
    body = body_mask(image)
    before, after = float(image[body].mean()), float(left[body].mean())
    return np.float32(before / after) if after > 0.0 else np.float32(1)
