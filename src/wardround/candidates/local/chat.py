"""A request to llama.cpp's chat completions, and the Answer in its reply."""

from typing import Any

from wardround.candidates.candidate import Request
from wardround.candidates.request_body import chat_messages
from wardround.core.ask import Answer

FirstToken = tuple[tuple[str, float], ...]  # the likeliest tokens and their log-probabilities
# llama.cpp filters and reshapes by default (top_k 40, top_p .95, min_p .05, temperature .8): votes would not
# follow the model's own distribution. Every setting that the study does not name is switched off.
NEUTRAL_FIELDS: dict[str, Any] = {
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
    """The part of a request that is the same for all its trials."""
    prompt: dict[str, Any] = {"messages": chat_messages(request, lambda image: image.base64.decode())}
    if request.ask.tools:
        prompt["tools"] = list(request.ask.tools)
    if request.ask.sampling.reasoning is not None:
        prompt["chat_template_kwargs"] = {"enable_thinking": request.ask.sampling.reasoning}
    return prompt | extra_body


def first_token_of(completion: dict[str, Any]) -> FirstToken | None:
    """The first token's alternatives: the log-softmax of the raw logits, so temperature 1, nothing filtered.

    None if the completion has none.
    """
    content = (completion["choices"][0].get("logprobs") or {}).get("content")
    return tuple((entry["token"], entry["logprob"]) for entry in content[0]["top_logprobs"]) if content else None


def answer_of(completion: dict[str, Any], first_token: FirstToken | None, images: tuple[str, ...]) -> Answer:
    """A chat completion as an Answer."""
    choice = completion["choices"][0]
    message = choice["message"]
    return Answer(
        text=message.get("content") or "",
        finish=choice.get("finish_reason") or "stop",
        reasoning=message.get("reasoning_content") or None,
        tool_calls=tuple(message.get("tool_calls") or ()),
        first_token=first_token,
        model=completion.get("model"),
        images=images,
    )
