"""Contact sheets: an image beside its degraded copies, a row each, with readable labels on a dark ground."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from wardround.degrade.rendering import white_of

TILE = 320  # pixels, at most, of a tile's longer side
GAP = 10
GROUND, INK = (17, 19, 22), (225, 228, 232)
LETTERS = 17  # pixels high

SheetRow = tuple[str, Sequence[NDArray[Any]]]


def contact_sheet(rows: Sequence[SheetRow], columns: Sequence[str] = (), tile: int = TILE) -> Image.Image:
    """A sheet with a label left of each row and a heading over each column; images keep their aspect."""
    pictures = [[_fitted(image, tile) for image in images] for _, images in rows]
    labels = [_label(text) for text, _ in rows]
    headings = [_label(text) for text in columns]
    across = max([len(headings), *map(len, pictures)], default=0)
    margin = max((label.width for label in labels), default=0) + 2 * GAP
    widths = [
        max(
            [heading.width for heading in headings[place : place + 1]]
            + [row[place].width for row in pictures if place < len(row)]
        )
        for place in range(across)
    ]
    heights = [
        max([label.height, *(picture.height for picture in row)]) for label, row in zip(labels, pictures, strict=True)
    ]
    top = max((heading.height for heading in headings), default=0) + 2 * GAP
    sheet = Image.new("RGB", (margin + sum(widths) + GAP * across, top + sum(heights) + GAP * len(rows)), GROUND)
    lefts = [margin + sum(widths[:place]) + GAP * place for place in range(across)]
    for heading, left in zip(headings, lefts, strict=False):
        sheet.paste(heading, (left, GAP))
    for label, row, height in zip(labels, pictures, heights, strict=True):
        sheet.paste(label, (GAP, top + (height - label.height) // 2))
        for picture, left in zip(row, lefts, strict=False):
            sheet.paste(picture, (left, top + (height - picture.height) // 2))
        top += height + GAP
    return sheet


def _fitted(image: NDArray[Any], tile: int) -> Image.Image:
    """An image of any depth as a picture whose longer side is a tile's."""
    channels = image.reshape(*image.shape[:2], -1)
    channels = channels[..., :3] if channels.shape[2] >= 3 else np.repeat(channels[..., :1], 3, axis=2)
    if channels.dtype != np.uint8:
        channels = np.rint(channels * (255 / white_of(channels))).astype(np.uint8)
    height, width = channels.shape[:2]
    factor = tile / max(height, width)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    return Image.fromarray(np.ascontiguousarray(channels)).resize(size, Image.Resampling.LANCZOS)


def _label(text: str) -> Image.Image:
    font = _font()
    left, top, right, bottom = ImageDraw.Draw(Image.new("L", (1, 1))).textbbox((0, 0), text or " ", font=font)
    picture = Image.new("RGB", (int(right - left) + 2, int(bottom - top) + 4), GROUND)
    ImageDraw.Draw(picture).text((1 - left, 2 - top), text, font=font, fill=INK)
    return picture


@lru_cache(1)
def _font() -> Any:
    return ImageFont.load_default(LETTERS)
