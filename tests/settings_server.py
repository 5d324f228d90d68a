"""A model server whose treatment of every setting can be chosen: honoured, ignored or refused.

It really looks at the pixels of images, cuts at stop sequences, counts tokens (one a word) and draws random digits.
"""

from __future__ import annotations

import base64
import io
import random
import re
from typing import Any

import numpy as np
from aiohttp import web
from exam_server import ExamServer, text_of
from PIL import Image, ImageDraw, ImageFont

from wardround.preflight.sight import DIGITS, DOT

COLOURS = {"red": (220, 20, 20), "green": (0, 150, 0), "blue": (20, 40, 220), "yellow": (250, 230, 0)}
COLOURS |= {"black": (0, 0, 0), "white": (255, 255, 255)}
GREEDY = "482915736201"


class SettingsServer(ExamServer):
    """`treatment` has what it does with a setting, by name; the others are honoured."""

    def __init__(self, model: str = "exam", reports_usage: bool = True, **treatment: str) -> None:
        super().__init__(replying=self._complete_chat)
        self.treatment, self.model, self.reports_usage = treatment, model, reports_usage
        self._draws = random.Random(1)

    def does(self, setting: str) -> str:
        return self.treatment.get(setting, "honoured")

    def _complete_chat(self, body: dict[str, Any], number: int) -> web.Response:
        fields = {"temperature": "temperature", "seed": "seed", "n": "n", "logprobs": "logprobs"}
        for setting, field in fields.items():
            if self.does(setting) == "refused" and field in body:
                return _error(f"Unsupported parameter: '{field}' is not supported with this model.", field)
        if self.does("reasoning") == "refused" and {"chat_template_kwargs", "reasoning_effort"} & body.keys():
            field = next(name for name in ("chat_template_kwargs", "reasoning_effort") if name in body)
            return _error(f"Unsupported parameter: '{field}': this model has no reasoning.", field)
        images = [_decode(part) for part in _parts(body) if part.get("type") == "image_url"]
        if images and self.does("images") == "refused":
            return _error("this model does not support image input", "messages")
        count = body.get("n", 1)
        if self.does("n") == "ignored":
            count = 1
        first = self._choice(body, images)
        choices = [
            first,
            *(first if self.does("n") == "copies" else self._choice(body, images) for _ in range(count - 1)),
        ]
        written = sum(len((text + " " + reasoning).split()) for text, reasoning, _ in choices)
        completion = {
            "model": self.model,
            "choices": [
                {
                    "index": index,
                    "finish_reason": finish,
                    "message": {"role": "assistant", "content": text, "reasoning_content": reasoning or None},
                }
                for index, (text, reasoning, finish) in enumerate(choices)
            ],
        }
        usage = {"usage": {"prompt_tokens": 50, "completion_tokens": written + self._hidden_tokens(body) * count}}
        self.succeeded += 1
        return web.json_response(completion | (usage if self.reports_usage else {}))

    def _reasons(self, body: dict[str, Any]) -> bool:
        asked = body.get("chat_template_kwargs", {}).get("enable_thinking", False)
        return {"always": True, "never": False}.get(self.does("reasoning"), asked)

    def _hidden_tokens(self, body: dict[str, Any]) -> int:
        return 300 if self.does("reasoning") == "hidden" and self._reasons(body) else 0

    def _choice(self, body: dict[str, Any], images: list[Image.Image]) -> tuple[str, str, str]:
        """Text, reasoning and finish reason."""
        text, finish = self._text(body, images), "stop"
        reasoning = "Let me see. " * 20 if self._reasons(body) and self.does("reasoning") != "hidden" else ""
        if self.does("stop") == "honoured":
            for stop in body.get("stop") or []:
                text = text.partition(stop)[0]
        limit = body.get("max_tokens")
        if self.does("max_tokens") == "honoured" and limit is not None and len(text.split()) > limit:
            text, finish = " ".join(text.split()[:limit]), "length"
        return text, reasoning, finish

    def _text(self, body: dict[str, Any], images: list[Image.Image]) -> str:
        prompt = text_of(body)
        if self.does("images") == "ignored":
            images = []
        if self.does("order") == "ignored":
            images = images[::-1]
        if self.does("resolution") == "ignored":
            images = [image.resize((512, 512)) if image.width > 512 else image for image in images]
        if "random number" in prompt:
            return self._digits(body)
        if "Repeat the following exactly" in prompt:
            return prompt.partition("\n\n")[2]
        if prompt.startswith("Count from 1"):
            return " ".join(map(str, range(1, 201)))
        if "divisible by none" in prompt:
            return "229"
        if "code word" in prompt:
            text = prompt if self.does("system") == "ignored" else " ".join(m["content"] for m in body["messages"])
            word = re.search(r"code word is (\w+)", text)
            return word[1] if word else "NONE"
        if "Which number is shown" in prompt:
            return _read_large(images[0]) if images else "12"
        if "Which number is printed" in prompt:
            return _read_small(images[0]) if images else "12345"
        if "Which colour" in prompt:
            return " ".join(map(_colour, images)) or "maroon red"
        return "A"

    def _digits(self, body: dict[str, Any]) -> str:
        temperature = body.get("temperature", 1.0)
        temperature = {"always 0": 0.0, "always 1": 1.0}.get(self.does("temperature"), temperature)
        if temperature == 0:
            return GREEDY
        seeded = "seed" in body and self.does("seed") == "honoured"
        draws = random.Random(body["seed"]) if seeded else self._draws
        return "".join(draws.choices("0123456789", k=12))


def _error(message: str, field: str) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "param": field, "code": "unsupported_parameter"}
    return web.json_response({"error": error}, status=400)


def _parts(body: dict[str, Any]) -> list[dict[str, Any]]:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, list) else []


def _decode(part: dict[str, Any]) -> Image.Image:
    data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
    return Image.open(io.BytesIO(data)).convert("RGB")


def _colour(image: Image.Image) -> str:
    mean = np.asarray(image).reshape(-1, 3).mean(axis=0)
    return min(COLOURS, key=lambda name: float(np.abs(mean - COLOURS[name]).sum()))


def _read_large(image: Image.Image) -> str:
    """The digits of 5 x 7 dots that a check of sight draws."""
    dots = np.asarray(image.convert("L"))[DOT // 2 :: DOT, DOT // 2 :: DOT] < 128
    known = {pattern.replace(" ", ""): digit for digit, pattern in DIGITS.items()}
    read = ""
    for start in range(1, dots.shape[1] - 5, 7):
        glyph = dots[1:8, start + 1 : start + 6]
        read += known.get("".join("01"[dot] for dot in glyph.astype(int).ravel()), "?")
    return read


def _read_small(image: Image.Image) -> str:
    """Small print in the middle, digit by digit, by comparison with drawn digits: what was shrunk cannot be read."""
    ink, read, step = _ink(image), "", ImageFont.load_default(size=14).getlength("0")
    middle, start = image.width // 2, image.width / 2 - 2.5 * step
    for place in range(5):
        columns = slice(round(start + place * step), round(start + (place + 1) * step))
        differences = {}
        for digit in "0123456789":
            drawn = Image.new("RGB", image.size, "white")
            font, text = ImageFont.load_default(size=14), (read + digit).ljust(5, "0")
            ImageDraw.Draw(drawn).text((middle, middle), text, fill="black", font=font, anchor="mm")
            expected = _ink(drawn)[:, columns]
            differences[digit] = np.abs(ink[:, columns] - expected).sum() / expected.sum()
        best = min(differences, key=differences.__getitem__)
        if differences[best] > 0.3:
            return f"{read}?"
        read += best
    return read


def _ink(image: Image.Image) -> np.ndarray:
    middle = image.width // 2
    return 255 - np.asarray(image.convert("L").crop((0, middle - 20, image.width, middle + 20))).astype(int)
