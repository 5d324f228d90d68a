"""An Ask as llama.cpp's chat completions take it, and what they give back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wardround.candidates.candidate import Request
from wardround.cases.encoded import Encoded
from wardround.core.ask import Answer, Message, Sampling

# llama.cpp filters and reshapes by default (top_k 40, top_p .95, min_p .05, temperature .8): votes would not
# follow the model's own distribution. Whatever the study does not ask for is switched off by name.
PLAIN: dict[str, Any] = {
    "samplers": ["penalties", "temperature", "top_k", "top_p", "min_p"],
    "temperature": 1.0,
    "dynatemp_range": 0.0,
    "mirostat": 0,
    "top_k": 0,
    "top_p": 1.0,
    "min_p": 0.0,
    "repeat_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}


def prompt_of(request: Request, extra_body: dict[str, Any]) -> dict[str, Any]:
    """All that the model reads: the same for every trial of a request."""
    images = iter(request.images)
    prompt: dict[str, Any] = {"messages": [_message(message, images) for message in request.ask.messages]}
    if request.ask.tools:
        prompt["tools"] = list(request.ask.tools)
    if request.ask.sampling.reasoning is not None:
        prompt["chat_template_kwargs"] = {"enable_thinking": request.ask.sampling.reasoning}
    return prompt | extra_body


def sampled(sampling: Sampling) -> dict[str, Any]:
    """What the study asks for, over `PLAIN`."""
    given = {name: getattr(sampling, name) for name in ("temperature", "top_p", "top_k", "max_tokens")}
    told = {name: value for name, value in given.items() if value is not None}
    if sampling.stop:
        told["stop"] = list(sampling.stop)
    return told


def _message(message: Message, images: Iterator[Encoded]) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role}
    if all(isinstance(part, str) for part in message.parts):
        told["content"] = "\n\n".join(str(part) for part in message.parts)
    else:
        told["content"] = [
            {"type": "text", "text": part} if isinstance(part, str) else _image(next(images)) for part in message.parts
        ]
    if message.tool_calls:
        told["tool_calls"] = list(message.tool_calls)
    if message.tool_call_id is not None:
        told["tool_call_id"] = message.tool_call_id
    return told


def _image(image: Encoded) -> dict[str, Any]:
    return {
        "type": "image_url",
        "image_url": {"url": f"data:{image.media_type};base64,{image.base64.decode()}"},
    }


def first_token_of(told: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    """The first token's alternatives. llama.cpp gives the log-softmax of the raw logits:
    temperature 1, nothing filtered."""
    first = told["choices"][0]["logprobs"]["content"][0]
    return tuple((entry["token"], entry["logprob"]) for entry in first["top_logprobs"])


def answer_of(
    told: dict[str, Any], first_token: tuple[tuple[str, float], ...] | None, images: tuple[Encoded, ...]
) -> Answer:
    """A chat completion as an Answer."""
    choice = told["choices"][0]
    message = choice["message"]
    return Answer(
        text=message.get("content") or "",
        finish=choice.get("finish_reason") or "stop",
        reasoning=message.get("reasoning_content") or None,
        tool_calls=tuple(message.get("tool_calls") or ()),
        first_token=first_token,
        model=told.get("model"),
        images=tuple(image.sha256 for image in images),
    )
