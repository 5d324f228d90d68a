"""How many tokens an image takes, by the published rules of model families.

Read on 2026-11-18. From the providers' own pages: Claude (platform.claude.com, vision: patches of 28 pixels),
GPT-4o, GPT-4.1 and o-series (OpenAI's guide to images: tiles and patches), Gemini (ai.google.dev: image
understanding, media resolution), Qwen-VL (its image processor's `smart_resize`). From others, who
compared bills with OpenAI's guide: the multipliers of GPT-5 and later, and the limit of patches since GPT-5.4. Which
Claude models take large images is from others, too. A family that is not listed has no rule here.
"""

import re
from collections.abc import Callable
from functools import partial
from math import ceil, floor, sqrt

from wardround.cases.images.sent_size import PixelSize

ImageRule = Callable[[PixelSize], float]

TILE, LONGEST_SIDE, SHORTEST_SIDE = 512, 2048, 768  # pixels
GEMINI_TILE_TOKENS, GEMINI_SMALL = 258, 384
GEMINI_3_TOKENS = 1120  # at the default resolution; at most
CLAUDE_PATCH = 28
QWEN_MARKS = 2  # before and after an image


def by_tiles(size: PixelSize, base: int, tile_tokens: int) -> float:
    """OpenAI's tiles: the image is fitted into 2048 x 2048 and to a short side of 768, then cut."""
    scale = min(1.0, LONGEST_SIDE / max(size))
    scale *= min(1.0, SHORTEST_SIDE / (scale * min(size)))
    return float(base + tile_tokens * ceil(scale * size.width / TILE) * ceil(scale * size.height / TILE))


def by_openai_patches(size: PixelSize, multiplier: float, max_patches: int = 1536) -> float:
    """OpenAI's patches of 32 pixels: more than `max_patches` are scaled down until whole patches fit."""
    width, height = size.width / 32, size.height / 32
    if ceil(width) * ceil(height) > max_patches:
        scale = sqrt(max_patches / (width * height))
        scale *= min(floor(side * scale) / (side * scale) for side in (width, height))
        width, height = width * scale, height * scale
    return multiplier * min(_whole(width) * _whole(height), max_patches)


def by_claude_patches(size: PixelSize, max_side: int, max_tokens: int) -> float:
    """Patches of 28 pixels of the largest image of the same shape that is within both limits."""
    scale = min(1.0, max_side / max(size))
    while (tokens := _patches(size, scale, CLAUDE_PATCH)) > max_tokens:
        scale *= min(0.999, sqrt(max_tokens / tokens))
    return float(tokens)


def by_gemini_tiles(size: PixelSize) -> float:
    """258 for a small image; else for each tile of two thirds of the short side."""
    if max(size) <= GEMINI_SMALL:
        return float(GEMINI_TILE_TOKENS)
    side = max(1, floor(min(size) / 1.5))
    return float(GEMINI_TILE_TOKENS * ceil(size.width / side) * ceil(size.height / side))


def by_qwen_patches(size: PixelSize, patch: int, min_pixels: int, max_pixels: int) -> float:
    """Qwen-VL's patches: sides are rounded to whole ones, and scaled if there are too many or too few pixels."""
    width, height = (max(patch, round(side / patch) * patch) for side in size)
    if width * height > max_pixels:
        scale = sqrt(size.width * size.height / max_pixels)
        width, height = (max(patch, floor(side / scale / patch) * patch) for side in size)
    elif width * height < min_pixels:
        scale = sqrt(min_pixels / (size.width * size.height))
        width, height = (ceil(side * scale / patch) * patch for side in size)
    return float(width // patch * (height // patch) + QWEN_MARKS)


# the first that matches a model's name, which may stand after a router's prefix
RULES: tuple[tuple[str, ImageRule], ...] = (
    (r"gpt-4\.1-mini", partial(by_openai_patches, multiplier=1.62)),
    (r"gpt-4\.1-nano", partial(by_openai_patches, multiplier=2.46)),
    (r"o4-mini", partial(by_openai_patches, multiplier=1.72)),
    (r"gpt-5-nano", partial(by_openai_patches, multiplier=1.5)),
    (r"gpt-5(\.\d+)?-(mini|nano)", partial(by_openai_patches, multiplier=1.2)),
    (r"gpt-5\.[23]\b", partial(by_openai_patches, multiplier=1.2)),
    (r"gpt-(5\.[4-9]|[6-9])", partial(by_openai_patches, multiplier=1.2, max_patches=2500)),
    (r"gpt-5", partial(by_tiles, base=70, tile_tokens=140)),
    (r"gpt-4o-mini", partial(by_tiles, base=2833, tile_tokens=5667)),
    (r"gpt-4", partial(by_tiles, base=85, tile_tokens=170)),
    (r"\bo[13]\b", partial(by_tiles, base=75, tile_tokens=150)),
    (r"gemini-([3-9]|\d\d)", lambda size: float(GEMINI_3_TOKENS)),
    (r"gemini", by_gemini_tiles),
    (r"qwen-?2(\.5)?-vl", partial(by_qwen_patches, patch=28, min_pixels=4 * 28**2, max_pixels=16384 * 28**2)),
    (r"qwen-?3[\w.]*", partial(by_qwen_patches, patch=32, min_pixels=64 * 32**2, max_pixels=16384 * 32**2)),
)
CLAUDE = re.compile(r"claude(?:-[a-z]+)*-(\d)(?:[-.](\d)\b)?")
LARGE_SINCE = (4, 7)  # the version of Claude that takes large images


def image_rule(model: str | None) -> ImageRule | None:
    """The rule of a model's family, by its name; None if it is not known."""
    name = (model or "").lower()
    if match := CLAUDE.search(name):
        is_large = (int(match[1]), int(match[2] or 0)) >= LARGE_SINCE
        max_side, max_tokens = (2576, 4784) if is_large else (1568, 1568)
        return partial(by_claude_patches, max_side=max_side, max_tokens=max_tokens)
    return next((rule for pattern, rule in RULES if re.search(pattern, name)), None)


def _patches(size: PixelSize, scale: float, patch: int) -> int:
    return ceil(size.width * scale / patch) * ceil(size.height * scale / patch)


def _whole(patches: float) -> int:
    """The patches that cover so many; what is a whole number up to rounding stays one."""
    return max(1, ceil(patches - 1e-9))
