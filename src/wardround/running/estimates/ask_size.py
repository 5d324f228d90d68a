"""The size of an Ask in tokens, by rules of our own: no tokenizer is used."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from wardround.cases.images.sent_size import PixelSize, sent_size
from wardround.core.ask import Ask
from wardround.core.canonical import canonical_json

BYTES_PER_TOKEN = 4  # of UTF-8
PATCH = 28  # pixels a side
TILE, TILE_TOKENS, IMAGE_TOKENS = 512, 170, 85
LONGEST_SIDE, SHORTEST_SIDE = 2048, 768  # to which a server of tiles shrinks
FLAT_TOKENS = 1000


class AskSize(NamedTuple):
    """The tokens of an Ask: of its text, and of its images by each rule that servers are known to bill by."""

    text: float
    by_patches: float = 0.0  # one for 28 x 28 pixels; our rule
    by_tiles: float = 0.0  # 85 an image, and 170 for each tile of 512 x 512 after shrinking
    by_number: float = 0.0  # the same for every image

    @property
    def tokens(self) -> int:
        return round(self.text + self.by_patches)

    def plus(self, other: "AskSize", times: int) -> "AskSize":
        return AskSize(*(own + times * more for own, more in zip(self, other, strict=True)))


NO_SIZE = AskSize(0.0)


def measure_ask(ask: Ask, images: Sequence[PixelSize], tokens_per_image: int | None = None) -> AskSize:
    """Its size with images of these sizes; `tokens_per_image` replaces the rules of images."""
    texts = [part for message in ask.messages for part in message.parts if isinstance(part, str)]
    texts += [
        canonical_json(calls) for calls in (ask.tools, *(message.tool_calls for message in ask.messages)) if calls
    ]
    text = sum(map(text_tokens, texts))
    if tokens_per_image is not None:
        return AskSize(text, *[float(tokens_per_image * len(images))] * 3)
    return AskSize(text, sum(map(_patches, images)), sum(map(_tiles, images)), FLAT_TOKENS * len(images))


def image_sizes(ask: Ask) -> list[PixelSize]:
    """The sizes of its images as they will be sent, from their headers."""
    return [sent_size(part) for part in ask.images]


def text_tokens(text: str) -> float:
    length = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return length / BYTES_PER_TOKEN


def _patches(size: PixelSize) -> float:
    return float(ceil(size.width / PATCH) * ceil(size.height / PATCH))


def _tiles(size: PixelSize) -> float:
    scale = min(1.0, LONGEST_SIDE / max(size.width, size.height))
    scale *= min(1.0, SHORTEST_SIDE / (scale * min(size.width, size.height)))
    tiles = ceil(scale * size.width / TILE) * ceil(scale * size.height / TILE)
    return float(IMAGE_TOKENS + TILE_TOKENS * tiles)
