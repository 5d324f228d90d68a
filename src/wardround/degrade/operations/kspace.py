"""The lines of k-space along one axis of an image, as an MRI scanner acquires them one after another.

What is wrong with whole lines touches only the phase-encode axis: a transform along that axis is enough.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import fft

from wardround.degrade.signature import Image

Lines = NDArray[np.int64]


def line_numbers(count: int) -> Lines:
    """The number of each line as the transform orders them: 0 is the centre of k-space, then 1, 2, ..., -2, -1."""
    numbers: Lines = np.rint(fft.fftfreq(count, 1 / count)).astype(np.int64)
    return numbers


def multiply_lines(image: Image, axis: int, factors: NDArray[np.complex64], phase: Image | None = None) -> Image:
    """The magnitude image with each line along the axis multiplied by its factor.

    `phase` is the object's own, in radians; without it the object is real and its k-space symmetric.
    """
    values: NDArray[np.generic] = image
    if phase is not None:
        values = np.empty(image.shape, np.complex64)
        np.multiply(image, np.cos(phase), out=values.real)
        np.multiply(image, np.sin(phase), out=values.imag)
    lines = fft.fft(values, axis=axis, overwrite_x=True)
    lines *= factors[:, None] if axis == 0 else factors
    magnitude: Image = np.abs(fft.ifft(lines, axis=axis, overwrite_x=True))
    return magnitude


def smooth_phase(shape: tuple[int, int], rng: Generator, max_term: float) -> Image:
    """A phase that varies slowly over the image, as coils and an uneven field leave it: a random quadratic."""
    y, x = (np.linspace(-1, 1, size, dtype=np.float32) for size in shape)
    drawn = rng.uniform(-max_term, max_term, 5).astype(np.float32)
    down = drawn[0] * y + drawn[1] * y * y
    across = drawn[2] * x + drawn[3] * x * x
    phase: Image = down[:, None] + across + drawn[4] * y[:, None] * x
    return phase
