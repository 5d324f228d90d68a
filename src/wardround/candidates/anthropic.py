"""`anthropic`: Claude by the Messages API, at Anthropic, on Amazon Bedrock or on Google's Vertex AI."""

from typing import Any, ClassVar

import orjson

from wardround.candidates.batches.anthropic_batches import AnthropicBatches
from wardround.candidates.batches.batch_api import BatchApi
from wardround.candidates.candidate import Fault, Reply, Request, Unsupported
from wardround.candidates.http.connection import Connection
from wardround.candidates.http.hosts import ApiHost, claude_host
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

DEFAULT_MAX_TOKENS = 4096  # the API demands a number; ours, if the study names none
FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "declined",
}


class Anthropic(ServerCandidate):
    """A model behind the Messages API.

    It has no log-probabilities and one answer a request. API version 2026-10-21, and recent models under any version,
    refuse temperature, top_p and top_k: these are then left out, and the run says so.
    """

    optional_fields: ClassVar[tuple[str, ...]] = ("temperature", "top_p", "top_k")
    renamed_fields: ClassVar[tuple[str, ...]] = ("thinking",)

    def __init__(self, settings: CandidateSettings) -> None:
        self._host: ApiHost = claude_host(settings)
        super().__init__(settings, Connection(settings, self._host))

    def batch_api(self) -> BatchApi | None:
        return AnthropicBatches(self) if self.settings.provider == "anthropic" else None

    def make_payload(self, request: Request, count: int) -> dict[str, Any]:
        ask, sampling = request.ask, request.ask.sampling
        if ask.scored_text is not None or sampling.logprobs:
            raise Unsupported("the Messages API gives no log-probabilities")
        payload: dict[str, Any] = {
            **self._host.body,
            "max_tokens": sampling.max_tokens or DEFAULT_MAX_TOKENS,
            "messages": self._messages(request),
        }
        names = ("temperature", "top_p", "top_k")
        payload |= {name: value for name in names if (value := getattr(sampling, name)) is not None}
        if system := "\n\n".join(_texts(message) for message in ask.messages if message.role == "system"):
            payload["system"] = system
        if sampling.stop:
            payload["stop_sequences"] = list(sampling.stop)
        if ask.tools:
            payload["tools"] = [_tool(tool["function"]) for tool in ask.tools]
        if sampling.reasoning is not None:
            payload["thinking"] = self._thinking(sampling.reasoning)
        payload |= self._connection.extra_body
        for name in self._refused_fields - {"thinking"}:
            payload.pop(name, None)
        if payload.get("thinking", {"type": "disabled"}).get("type") != "disabled":
            # max_tokens covers thinking, too; that of the study is the answer's
            payload["max_tokens"] += payload["thinking"].get("budget_tokens", THINKING_TOKENS)
        return payload

    def _thinking(self, is_on: bool) -> dict[str, Any]:
        """Models since Claude 4.6 decide how long to think, those before it take a budget."""
        if not is_on:
            return {"type": "disabled"}
        if "thinking" in self._refused_fields:
            return {"type": "enabled", "budget_tokens": THINKING_TOKENS}
        return {"type": "adaptive", "display": "summarized"}

    def fields_to_leave_out(self, ask: Ask) -> tuple[str, ...]:
        fields = super().fields_to_leave_out(ask)
        is_fixed = "thinking" in self._refused_fields | self._connection.extra_body.keys()
        return fields if ask.sampling.reasoning and not is_fixed else self.optional_fields

    def _messages(self, request: Request) -> list[dict[str, Any]]:
        images = iter(request.images)
        messages: list[dict[str, Any]] = []
        for message in request.ask.messages:
            if message.role == "system":
                continue
            blocks: list[dict[str, Any]] = []
            caches = self.settings.cache_prompts and not messages  # the case stands in the first message
            for part in message.parts:
                if not isinstance(part, str):
                    image = next(images)
                    source = {"type": "base64", "media_type": image.media_type, "data": image_placeholder(image)}
                    blocks.append({"type": "image", "source": source})
                else:
                    texts = _split_at_question(part, request.question.prompt) if caches else [part]
                    blocks += [{"type": "text", "text": text} for text in texts if text]
            if caches:
                _mark_shared_blocks(blocks)
            role = message.role
            if message.tool_call_id is not None:
                role, blocks = "user", [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": blocks}]
            for call in message.tool_calls:
                blocks = [*as_objects(call.get("thinking")), *blocks, _tool_use(call)]
            if messages and messages[-1]["role"] == role:  # results of one turn's calls are one message
                messages[-1]["content"] += blocks
            else:
                messages.append({"role": role, "content": blocks})
        return messages

    def parse_reply(self, body: bytes, request: Request) -> Reply:
        message = self._load_object(body)
        content = message.get("content")
        if not isinstance(content, list):
            raise Fault("HTTP 200, but the body contains no content", kind="no content")
        usage = message["usage"] if isinstance(message.get("usage"), dict) else None
        answer = self._answer(message, as_objects(content), request)
        self._check_not_empty([answer], usage)
        tokens_in, tokens_out = self.count_tokens(usage := usage or {})
        cached, written = (as_count(usage.get(f"cache_{kind}_input_tokens")) for kind in ("read", "creation"))
        return Reply([answer], tokens_in, tokens_out, cached_in=cached, cache_writes=written)

    def _answer(self, message: dict[str, Any], blocks: list[dict[str, Any]], request: Request) -> Answer:
        reason = as_text(message.get("stop_reason"))
        details = message.get("stop_details")
        explanation = as_text(details.get("explanation")) if isinstance(details, dict) else ""
        thinking = [block for block in blocks if block.get("type") in ("thinking", "redacted_thinking")]
        calls = [_tool_call(block) for block in blocks if block.get("type") == "tool_use"]
        if calls and thinking:
            calls[0]["thinking"] = thinking  # the API wants it back with the results of the calls
        return Answer(
            text="".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text"),
            finish=FINISHES.get(reason, reason or "stop"),
            reasoning="\n\n".join(filter(None, (as_text(block.get("thinking")) for block in thinking))) or None,
            tool_calls=tuple(calls),
            model=as_text(message.get("model")) or None,
            refusal=explanation or None if reason == "refusal" else None,
            images=request.image_hashes,
        )

    @staticmethod
    def count_tokens(usage: dict[str, Any]) -> tuple[int, int]:
        """Input tokens are counted in three fields: new, written to the cache, read from it."""
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        return sum(as_count(usage.get(name)) for name in names), as_count(usage.get("output_tokens"))


def _texts(message: Message) -> str:
    return "\n\n".join(part for part in message.parts if isinstance(part, str))


def _split_at_question(text: str, question: str) -> list[str]:
    """What other questions of the case share of a prompt, and the rest; the prompt whole if they share nothing."""
    shared = text.rpartition(question)[0] if question else ""
    return [shared, text.removeprefix(shared)] if shared.strip() else [text]


def _mark_shared_blocks(blocks: list[dict[str, Any]]) -> None:
    """Asks the server to keep the images, and images and text up to the question."""
    for block in [*[block for block in blocks if block["type"] == "image"][-1:], *blocks[-2:-1]]:
        block["cache_control"] = {"type": "ephemeral"}


def _tool(function: dict[str, Any]) -> dict[str, Any]:
    tool = {"name": function["name"], "input_schema": function.get("parameters", {"type": "object"})}
    return tool | ({"description": function["description"]} if "description" in function else {})


def _tool_use(call: dict[str, Any]) -> dict[str, Any]:
    """A tool call of the transcript, as the API gave it."""
    function = call.get("function", {})
    arguments = orjson.loads(function.get("arguments") or "{}")
    return {"type": "tool_use", "id": call.get("id"), "name": function.get("name"), "input": arguments}


def _tool_call(block: dict[str, Any]) -> dict[str, Any]:
    """A tool call in the form that all candidates' answers have."""
    arguments = orjson.dumps(block.get("input") or {}).decode()
    function = {"name": as_text(block.get("name")), "arguments": arguments}
    return {"id": as_text(block.get("id")), "type": "function", "function": function}
