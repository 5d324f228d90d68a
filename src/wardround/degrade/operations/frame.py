"""Beyond the frame of an image: a patient whom the frame cuts, and the background of a slide or of skin."""

import numpy as np
from numpy.typing import NDArray

from wardround.degrade.operations.body import is_all_body
from wardround.degrade.signature import Image

BEYOND = 0.125  # of the longer side: how far a patient goes on
CUT = 0.02  # of the brightest value: what more than this lies on the border, on average, is cut by the frame
NEAR_WHITE, LEAST_GLASS = 0.8, 0.04  # of white in every colour; of the pixels
INSET = 0.03  # of the shorter side
SAMPLES = 128  # along the shorter side


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


def extend_along(image: Image, axis: int) -> tuple[Image, int]:
    """A grey image whose body the frame cuts across an axis, mirrored and faded out beyond it there; else as above.

    Lines of k-space take the two sides for neighbours: a step between them would be copied into the image as a line.
    """
    lines = np.moveaxis(image, axis, 0)
    margin = round(BEYOND * len(lines))
    if margin == 0 or max(lines[0].mean(), lines[-1].mean()) <= CUT * image.max():
        return image, 0
    fading = np.sin(0.5 * np.pi * (np.arange(margin) + 0.5) / margin).astype(np.float32)[:, None] ** 2
    extended = np.pad(lines, ((margin, margin), (0, 0)), mode="symmetric")
    extended[:margin] *= fading
    extended[-margin:] *= fading[::-1]
    return np.moveaxis(extended, 0, axis), margin


def within_frame(image: Image, margin: int) -> Image:
    """The part of an extended image that the frame shows."""
    return image[margin : image.shape[0] - margin, margin : image.shape[1] - margin] if margin else image


def along_frame(image: Image, axis: int, margin: int) -> Image:
    """The part of an image extended along an axis that the frame shows."""
    shown = slice(margin, image.shape[axis] - margin)
    return image[shown] if axis == 0 else image[:, shown]


def fills_frame(image: Image) -> bool:
    """Whether a colour image goes on beyond its frame (a slide, skin); a grey one ends there, on black."""
    return image.ndim == 3 and is_all_body(image)


def pad_beyond(image: Image, down: int, across: int) -> Image:
    """The image with a margin: of the colour of its background where it fills the frame, else black."""
    height, width = image.shape[:2]
    padded = np.empty((height + 2 * down, width + 2 * across, *image.shape[2:]), np.float32)
    padded[:down] = padded[down + height :] = padded[:, :across] = padded[:, across + width :] = _colour_beyond(image)
    padded[down : down + height, across : across + width] = image
    return padded


def blank_canvas(image: Image, height: int, width: int) -> Image:
    """What lies beyond the frame of an image: the colour of its background where it fills the frame, else black."""
    canvas = np.zeros((height, width, *image.shape[2:]), np.float32)
    colour = _colour_beyond(image)
    if colour.any():
        canvas.reshape(height, -1)[:] = np.tile(colour, width)
    return canvas


def _colour_beyond(image: Image) -> Image:
    if fills_frame(image):
        return background_colour(image).astype(np.float32)
    return np.zeros(image.shape[2:], np.float32)


def background_colour(image: Image) -> NDArray[np.floating]:
    """The glass of a slide, if enough of it is seen; else the usual colour at the border, which is skin."""
    step = max(1, min(image.shape[:2]) // SAMPLES)
    pixels = image[::step, ::step].reshape(-1, 3)
    glass = pixels[np.minimum(np.minimum(pixels[:, 0], pixels[:, 1]), pixels[:, 2]) > NEAR_WHITE]
    if len(glass) >= LEAST_GLASS * len(pixels):
        return _median_colour(glass)
    inset = round(INSET * min(image.shape[:2]))  # many images have a line around them
    inner = image[inset : image.shape[0] - inset, inset : image.shape[1] - inset]
    border = np.concatenate([inner[0], inner[-1], inner[:, 0], inner[:, -1]])
    return _median_colour(border)


def _median_colour(pixels: Image) -> NDArray[np.floating]:
    """Colour by colour: the median of a column is found several times as fast as that along an axis."""
    return np.array([np.median(np.ascontiguousarray(pixels[:, colour])) for colour in range(3)])
