"""Plain completions as servers answer them: with prompt_logprobs (vLLM), with echo, and with neither."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from aiohttp import web

TOKEN = re.compile(r"\s?\w{1,4}|\s|[^\w\s]")


def tokens(text: str) -> list[str]:
    """A tokenizer whose tokens never cross from a word into the next."""
    return TOKEN.findall(text)


def logprob(token: str, before: str) -> float:
    """Some number for each token after another; no two are alike."""
    return -1 - hashlib.sha256(f"{before}|{token}".encode()).digest()[0] / 64


def logprobs(text: str) -> list[float]:
    read = tokens(text)
    return [logprob(token, before) for before, token in zip(["<s>", *read], read, strict=False)]


def _completion(choice: dict[str, Any], many: int) -> web.Response:
    completed = {"index": 0, "text": "", "finish_reason": "length", **choice}
    usage = {"prompt_tokens": many, "completion_tokens": 1}
    return web.json_response({"model": "exam-model", "choices": [completed], "usage": usage})


def vllm(body: dict[str, Any]) -> web.Response:
    """prompt_logprobs: one object a token, keyed by its number, the first null; here with a beginning-of-text token."""
    read = tokens(body["prompt"])
    if body.get("prompt_logprobs") is None:
        return web.json_response({"error": {"message": "echo is not there"}}, status=400)
    numbers = [str(int(hashlib.sha256(token.encode()).hexdigest()[:7], 16)) for token in read]
    positions = [
        {number: {"logprob": value, "rank": 7, "decoded_token": token}, "1": {"logprob": -0.1, "rank": 1}}
        for number, value, token in zip(numbers, logprobs(body["prompt"]), read, strict=True)
    ]
    return _completion({"prompt_logprobs": [None, *positions], "logprobs": None}, len(read) + 1)


def echoing(body: dict[str, Any]) -> web.Response:
    """echo: tokens and log-probabilities side by side, the written token last."""
    if "prompt_logprobs" in body:
        return web.json_response({"error": {"message": "unknown field prompt_logprobs"}}, status=422)
    assert body["echo"] is True
    read, values = tokens(body["prompt"]), logprobs(body["prompt"])
    choice = {"tokens": ["<s>", *read, " and"], "token_logprobs": [None, *values, -0.5]}
    return _completion({"logprobs": choice, "text": body["prompt"] + " and"}, len(read) + 1)


def llama_cpp(body: dict[str, Any]) -> web.Response:
    """Knows neither: it tells of the token that it wrote alone, in the shape of chat completions."""
    written = {"content": [{"id": 5, "token": " and", "logprob": -0.5, "top_logprobs": []}]}
    return _completion({"logprobs": written, "text": " and"}, len(tokens(body["prompt"])))


def writing_alone(body: dict[str, Any]) -> web.Response:
    """Ignores echo, and tells of the token that it wrote alone."""
    return _completion({"logprobs": {"tokens": [" and"], "token_logprobs": [-0.5]}, "text": " and"}, 3)


def refusing(body: dict[str, Any]) -> web.Response:
    return web.json_response({"error": {"message": "no completions here"}}, status=405)
