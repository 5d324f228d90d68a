"""Beyond the frame of an image: a patient whom the frame cuts, and the background of a slide or of skin."""

import numpy as np
from numpy.typing import NDArray

from wardround.degrade.operations.blur import gaussian
from wardround.degrade.operations.body import is_all_body
from wardround.degrade.operations.overlay import smoothstep
from wardround.degrade.operations.resize import average
from wardround.degrade.signature import Image

BEYOND = 0.125  # of the longer side: how far a patient goes on
CUT = 0.02  # of the brightest value: what more than this lies on the border, on average, is cut by the frame
NEAR_WHITE, LEAST_GLASS = 0.8, 0.04  # of white in every colour; of the pixels
PAPER = 0.97  # of white: film that was not exposed, and paper
INSET = 0.03  # of the shorter side
CELLS = 16  # along the shorter side: of the colours that go on
ROUGH, UNEVEN = 0.06, 0.06  # of white: how much tissue varies within a cell, and skin between cells
SAMPLES = 128  # along the shorter side


def extend_patient(image: Image) -> tuple[Image, int]:
    """A grey image whose body the frame cuts, faded out beyond it, and how wide the margin is; else the image and 0.

    Without this the projections see an edge at the frame, which is the frame's and not the patient's.
    """
    margin = round(BEYOND * max(image.shape))
    if margin == 0 or _border(image).mean() <= CUT * image.max():
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


def pad_beyond(image: Image, down: int, across: int) -> Image:
    """The image with a margin that shows what may lie there, as `background` has it."""
    colour = background(image)
    if colour is None:
        return _go_on(image, down, across)
    height, width = image.shape[:2]
    padded = np.empty((height + 2 * down, width + 2 * across, *image.shape[2:]), np.float32)
    padded[:down] = padded[down + height :] = padded[:, :across] = padded[:, across + width :] = colour
    padded[down : down + height, across : across + width] = image
    return padded


def background(image: Image) -> NDArray[np.floating] | None:
    """The colour beyond the frame: glass of a slide, white paper, else black. None: skin or tissue goes on there."""
    black = np.zeros(image.shape[2:], np.float32)
    if not is_all_body(image):
        return black
    if image.ndim == 2:
        usual = float(np.median(_border(image)))
        return black + np.float32(usual) if usual > PAPER else black
    step = max(1, min(image.shape[:2]) // SAMPLES)
    pixels = _without_line(image)[0][::step, ::step].reshape(-1, 3)
    glass = pixels[np.minimum(np.minimum(pixels[:, 0], pixels[:, 1]), pixels[:, 2]) > NEAR_WHITE]
    if len(glass) < LEAST_GLASS * len(pixels):
        return None
    return np.array([np.median(glass[:, colour]) for colour in range(3)], np.float32)


def _go_on(image: Image, down: int, across: int) -> Image:
    """Tissue is mirrored. Skin goes on in the colours of its border, out of focus, into which the image fades: or else
    its outline would be seen.
    """
    height, width = image.shape[:2]
    inner, inset = _without_line(image)
    rows, columns = (max(1, round(CELLS * side / min(inner.shape[:2]))) for side in inner.shape[:2])
    rows, columns = min(rows, inner.shape[0]), min(columns, inner.shape[1])
    cells = average(inner, rows, columns)
    roughness = np.sqrt(np.maximum(average(inner * inner, rows, columns) - cells * cells, 0))
    if np.median(_border(roughness)) > ROUGH:
        return np.pad(image, ((down, down), (across, across), (0, 0)), mode="symmetric")
    usual = np.median(_border(cells), axis=0)
    cells = gaussian(usual + np.clip(cells - usual, -UNEVEN, UNEVEN), 1.0)  # without the shadow of a lesion
    (top, y), (left, x) = (
        _between_cells(size, margin, inset, count)
        for size, margin, count in ((height, down, rows), (width, across, columns))
    )
    widened = cells[:, left] + x[:, None] * (cells[:, np.minimum(left + 1, columns - 1)] - cells[:, left])
    scene = widened[top] + y[:, None, None] * (widened[np.minimum(top + 1, rows - 1)] - widened[top])
    fading = np.multiply.outer(*(_fading(size, max(1, inset)) for size in (height, width)))[..., None]
    part = scene[down : down + height, across : across + width]
    part += fading * (image - part)
    return np.asarray(scene, np.float32)


def _between_cells(size: int, margin: int, inset: int, count: int) -> tuple[NDArray[np.intp], Image]:
    """For each place along a side with its margins: the cell before it, and how far it is on the way to the next."""
    place = np.arange(-margin, size + margin) - inset + 0.5
    at = np.clip(place * count / (size - 2 * inset) - 0.5, 0, count - 1)
    before = np.floor(at).astype(np.intp)
    return before, (at - before).astype(np.float32)


def _fading(size: int, over: int) -> Image:
    """From 0 at both ends, and up to half as far inside, to 1 so many pixels inside."""
    place = np.arange(size) + 0.5
    return smoothstep((2 * np.minimum(place, size - place) / over - 1).astype(np.float32))


def _without_line(image: Image) -> tuple[Image, int]:
    """The image without its outermost pixels, and how many: many images have a line around them."""
    inset = round(INSET * min(image.shape[:2]))
    return image[inset : image.shape[0] - inset, inset : image.shape[1] - inset], inset


def _border(image: Image) -> Image:
    return np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
