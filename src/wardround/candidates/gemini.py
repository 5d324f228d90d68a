"""`gemini`: Gemini by generateContent, of the Gemini API or on Google's Vertex AI."""

from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

import orjson

from wardround.candidates.batches.batch_api import BatchApi
from wardround.candidates.batches.gemini_batches import GeminiBatches
from wardround.candidates.candidate import Fault, Reply, Request, Unsupported
from wardround.candidates.http.connection import Connection
from wardround.candidates.http.errors import ServerError
from wardround.candidates.http.hosts import gemini_host
from wardround.candidates.http.server import (
    THINKING_TOKENS,
    ServerCandidate,
    as_count,
    as_objects,
    as_text,
    image_placeholder,
)
from wardround.core.ask import Answer, Ask, Message
from wardround.core.study import CandidateSettings

MAX_ALTERNATIVES = 20  # whose log-probabilities the API gives
FILTERS = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR", "OTHER"}
FINISHES = {"STOP": "stop", "MAX_TOKENS": "length"} | dict.fromkeys(FILTERS - {"OTHER"}, "content_filter")
SAMPLING_NAMES = {"temperature": "temperature", "top_p": "topP", "top_k": "topK", "max_tokens": "maxOutputTokens"}


class Gemini(ServerCandidate):
    """A model behind generateContent. `extra_body` may hold safetySettings, and fields of generationConfig."""

    optional_fields: ClassVar[tuple[str, ...]] = ("temperature", "topP", "topK", "seed")
    renamed_fields: ClassVar[tuple[str, ...]] = ("thinkingConfig", "responseLogprobs", "logprobs")
    count_field = "candidateCount"
    alternatives_field = "logprobs"

    def __init__(self, settings: CandidateSettings) -> None:
        super().__init__(settings, Connection(settings, gemini_host(settings)))
        self._thinks_by_level = False  # recent models may take a level instead of a budget

    def batch_api(self) -> BatchApi | None:
        model = str(self.settings.model).removeprefix("models/")
        return GeminiBatches(self, quote(model, safe="")) if self.settings.provider == "gemini" else None

    def make_payload(self, request: Request, count: int) -> dict[str, Any]:
        ask = request.ask
        if ask.scored_text is not None:
            raise Unsupported("generateContent gives no log-probabilities of a text")
        payload: dict[str, Any] = {"contents": self._contents(request)}
        if system := [
            {"text": text} for message in ask.messages if message.role == "system" for text in _texts(message)
        ]:
            payload["systemInstruction"] = {"parts": system}
        if ask.tools:
            declarations = [_declaration(tool["function"]) for tool in ask.tools]
            payload["tools"] = [{"functionDeclarations": declarations}]
        extra = self._connection.extra_body
        config = self._generation_config(request, count) | extra.get("generationConfig", {})
        payload |= extra | {"generationConfig": config}
        for name in self._refused_fields:
            config.pop(name, None)
        return payload

    def _generation_config(self, request: Request, count: int) -> dict[str, Any]:
        sampling = request.ask.sampling
        fields = ((SAMPLING_NAMES[name], getattr(sampling, name)) for name in SAMPLING_NAMES)
        config: dict[str, Any] = {name: value for name, value in fields if value is not None and value != -1}
        if sampling.stop:
            config["stopSequences"] = list(sampling.stop)
        if sampling.logprobs:
            alternatives = min(sampling.logprobs, self._max_alternatives or MAX_ALTERNATIVES)
            config |= {"responseLogprobs": True, "logprobs": alternatives}
        if sampling.reasoning is not None:
            config["thinkingConfig"] = self._thinking(sampling.reasoning)
            if (
                sampling.reasoning and "maxOutputTokens" in config
            ):  # it covers thinking, too; the study's is the answer's
                config["maxOutputTokens"] += THINKING_TOKENS
        if count > 1:
            config["candidateCount"] = count
        if request.seed is not None:
            config["seed"] = request.seed
        return config

    def _thinking(self, is_on: bool) -> dict[str, Any]:
        switch: dict[str, Any] = {"thinkingBudget": THINKING_TOKENS if is_on else 0}
        if self._thinks_by_level:
            switch = {"thinkingLevel": "high" if is_on else "minimal"}
        return switch | ({"includeThoughts": True} if is_on else {})

    def _adapt(self, error: ServerError, payload: dict[str, Any], ask: Ask) -> None:
        if ask.sampling.reasoning is not None and not self._thinks_by_level and error.does_not_take("thinking budget"):
            self._thinks_by_level = True
            self.warnings.append(
                "the model takes no thinking budget: the level 'high' is sent for on, 'minimal' for off, with which it "
                "may still reason"
            )
            raise self._adapted("takes a thinking level instead of a budget", error)
        super()._adapt(error, payload, ask)

    def adaptable_fields(self, payload: dict[str, Any]) -> Mapping[str, Any]:
        config: dict[str, Any] = payload["generationConfig"]
        return config

    def fields_to_leave_out(self, ask: Ask) -> tuple[str, ...]:
        fields = super().fields_to_leave_out(ask)
        # reasoning is a condition of the study: a model that cannot switch it declines the request
        return tuple(name for name in fields if name != "thinkingConfig")

    def _leave_out(self, name: str, ask: Ask) -> None:
        if name in ("responseLogprobs", "logprobs"):
            self._leave_out_logprobs()
        else:
            super()._leave_out(name, ask)

    def _contents(self, request: Request) -> list[dict[str, Any]]:
        images = iter(request.images)
        contents: list[dict[str, Any]] = []
        names: dict[str, str] = {}  # of the functions that were called, by call
        for message in request.ask.messages:
            if message.role == "system":
                continue
            parts: list[dict[str, Any]] = []
            for part in message.parts:
                if isinstance(part, str):
                    parts += [{"text": part}] if part else []
                else:
                    image = next(images)
                    parts.append({"inlineData": {"mimeType": image.media_type, "data": image_placeholder(image)}})
            role = "model" if message.role == "assistant" else "user"
            if message.tool_call_id is not None:
                name = names.get(message.tool_call_id, "")
                response = {"result": "\n\n".join(_texts(message))}
                parts = [{"functionResponse": {"name": name, "response": response}}]
            for call in message.tool_calls:
                function = call.get("function", {})
                names[str(call.get("id"))] = function.get("name", "")
                arguments = orjson.loads(function.get("arguments") or "{}")
                signature = {"thoughtSignature": call["thoughtSignature"]} if "thoughtSignature" in call else {}
                parts.append({"functionCall": {"name": function.get("name", ""), "args": arguments}, **signature})
            if contents and contents[-1]["role"] == role:
                contents[-1]["parts"] += parts
            else:
                contents.append({"role": role, "parts": parts})
        return contents

    def parse_reply(self, body: bytes, request: Request) -> Reply:
        reply = self._load_object(body)
        usage = reply["usageMetadata"] if isinstance(reply.get("usageMetadata"), dict) else None
        candidates = as_objects(reply.get("candidates"))
        feedback = reply.get("promptFeedback")
        if not candidates and isinstance(feedback, dict) and feedback.get("blockReason"):
            blocked = Answer(
                "", "content_filter", refusal=as_text(feedback["blockReason"]), images=request.image_hashes
            )
            return Reply([blocked] * len(request.trials), *self.count_tokens(usage or {}))
        if not candidates:
            raise Fault("HTTP 200, but the body contains no candidates", kind="no candidates")
        candidates = sorted(candidates, key=lambda candidate: as_count(candidate.get("index")))[: len(request.trials)]
        answers = [self._answer(candidate, reply, request) for candidate in candidates]
        self._check_not_empty(answers, usage)
        tokens_in, tokens_out = self.count_tokens(usage or {})
        cached = as_count((usage or {}).get("cachedContentTokenCount"))
        return Reply(answers, tokens_in, tokens_out, cached_in=cached)

    def _answer(self, candidate: dict[str, Any], reply: dict[str, Any], request: Request) -> Answer:
        content = candidate.get("content")
        parts = as_objects(content.get("parts")) if isinstance(content, dict) else []
        reason = as_text(candidate.get("finishReason"))
        calls = [
            _tool_call(part, number) for number, part in enumerate(parts) if isinstance(part.get("functionCall"), dict)
        ]
        return Answer(
            text="".join(as_text(part.get("text")) for part in parts if not part.get("thought")),
            finish="tool_calls" if calls else FINISHES.get(reason, reason.lower() or "stop"),
            reasoning="\n\n".join(as_text(part.get("text")) for part in parts if part.get("thought")) or None,
            tool_calls=tuple(calls),
            first_token=_first_token(candidate) if request.ask.sampling.logprobs else None,
            model=as_text(reply.get("modelVersion")) or None,
            refusal=as_text(candidate.get("finishMessage")) or reason if reason in FILTERS else None,
            images=request.image_hashes,
        )

    @staticmethod
    def count_tokens(usage: dict[str, Any]) -> tuple[int, int]:
        """Thoughts are billed as output and counted apart."""
        names = ("candidatesTokenCount", "thoughtsTokenCount")
        return as_count(usage.get("promptTokenCount")), sum(as_count(usage.get(name)) for name in names)


def _texts(message: Message) -> list[str]:
    return [part for part in message.parts if isinstance(part, str)]


def _declaration(function: dict[str, Any]) -> dict[str, Any]:
    names = {"name": "name", "description": "description", "parameters": "parametersJsonSchema"}
    return {new: function[name] for name, new in names.items() if name in function}


def _tool_call(part: dict[str, Any], number: int) -> dict[str, Any]:
    """A function call in the form that all candidates' answers have; the API wants its signature back."""
    call = part["functionCall"]
    arguments = orjson.dumps(call.get("args") or {}).decode()
    function = {"name": as_text(call.get("name")), "arguments": arguments}
    record: dict[str, Any] = {
        "id": as_text(call.get("id")) or f"call-{number}",
        "type": "function",
        "function": function,
    }
    return record | ({"thoughtSignature": part["thoughtSignature"]} if part.get("thoughtSignature") else {})


def _first_token(candidate: dict[str, Any]) -> tuple[tuple[str, float], ...] | None:
    result = candidate.get("logprobsResult")
    steps = as_objects(result.get("topCandidates")) if isinstance(result, dict) else []
    if not steps:
        return None
    return tuple(
        (entry["token"], float(entry["logProbability"]))
        for entry in as_objects(steps[0].get("candidates"))
        if isinstance(entry.get("token"), str) and isinstance(entry.get("logProbability"), int | float)
    )
