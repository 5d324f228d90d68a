"""The lines of k-space along one axis of an image, as an MRI scanner acquires them one after another.

What is wrong with whole lines touches only the phase-encode axis: a transform along that axis is enough.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import fft

from wardround.degrade.rendering import Image

Lines = NDArray[np.int64]


def line_numbers(count: int) -> Lines:
    """The number of each line as the transform orders them: 0 is the centre of k-space, then 1, 2, ..., -2, -1."""
    return np.rint(fft.fftfreq(count, 1 / count)).astype(np.int64)


def with_lines(image: Image, axis: int, factors: NDArray[np.complex64], phase: Image | None = None) -> Image:
    """The magnitude image after each line along the axis was multiplied by its factor.

    `phase` is what the object has by itself, in radians; without it, it is real and its k-space symmetric.
    """
    seen: NDArray[np.generic] = image
    if phase is not None:
        seen = np.empty(image.shape, np.complex64)
        np.multiply(image, np.cos(phase), out=seen.real)
        np.multiply(image, np.sin(phase), out=seen.imag)
    lines = fft.fft(seen, axis=axis, overwrite_x=True)
    lines *= factors[:, None] if axis == 0 else factors
    return np.abs(fft.ifft(lines, axis=axis, overwrite_x=True))


def smooth_phase(shape: tuple[int, int], rng: Generator, most: float) -> Image:
    """A phase that varies slowly over the image, as coils and an uneven field leave it: a random quadratic."""
    y, x = (np.linspace(-1, 1, size, dtype=np.float32) for size in shape)
    drawn = rng.uniform(-most, most, 5).astype(np.float32)
    down = drawn[0] * y + drawn[1] * y * y
    across = drawn[2] * x + drawn[3] * x * x
    return down[:, None] + across + drawn[4] * y[:, None] * x
