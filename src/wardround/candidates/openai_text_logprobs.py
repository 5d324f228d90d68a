"""How a server foretells a given text: by `prompt_logprobs` (vLLM), or by `echo` with logprobs, where it offers one.

Both go to /completions, with the prompt as plain text. Which of them a server offers is found out with two words
before the first text, and remembered.
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple, Protocol

from wardround.candidates.candidate import Fault, Reply, Request, Unable
from wardround.candidates.text_logprobs import shared_start, texts
from wardround.core.ask import Answer, Foretold
from wardround.core.study import CandidateSettings

WAYS: dict[str, dict[str, Any]] = {
    "prompt_logprobs": {"prompt_logprobs": 0},
    "echo": {"echo": True, "logprobs": 0},
}
TRIED = "one two"
KEPT = 64  # prompts: the texts of a case are asked about together
NOT_OFFERED = {400, 404, 405, 415, 422, 501}
OFFERS_NONE = (
    "the server gives no log-probabilities of a given text (neither prompt_logprobs nor echo with logprobs on "
    "/completions): probes that need them are not put"
)


class Complete(Protocol):
    async def __call__(self, body: dict[str, Any], *, trying: bool) -> dict[str, Any] | None: ...


class Read(NamedTuple):
    """The tokens of a text but its first, as the server names them, and how probable each was after those before."""

    tokens: list[str]
    logprobs: list[float]
    model: str | None = None  # as the server named itself


class Foretelling:
    """One server's way of foretelling.

    `complete` sends a request to /completions. It gives None where the server does not offer what is tried.
    """

    def __init__(self, settings: CandidateSettings, complete: Complete) -> None:
        self._settings, self._complete = settings, complete
        self._way: str | None = None  # empty where the server offers none
        self._finding = asyncio.Lock()
        self._prompts: dict[str, Read] = {}  # the last that texts were foretold after

    async def reply(self, request: Request) -> Reply:
        """How probable the text of the request is."""
        async with self._finding:
            if self._way is None:
                self._way = await self._offered()
        if not self._way:
            raise Unable(OFFERS_NONE)
        prompt, whole = texts(request.ask)
        before, reads = self._prompts.get(prompt), 1
        if before is None:
            before, reads = await self._read(prompt, self._way), 2
            self._prompts[prompt] = before
            if len(self._prompts) > KEPT:
                del self._prompts[next(iter(self._prompts))]
        both = await self._read(whole, self._way)
        begin = shared_start(before.tokens, both.tokens)
        if begin == len(both.tokens):
            raise Fault("HTTP 200, but no token of the text was told")
        size = len(str(request.ask.foretold).encode())
        found = Foretold(sum(both.logprobs[begin:]), len(both.tokens) - begin, size)
        answer = Answer("", model=both.model, foretold=found)
        tokens_in = len(both.tokens) + (len(before.tokens) if reads > 1 else 0) + reads  # the first of each is not told
        return Reply([answer] * len(request.trials), tokens_in, reads)

    async def _offered(self) -> str:
        """The first way in which the server tells of the tokens it read, or nothing."""
        for way in WAYS:
            told = await self._complete(self._body(TRIED, way), trying=True)
            if told is not None and read(told, way) is not None:
                return way
        return ""

    async def _read(self, text: str, way: str) -> Read:
        told = await self._complete(self._body(text, way), trying=False)
        found = read(told or {}, way)
        if found is None:
            raise Fault("HTTP 200, but the body tells nothing of the tokens that were read")
        return found

    def _body(self, text: str, way: str) -> dict[str, Any]:
        """Some servers write at least one token; it is dropped."""
        own = {key: value for key, value in self._settings.extra_body.items() if key != "chat_template_kwargs"}
        named = {} if self._settings.model is None else {"model": self._settings.model}
        return {**named, "prompt": text, "max_tokens": 1, "temperature": 0.0, **WAYS[way], **own}


def read(told: dict[str, Any], way: str) -> Read | None:
    """What a reply says of the tokens that were read; None where it says nothing of them."""
    choices = told.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    found = _by_position(choice) if way == "prompt_logprobs" else _echoed(choice, told)
    if found is not None and not all(isinstance(value, int | float) for value in found.logprobs):
        raise Fault("HTTP 200, but a log-probability is no number")
    model = told.get("model")
    return found and found._replace(model=model if isinstance(model, str) else None)


def _by_position(choice: dict[str, Any]) -> Read | None:
    """One object a token, the first of which has none: {"token id": {"logprob": ...}}, the token itself first."""
    positions = choice.get("prompt_logprobs")
    if not isinstance(positions, list) or not all(isinstance(each, dict) and each for each in positions[1:]):
        return None
    firsts = [next(iter(each.items())) for each in positions[1:]]
    return Read([token for token, _ in firsts], [entry.get("logprob") for _, entry in firsts])


def _echoed(choice: dict[str, Any], told: dict[str, Any]) -> Read | None:
    """Tokens and log-probabilities side by side, those that were written last; the first read has none."""
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, dict):
        return None
    tokens, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return None
    usage = told.get("usage")
    written = usage.get("completion_tokens") if isinstance(usage, dict) else None
    end = len(tokens) - (written if isinstance(written, int) else 1)
    return Read([str(token) for token in tokens[1:end]], values[1:end]) if end > 1 else None
