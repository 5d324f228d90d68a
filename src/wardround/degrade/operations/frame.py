"""Beyond the frame of an image: a patient whom the frame cuts, and what is seen there of a slide or of skin."""

import numpy as np
from numpy.typing import NDArray

from wardround.degrade.operations.body import body_mask
from wardround.degrade.signature import Image

BEYOND = 0.125  # of the longer side: how far a patient goes on
CUT = 0.02  # of the brightest value: what more than this lies on the border, on average, is cut by the frame


def extend_patient(image: Image) -> tuple[Image, int]:
    """A grey image whose body the frame cuts, faded out beyond it, and how wide the margin is; else the image and 0.

    Without this the projections see an edge at the frame, which is the frame's and not the patient's.
    """
    border = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
    margin = round(BEYOND * max(image.shape))
    if margin == 0 or border.mean() <= CUT * image.max():
        return image, 0
    fading = np.sin(0.5 * np.pi * (np.arange(margin) + 0.5) / margin) ** 2
    down, across = (np.concatenate([fading, np.ones(side), fading[::-1]]) for side in image.shape)
    return np.pad(image, margin, mode="edge") * np.outer(down, across).astype(np.float32), margin


def within_frame(image: Image, margin: int) -> Image:
    """The part of an extended image that the frame shows."""
    return image[margin : image.shape[0] - margin, margin : image.shape[1] - margin] if margin else image


def fills_frame(image: Image) -> bool:
    """Whether a colour image goes on beyond its frame (a slide, skin); a grey one ends there, on black."""
    return image.ndim == 3 and bool(body_mask(image).all())


def pad_beyond(image: Image, down: int, across: int) -> Image:
    """The image with a margin: its own mirror image where it fills the frame, else black."""
    margins: list[tuple[int, int]] = [(down, down), (across, across), *[(0, 0)] * (image.ndim - 2)]
    padded: NDArray[np.float32] = np.pad(image, margins, mode="symmetric" if fills_frame(image) else "constant")
    return padded
