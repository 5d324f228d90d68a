"""Ghosting: copies of the body along the phase-encode axis of an MRI scan, from breathing or pulsating blood.

Motion that comes back every few lines changes the strength and the phase of those lines of k-space periodically; a
period of n lines gives ghosts at every n-th part of the field of view. The very centre of k-space is spared, so that
the image keeps its brightness. A body that the frame cuts goes on and fades out beyond it, in a larger field of view.

The number of ghosts is drawn between `fewest` and `most`; `intensity` is how much of a line's strength is lost at the
worst moment of the cycle, and the phase goes with it.
"""

import numpy as np
from numpy.random import Generator

from wardround.degrade.operations.frame import along_frame, extend_along
from wardround.degrade.operations.kspace import line_numbers, multiply_lines
from wardround.degrade.signature import Image, SeverityParameters

SPARED = 11  # lines around the centre: as many in an image of any size
PHASE = 1.0  # radians, at the worst moment of a cycle of intensity 1


def ghosting(image: Image, severity: SeverityParameters, rng: Generator) -> Image:
    axis = int(rng.integers(2))
    drawn, start, sign = rng.random(), rng.random(), rng.choice([-1.0, 1.0])
    ghosts = severity["fewest"] + int(drawn * (severity["most"] - severity["fewest"] + 1))
    body, margin = extend_along(image, axis)
    numbers = line_numbers(body.shape[axis])
    cycle = 2 * np.pi * (numbers / ghosts + start)
    strength = 1 - severity["intensity"] * (1 - np.cos(cycle)) / 2
    factors = strength * np.exp(1j * sign * PHASE * severity["intensity"] * np.cos(cycle))
    factors[np.abs(numbers) <= SPARED // 2 * body.shape[axis] / image.shape[axis]] = 1
    return along_frame(multiply_lines(body, axis, factors.astype(np.complex64)), axis, margin)
