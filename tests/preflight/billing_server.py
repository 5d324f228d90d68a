"""Replies that bill like hosted servers: tokens by length, images by tiles or patches, `n` sharing its prompt."""

from __future__ import annotations

import base64
import hashlib
import io
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web
from PIL import Image


def by_tiles(width: int, height: int) -> int:
    """OpenAI's rule for images in high detail."""
    scale = min(1, 2048 / max(width, height))
    scale *= min(1, 768 / (scale * min(width, height)))
    return 85 + 170 * math.ceil(scale * width / 512) * math.ceil(scale * height / 512)


def by_patches(width: int, height: int) -> int:
    """Qwen's rule: sides are rounded to multiples of 28."""
    return max(1, round(width / 28)) * max(1, round(height / 28))


def flat(width: int, height: int) -> int:
    """Gemini's rule for small images."""
    return 258


@dataclass
class Bill:
    """Answers every request, and adds up what it charges."""

    image_tokens: Callable[[int, int], int] = by_tiles
    characters: float = 4.3  # a token
    words: int = 40  # of a reply, on average
    hidden: int = 0  # reasoning, billed in total_tokens only
    reports: bool = True
    max_n: int = 100
    tokens_in: int = 0
    tokens_out: int = 0
    calls: list[int] = field(default_factory=list)  # n of each

    def __call__(self, body: dict[str, Any], number: int) -> web.Response:
        n = body.get("n", 1)
        if n > self.max_n:
            return web.json_response({"error": {"message": f"n must be at most {self.max_n}"}}, status=400)
        prompt, choices, written = self._prompt_tokens(body), [], 0
        for index in range(n):
            seed = int(hashlib.sha256(orjson.dumps(body["messages"]) + bytes([index])).hexdigest(), 16)
            text = "Reasoning " * (self.words // 2 + seed % self.words) + f"\nAnswer: {'ABCD'[seed % 4]}"
            written += math.ceil(len(text) / self.characters)
            choices.append({"index": index, "message": {"content": text}, "finish_reason": "stop"})
        billed = written + n * self.hidden
        self.calls.append(n)
        self.tokens_in += prompt
        self.tokens_out += billed
        reply: dict[str, Any] = {"model": "billed", "choices": choices}
        if self.reports:
            usage = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + billed}
            reply["usage"] = usage
        return web.json_response(reply)

    def _prompt_tokens(self, body: dict[str, Any]) -> int:
        tokens = 11.0  # the chat's own marks
        for message in body["messages"]:
            content = message["content"]
            for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
                if part["type"] == "text":
                    tokens += len(part["text"]) / self.characters
                else:
                    data = base64.b64decode(part["image_url"]["url"].partition("base64,")[2])
                    tokens += self.image_tokens(*Image.open(io.BytesIO(data)).size)
        return math.ceil(tokens)
