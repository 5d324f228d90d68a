"""`openai`: any server that speaks the OpenAI chat protocol (vLLM, SGLang, llama.cpp, Ollama, clouds)."""

from typing import Any

import orjson

from wardround.candidates.batches.batch_api import BatchApi
from wardround.candidates.batches.openai_batches import OpenAIBatches
from wardround.candidates.candidate import Fault, Reply, Request
from wardround.candidates.http.connection import Connection
from wardround.candidates.http.errors import ServerError
from wardround.candidates.http.hosts import chat_host
from wardround.candidates.http.server import (
    THINKING_TOKENS,
    ServerCandidate,
    as_count,
    as_objects,
    as_text,
    image_placeholder,
)
from wardround.candidates.openai_text_logprobs import NOT_OFFERED, TextLogprobEndpoint
from wardround.candidates.reasoning_effort import ReasoningEffort
from wardround.candidates.request_body import PiecewiseBody, chat_messages, sampling_fields
from wardround.core.ask import Answer, Ask
from wardround.core.study import CandidateSettings

# finish reasons by which servers say that a filter cut the reply, or that the model declined
FILTERED = {
    "content_filter",
    "content_filtered",
    "safety",
    "recitation",
    "prohibited_content",
    "blocklist",
    "sensitive",
}
DECLINED = {"refusal", "refused"}
# values that switch a filter off: left out for a server that does not know them
NEUTRAL_SAMPLING = {
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}


class OpenAI(ServerCandidate):
    """A server of chat completions."""

    optional_fields = ("temperature", "top_p", "top_k", "seed")
    renamed_fields = ("chat_template_kwargs", "max_tokens")
    count_field = "n"
    alternatives_field = "top_logprobs"

    def __init__(self, settings: CandidateSettings) -> None:
        connection = Connection(settings, chat_host(settings))
        super().__init__(settings, connection)
        self._effort = ReasoningEffort()
        self._completions_url = connection.url("/completions")
        self._text_logprobs = TextLogprobEndpoint(settings.model, connection.extra_body, self._complete)

    def batch_api(self) -> BatchApi | None:
        return None if self.settings.provider == "openai:azure" else OpenAIBatches(self)

    async def answer(self, request: Request) -> Reply:
        if request.ask.scored_text is not None:
            return await self._text_logprobs.reply(request)
        return await super().answer(request)

    def parse_reply(self, body: bytes, request: Request) -> Reply:
        completion = self._load_object(body)
        choices = completion.get("choices")
        if not isinstance(choices, list) or not choices or not all(_is_well_formed(choice) for choice in choices):
            raise Fault("HTTP 200, but the body contains no choices", kind="no choices")
        failed = [choice for choice in choices if choice.get("error") or choice.get("finish_reason") == "error"]
        if len(failed) == len(choices):
            self._raise_enclosed(failed[0].get("error") or "finish_reason is error", completion.get("usage"))
        choices = [choice for choice in choices if choice not in failed]  # the others are asked again
        choices = sorted(choices, key=lambda choice: as_count(choice.get("index")))[: len(request.trials)]
        answers = [self._answer(choice, completion, request) for choice in choices]
        usage = completion["usage"] if isinstance(completion.get("usage"), dict) else None
        self._check_not_empty(answers, usage)
        tokens_in, tokens_out = self.count_tokens(usage or {})
        return Reply(answers, tokens_in, tokens_out, cached_in=_cached(usage or {}))

    async def _complete(self, body: dict[str, Any], *, is_trial: bool) -> dict[str, Any] | None:
        """A plain completion; None if it is a trial and the server does not support it."""
        status, headers, reply = await self._post(PiecewiseBody([orjson.dumps(body)]), self._completions_url)
        if status == 200:
            return self._load_object(reply)
        if is_trial and status in NOT_OFFERED:
            return None
        error = self._error(status, headers, reply)
        error.raise_unless_specific()
        return error.raise_for_question(with_images=False)

    def make_payload(self, request: Request, count: int) -> dict[str, Any]:
        ask, sampling = request.ask, request.ask.sampling
        payload: dict[str, Any] = {"model": self.settings.model, "messages": chat_messages(request, image_placeholder)}
        payload |= sampling_fields(sampling)
        if sampling.logprobs:
            top = min(sampling.logprobs, self._max_alternatives or sampling.logprobs)
            payload |= {"logprobs": True, "top_logprobs": top, **NEUTRAL_SAMPLING}
        if sampling.reasoning is not None:
            if "chat_template_kwargs" not in self._refused_fields:
                payload["chat_template_kwargs"] = {"enable_thinking": sampling.reasoning}
            else:
                payload["reasoning_effort"] = self._effort.choose(sampling.reasoning)
        if ask.tools:
            payload["tools"] = list(ask.tools)
        if count > 1:
            payload["n"] = count
        if request.seed is not None:
            payload["seed"] = request.seed
        payload |= self._connection.extra_body
        if self.settings.model is None:
            del payload["model"]
        for name in self._refused_fields:
            payload.pop(name, None)
        if "max_tokens" in self._refused_fields and sampling.max_tokens:
            thinking = 0 if sampling.reasoning is False else THINKING_TOKENS  # this field covers both
            payload["max_completion_tokens"] = sampling.max_tokens + thinking
        return payload

    def fields_to_leave_out(self, ask: Ask) -> tuple[str, ...]:
        by_logprobs = ("logprobs", "top_logprobs", *NEUTRAL_SAMPLING) if ask.sampling.logprobs else ()
        return (*super().fields_to_leave_out(ask), *by_logprobs)

    def _adapt(self, error: ServerError, payload: dict[str, Any], ask: Ask) -> None:
        if ask.sampling.reasoning is not None and "reasoning_effort" not in self._accepted_fields:
            self._replace_effort(self._effort, error, "reasoning_effort", payload.get("reasoning_effort"))
        super()._adapt(error, payload, ask)

    def _leave_out(self, name: str, ask: Ask) -> None:
        if "logprobs" in name:
            self._leave_out_logprobs()
        elif ask.sampling.logprobs and name in NEUTRAL_SAMPLING:
            self._refused_fields.add(name)  # its neutral value is every server's default
        else:
            super()._leave_out(name, ask)

    @staticmethod
    def count_tokens(usage: dict[str, Any]) -> tuple[int, int]:
        """Prompt and completion; what the total has above them is reasoning that is billed, too."""
        tokens_in, tokens_out = as_count(usage.get("prompt_tokens")), as_count(usage.get("completion_tokens"))
        return tokens_in, max(tokens_out, as_count(usage.get("total_tokens")) - tokens_in)

    def _answer(self, choice: dict[str, Any], completion: dict[str, Any], request: Request) -> Answer:
        message = choice["message"]
        return Answer(
            text=as_text(message.get("content")),
            finish=_finish(choice.get("finish_reason")),
            reasoning=as_text(message.get("reasoning_content")) or as_text(message.get("reasoning")) or None,
            tool_calls=tuple(as_objects(message.get("tool_calls"))),
            first_token=_first_token(choice) if request.ask.sampling.logprobs else None,
            model=as_text(completion.get("model")) or None,
            fingerprint=as_text(completion.get("system_fingerprint")) or None,
            refusal=as_text(message.get("refusal")) or None,
            provider=as_text(completion.get("provider")) or None,
            images=request.image_hashes,
        )


def _is_well_formed(choice: Any) -> bool:
    return isinstance(choice, dict) and isinstance(choice.get("message"), dict)


def _cached(usage: dict[str, Any]) -> int:
    """Tokens of the prompt that came from the server's cache; DeepSeek has a field of its own."""
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else usage.get("prompt_cache_hit_tokens")
    return as_count(cached)


def _first_token(choice: dict[str, Any]) -> tuple[tuple[str, float], ...] | None:
    logprobs = choice.get("logprobs")
    content = as_objects(logprobs.get("content")) if isinstance(logprobs, dict) else []
    return parse_first_token(content[0]) if content else None


def parse_first_token(token: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    """The alternatives of a token and their log-probabilities."""
    return tuple(
        (entry["token"].replace("Ġ", " "), float(entry["logprob"]))  # the space of byte-level tokenizers, if left raw
        for entry in as_objects(token.get("top_logprobs"))
        if isinstance(entry.get("token"), str) and isinstance(entry.get("logprob"), int | float)
    )


def _finish(reason: Any) -> str:
    name = as_text(reason).lower()
    if name in FILTERED:
        return "content_filter"
    return "declined" if name in DECLINED else as_text(reason) or "stop"
