"""Tokens of images by the published rules, compared with the examples that the providers give."""

from __future__ import annotations

import pytest

from wardround.cases.images.sent_size import PixelSize
from wardround.running.estimates.image_tokens import image_rule


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        ("gpt-4o", (1024, 1024), 765),  # OpenAI: four tiles
        ("gpt-4o-2024-11-20", (2048, 4096), 1105),  # OpenAI: six tiles
        ("gpt-4o-mini", (512, 512), 2833 + 5667),
        ("gpt-4.1", (1024, 1024), 765),
        ("openai/o3", (512, 512), 75 + 150),
        ("gpt-5-2025-08-07", (512, 512), 70 + 140),
        ("gpt-4.1-mini", (1024, 1024), 1024 * 1.62),  # OpenAI: 1,024 patches
        ("gpt-4.1-mini", (1800, 2400), 1452 * 1.62),  # OpenAI: 33 x 44 patches
        ("gpt-4.1-nano", (1024, 1024), 1024 * 2.46),
        ("gpt-5-mini", (1024, 1024), 1024 * 1.2),
        ("gpt-5.4-mini", (1600, 1600), 39 * 39 * 1.2),
        ("gpt-5.4", (1600, 1600), 2500 * 1.2),
        ("claude-sonnet-4-20250514", (1000, 1000), 36 * 36),  # Anthropic: 1,296
        ("claude-3-5-sonnet-latest", (200, 200), 64),
        ("anthropic/claude-opus-4.8", (2576, 1449), 92 * 52),
        ("gemini-2.5-flash", (384, 384), 258),
        ("gemini-2.5-pro", (960, 540), 6 * 258),  # Google: crop unit 360, 3 x 2 tiles
        ("models/gemini-3-flash-preview", (960, 540), 1120),
        ("Qwen/Qwen2.5-VL-7B-Instruct", (1280, 720), 46 * 26 + 2),  # 1288 x 728 after rounding
        ("Qwen/Qwen3-VL-8B-Instruct", (1024, 1024), 32 * 32 + 2),
        ("qwen3-vl-plus", (100, 100), 8 * 8 + 2),
    ],
)
def test_an_image_takes_the_tokens_of_the_example(model: str, size: tuple[int, int], tokens: float) -> None:
    rule = image_rule(model)

    assert rule is not None
    assert rule(PixelSize(*size)) == pytest.approx(tokens)


@pytest.mark.parametrize(("model", "limit"), [("claude-haiku-4-5", 1568), ("claude-fable-5", 4784)])
@pytest.mark.parametrize("size", [(8000, 8000), (4000, 1000), (1500, 2500), (300, 7000)])
def test_a_large_image_is_shrunk_as_little_as_the_limit_wants(model: str, limit: int, size: tuple[int, int]) -> None:
    rule = image_rule(model)

    assert rule is not None
    tokens = rule(PixelSize(*size))
    assert tokens <= limit
    is_limited_by_its_side = max(size) / min(size) >= 4
    assert is_limited_by_its_side or tokens > 0.9 * limit


@pytest.mark.parametrize("model", [None, "", "exam", "llama-4-maverick"])
def test_other_models_have_no_rule(model: str | None) -> None:
    assert image_rule(model) is None
