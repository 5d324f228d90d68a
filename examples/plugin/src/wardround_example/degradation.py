"""Degradation `vignette`: corners that are darker than the centre, as with a lens or an endoscope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wardround.degrade import CustomDegradation


def vignette(
    image: NDArray[np.float32], parameters: Mapping[str, Any], rng: np.random.Generator
) -> NDArray[np.float32]:
    height, width = image.shape[:2]
    down, right = np.linspace(-1, 1, height)[:, None], np.linspace(-1, 1, width)[None, :]
    brightness = 1 - parameters["strength"] * (down**2 + right**2) / 2
    shade = brightness if image.ndim == 2 else brightness[..., None]
    return (image * shade).astype(np.float32)


VIGNETTE = CustomDegradation(vignette, "Intensity", {"strength": (0.0, 0.4, 0.8)})
