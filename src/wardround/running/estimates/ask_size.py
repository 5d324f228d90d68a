"""The size of an Ask in tokens, by rules: no tokenizer is used. Those of images are the models' own, if known."""

from collections.abc import Sequence
from functools import cache, lru_cache, partial
from math import ceil
from typing import NamedTuple

from wardround.cases.images.sent_size import PixelSize, sent_size
from wardround.core.ask import Ask
from wardround.core.canonical import canonical_json
from wardround.core.study import CandidateSettings
from wardround.running.estimates.image_tokens import ImageRule, by_tiles, image_rule

BYTES_PER_TOKEN = 4  # of UTF-8
PATCH = 28  # pixels a side
CACHED_SIZES = 1024
FLAT_TOKENS = 1000
TOKENS_PER_REPLY = 256  # our estimate if the study sets no limit and nothing was answered yet


class AskSize(NamedTuple):
    """The tokens of an Ask: of its text, and of its images by each rule that servers are known to bill by."""

    text: float
    by_family: float = 0.0  # the published rule of the model's family; if that is not known, as by_patches
    by_patches: float = 0.0  # one for 28 x 28 pixels; our rule
    by_tiles: float = 0.0  # 85 an image, and 170 for each tile of 512 x 512 after shrinking
    by_number: float = 0.0  # the same for every image

    @property
    def tokens(self) -> int:
        return round(self.text + self.by_family)

    def plus(self, other: "AskSize", times: int) -> "AskSize":
        return AskSize(
            self.text + times * other.text,
            self.by_family + times * other.by_family,
            self.by_patches + times * other.by_patches,
            self.by_tiles + times * other.by_tiles,
            self.by_number + times * other.by_number,
        )


NO_SIZE = AskSize(0.0)


def measure_ask(ask: Ask, images: Sequence[PixelSize], settings: CandidateSettings | None = None) -> AskSize:
    """Its size with images of these sizes; `tokens_per_image` of the candidate replaces the rules of images."""
    texts = [part for message in ask.messages for part in message.parts if isinstance(part, str)]
    texts += [
        canonical_json(calls) for calls in (ask.tools, *(message.tool_calls for message in ask.messages)) if calls
    ]
    text = sum(map(text_tokens, texts))
    if settings is not None and settings.tokens_per_image is not None:
        return AskSize(text, *[float(settings.tokens_per_image * len(images))] * 4)
    return AskSize(text, *_image_tokens(tuple(images), settings and settings.model))


@lru_cache(CACHED_SIZES)
def _image_tokens(images: tuple[PixelSize, ...], model: str | None) -> tuple[float, ...]:
    """By each rule; many Asks show images of the same sizes."""
    rules = (_rule_of(model), _patches, _tiles, lambda size: FLAT_TOKENS)
    return tuple(sum(map(rule, images)) for rule in rules)


def image_sizes(ask: Ask) -> list[PixelSize]:
    """The sizes of its images as they will be sent, from their headers."""
    return [sent_size(part) for part in ask.images]


def text_tokens(text: str) -> float:
    length = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return length / BYTES_PER_TOKEN


def _patches(size: PixelSize) -> float:
    return float(ceil(size.width / PATCH) * ceil(size.height / PATCH))


_tiles = partial(by_tiles, base=85, tile_tokens=170)


@cache
def _rule_of(model: str | None) -> ImageRule:
    return image_rule(model) or _patches
