"""Log-probabilities of a text from a server: by `prompt_logprobs` (vLLM), or by `echo` with logprobs.

Both go to /completions, with the prompt as plain text. A request with two words finds out which of them the server
supports before the first text.
"""

import asyncio
from typing import Any, NamedTuple, Protocol

from wardround.candidates.candidate import Fault, Reply, Request, Unsupported
from wardround.candidates.text_logprobs import prompt_and_text, shared_start
from wardround.core.ask import Answer, TextLogprob

METHOD_FIELDS: dict[str, dict[str, Any]] = {
    "prompt_logprobs": {"prompt_logprobs": 0},
    "echo": {"echo": True, "logprobs": 0},
}
TRIAL_PROMPT = "one two"
MAX_CACHED_PROMPTS = 64  # the texts of a case follow each other
NOT_OFFERED = {400, 404, 405, 415, 422, 501}
UNSUPPORTED = (
    "the server gives no log-probabilities of a given text (neither prompt_logprobs nor echo with logprobs on "
    "/completions): probes that need them are left out"
)


class Complete(Protocol):
    """Sends a request to /completions; with `is_trial`, None if the server does not support it."""

    async def __call__(self, body: dict[str, Any], *, is_trial: bool) -> dict[str, Any] | None: ...


class TokenLogprobs(NamedTuple):
    """The tokens of a text but its first, as the server names them, each with its log-probability."""

    tokens: list[str]
    logprobs: list[float]
    model: str | None = None  # as the server names itself


class TextLogprobEndpoint:
    """The /completions endpoint of one server, and the method it supports."""

    def __init__(self, model: str | None, extra_body: dict[str, Any], complete: Complete) -> None:
        self._model, self._extra_body, self._complete = model, extra_body, complete
        self._method: str | None = None  # empty if the server supports none
        self._method_lock = asyncio.Lock()
        self._cached_prompts: dict[str, TokenLogprobs] = {}

    async def reply(self, request: Request) -> Reply:
        """The log-likelihood of the request's text."""
        async with self._method_lock:
            if self._method is None:
                self._method = await self._find_method()
        if not self._method:
            raise Unsupported(UNSUPPORTED)
        prompt, whole = prompt_and_text(request.ask)
        before, requests = self._cached_prompts.get(prompt), 1
        if before is None:
            before, requests = await self._request(prompt, self._method), 2
            self._cached_prompts[prompt] = before
            if len(self._cached_prompts) > MAX_CACHED_PROMPTS:
                del self._cached_prompts[next(iter(self._cached_prompts))]
        both = await self._request(whole, self._method)
        begin = shared_start(before.tokens, both.tokens)
        if begin == len(both.tokens):
            raise Fault("HTTP 200, but the body contains no token of the text")
        size = len(str(request.ask.scored_text).encode())
        score = TextLogprob(sum(both.logprobs[begin:]), len(both.tokens) - begin, size)
        answer = Answer("", model=both.model, text_logprob=score)
        # the first token of each request is not in its list
        tokens_in = len(both.tokens) + (len(before.tokens) if requests > 1 else 0) + requests
        return Reply([answer] * len(request.trials), tokens_in, requests)

    async def _find_method(self) -> str:
        for method in METHOD_FIELDS:
            completion = await self._complete(self._body(TRIAL_PROMPT, method), is_trial=True)
            if completion is not None and parse_token_logprobs(completion, method) is not None:
                return method
        return ""

    async def _request(self, text: str, method: str) -> TokenLogprobs:
        completion = await self._complete(self._body(text, method), is_trial=False)
        token_logprobs = parse_token_logprobs(completion or {}, method)
        if token_logprobs is None:
            raise Fault("HTTP 200, but the body contains no log-probabilities of the prompt")
        return token_logprobs

    def _body(self, text: str, method: str) -> dict[str, Any]:
        """Some servers write at least one token; it is dropped."""
        extra = {key: value for key, value in self._extra_body.items() if key != "chat_template_kwargs"}
        model = {} if self._model is None else {"model": self._model}
        return {**model, "prompt": text, "max_tokens": 1, "temperature": 0.0, **METHOD_FIELDS[method], **extra}


def parse_token_logprobs(completion: dict[str, Any], method: str) -> TokenLogprobs | None:
    """The log-probabilities of the prompt's tokens; None if the completion has none."""
    choices = completion.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    parsed = _by_position(choice) if method == "prompt_logprobs" else _echoed(choice, completion)
    if parsed is not None and not all(isinstance(value, int | float) for value in parsed.logprobs):
        raise Fault("HTTP 200, but a log-probability is not a number")
    model = completion.get("model")
    return parsed and parsed._replace(model=model if isinstance(model, str) else None)


def _by_position(choice: dict[str, Any]) -> TokenLogprobs | None:
    """One object a token, null for the first: {"token id": {"logprob": ...}}, the prompt's own token first."""
    positions = choice.get("prompt_logprobs")
    if not isinstance(positions, list) or not all(isinstance(entry, dict) and entry for entry in positions[1:]):
        return None
    firsts = [next(iter(entry.items())) for entry in positions[1:]]
    return TokenLogprobs([token for token, _ in firsts], [entry.get("logprob") for _, entry in firsts])


def _echoed(choice: dict[str, Any], completion: dict[str, Any]) -> TokenLogprobs | None:
    """Two parallel lists, the prompt's tokens before the written ones; the first token has no log-probability."""
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, dict):
        return None
    tokens, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return None
    usage = completion.get("usage")
    written = usage.get("completion_tokens") if isinstance(usage, dict) else None
    end = len(tokens) - (written if isinstance(written, int) else 1)
    return TokenLogprobs([str(token) for token in tokens[1:end]], values[1:end]) if end > 1 else None
