"""The features of `pixels`: a few dozen numbers for greys, colours, edges, texture and detail of an image."""

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wardround.cases.encoded_image import EncodedImage

FEATURES_VERSION = 1  # raise it when a feature changes: it is part of the revision of `pixels`
SIDE = 64
BLOCK = 8
Values = NDArray[np.float64]


def features(image: EncodedImage) -> Values:
    """The features of an image as it is sent."""
    with Image.open(io.BytesIO(image.data)) as opened:
        small = opened.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    colour = np.asarray(small, dtype=np.float64) / 255
    grey = colour @ (0.299, 0.587, 0.114)
    return np.concatenate(
        [
            thumbnail(grey),
            histogram(grey, 0, 1, 16),
            histogram(colour[..., 0] - colour[..., 1], -1, 1, 12),
            histogram(colour[..., 2] - (colour[..., 0] + colour[..., 1]) / 2, -1, 1, 12),
            orientations(grey),
            contrasts(grey),
            frequencies(grey),
        ]
    )


def thumbnail(grey: Values) -> Values:
    """The mean grey of 4 x 4 parts."""
    part = SIDE // 4
    greys: Values = grey.reshape(4, part, 4, part).mean(axis=(1, 3))
    return greys.ravel()


def histogram(values: Values, low: float, high: float, bins: int) -> Values:
    """The share of pixels in each bin."""
    return np.histogram(values, bins=bins, range=(low, high))[0] / values.size


def orientations(grey: Values) -> Values:
    """The share of gradient strength in each of 9 directions, and the logarithm of the total strength."""
    down, right = np.gradient(grey)
    strength = np.hypot(down, right)
    angle = np.arctan2(down, right) % np.pi
    shares = np.histogram(angle, bins=9, range=(0, np.pi), weights=strength)[0]
    total = strength.sum()
    return np.append(shares / total if total > 0 else shares, np.log1p(total))


def contrasts(grey: Values) -> Values:
    """Quantiles and spread of the standard deviation inside 8 x 8 blocks."""
    parts = SIDE // BLOCK
    deviation = grey.reshape(parts, BLOCK, parts, BLOCK).std(axis=(1, 3))
    return np.append(np.quantile(deviation, (0.1, 0.25, 0.5, 0.75, 0.9)), deviation.std())


def frequencies(grey: Values) -> Values:
    """The logarithm of the energy in 8 rings of spatial frequency, from coarse to fine."""
    power = np.abs(np.fft.fft2(grey - grey.mean())) ** 2 / grey.size
    frequency = np.fft.fftfreq(SIDE)
    radius = np.hypot(frequency[:, None], frequency[None, :])
    ring = np.minimum((radius * 16).astype(int), 7)
    energy = np.bincount(ring.ravel(), power.ravel(), minlength=8).astype(np.float64)
    return np.log(energy + 1e-6)
