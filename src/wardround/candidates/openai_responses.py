"""`openai:responses`: models behind OpenAI's Responses API, for those that have no chat completions."""

from collections.abc import Mapping
from typing import Any, ClassVar

from wardround.candidates.batches.batch_api import BatchApi
from wardround.candidates.batches.openai_batches import OpenAIBatches
from wardround.candidates.candidate import Fault, Reply, Request, Unsupported
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
from wardround.candidates.openai import parse_first_token
from wardround.candidates.reasoning_effort import ReasoningEffort
from wardround.core.ask import Answer, Ask, Message
from wardround.core.study import CandidateSettings

MIN_OUTPUT_TOKENS = 16  # the API takes no fewer
LOGPROBS, ENCRYPTED_REASONING = "message.output_text.logprobs", "reasoning.encrypted_content"  # values of `include`
# names by which errors call parts of the request, besides its own fields
SUMMARY, EFFORT = "reasoning.summary", "reasoning.effort"
FINISHES = {"max_output_tokens": "length", "content_filter": "content_filter"}
NOT_IN_API = ("stop", "seed", "top_k")


class Responses(ServerCandidate):
    """A model behind the Responses API, asked without a stored conversation: one answer a request.

    The API has no stop sequences, seed and top_k; the run says so if the study asks for them.
    """

    optional_fields: ClassVar[tuple[str, ...]] = ("temperature", "top_p")
    renamed_fields: ClassVar[tuple[str, ...]] = (SUMMARY, ENCRYPTED_REASONING)
    alternatives_field = "top_logprobs"

    def __init__(self, settings: CandidateSettings) -> None:
        super().__init__(settings, Connection(settings, chat_host(settings)))
        self._effort = ReasoningEffort()

    def batch_api(self) -> BatchApi | None:
        return OpenAIBatches(self, "/v1/responses")

    def make_payload(self, request: Request, count: int) -> dict[str, Any]:
        ask, sampling = request.ask, request.ask.sampling
        if ask.scored_text is not None:
            raise Unsupported("the Responses API gives no log-probabilities of a given text")
        payload: dict[str, Any] = {"model": self.settings.model, "input": self._input(request), "store": False}
        if system := "\n\n".join(_text(message) for message in ask.messages if message.role == "system"):
            payload["instructions"] = system
        names = ("temperature", "top_p")
        payload |= {name: value for name in names if (value := getattr(sampling, name)) is not None}
        if sampling.max_tokens:
            thinking = 0 if sampling.reasoning is False or sampling.logprobs else THINKING_TOKENS  # it covers both
            payload["max_output_tokens"] = max(MIN_OUTPUT_TOKENS, sampling.max_tokens + thinking)
        if sampling.reasoning is not None:
            payload["reasoning"] = {"effort": self._effort.choose(sampling.reasoning)}
            if sampling.reasoning and SUMMARY not in self._refused_fields:
                payload["reasoning"]["summary"] = "auto"
        include = []
        if sampling.logprobs:
            include.append(LOGPROBS)
            payload["top_logprobs"] = min(sampling.logprobs, self._max_alternatives or sampling.logprobs)
        if ask.tools:
            payload["tools"] = [_tool(tool["function"]) for tool in ask.tools]
            if ENCRYPTED_REASONING not in self._refused_fields:
                include.append(ENCRYPTED_REASONING)  # goes back with the results, because nothing is stored
        if include:
            payload["include"] = include
        payload |= self._connection.extra_body
        for name in self._refused_fields:
            payload.pop(name, None)
        self._warn_of_missing_fields(request)
        return payload

    def _warn_of_missing_fields(self, request: Request) -> None:
        sampling = request.ask.sampling
        asked = {"stop": sampling.stop, "seed": request.seed is not None, "top_k": (sampling.top_k or -1) > 0}
        for name in NOT_IN_API:
            warning = f"the Responses API takes no {name}: it is not sent"
            if asked[name] and warning not in self.warnings:
                self.warnings.append(warning)

    def _input(self, request: Request) -> list[dict[str, Any]]:
        images = iter(request.images)
        items: list[dict[str, Any]] = []
        for message in request.ask.messages:
            if message.role == "system":
                continue
            if message.tool_call_id is not None:
                output = {"type": "function_call_output", "call_id": message.tool_call_id, "output": _text(message)}
                items.append(output)
                continue
            content: list[dict[str, Any]] = []
            for part in message.parts:
                if not isinstance(part, str):
                    image = next(images)
                    url = f"data:{image.media_type};base64,{image_placeholder(image)}"
                    content.append({"type": "input_image", "image_url": url, "detail": "auto"})
                elif part:
                    content.append({"type": "input_text", "text": part})
            if message.role == "assistant":
                calls = [
                    item for call in message.tool_calls for item in (*as_objects(call.get("reasoning")), _call(call))
                ]
                text = _text(message)
                items += [*([{"role": "assistant", "content": text}] if text else []), *calls]
            else:
                items.append({"role": message.role, "content": content})
        return items

    def adaptable_fields(self, payload: dict[str, Any]) -> Mapping[str, Any]:
        parts = {f"reasoning.{name}": value for name, value in (payload.get("reasoning") or {}).items()}
        return payload | parts | dict.fromkeys(payload.get("include") or ())

    def fields_to_leave_out(self, ask: Ask) -> tuple[str, ...]:
        fields = super().fields_to_leave_out(ask)
        return (*fields, "top_logprobs", LOGPROBS) if ask.sampling.logprobs else fields

    def _adapt(self, error: ServerError, payload: dict[str, Any], ask: Ask) -> None:
        effort = (payload.get("reasoning") or {}).get("effort")
        if ask.sampling.reasoning is not None and EFFORT not in self._accepted_fields:
            self._replace_effort(self._effort, error, EFFORT, effort)
        super()._adapt(error, payload, ask)

    def _leave_out(self, name: str, ask: Ask) -> None:
        if name in ("top_logprobs", LOGPROBS):
            self._leave_out_logprobs()
        else:
            super()._leave_out(name, ask)

    def parse_reply(self, body: bytes, request: Request) -> Reply:
        response = self._load_object(body)
        if not isinstance(response.get("output"), list):
            raise Fault("HTTP 200, but the body contains no output", kind="no output")
        usage = response["usage"] if isinstance(response.get("usage"), dict) else None
        if response.get("status") in ("failed", "cancelled"):
            self._raise_enclosed(f"the response has the status {response['status']}", usage)
        answer = self._answer(response, request)
        self._check_not_empty([answer], usage)
        tokens_in, tokens_out = self.count_tokens(usage or {})
        details = (usage or {}).get("input_tokens_details")
        cached = as_count(details.get("cached_tokens")) if isinstance(details, dict) else 0
        return Reply([answer], tokens_in, tokens_out, cached_in=cached)

    def _answer(self, response: dict[str, Any], request: Request) -> Answer:
        items = as_objects(response["output"])
        content = [part for item in items if item.get("type") == "message" for part in as_objects(item.get("content"))]
        reasoning = [item for item in items if item.get("type") == "reasoning"]
        calls = [_tool_call(item) for item in items if item.get("type") == "function_call"]
        if calls and reasoning:
            calls[0]["reasoning"] = reasoning  # the API wants it back with the results of the calls
        details = response.get("incomplete_details")
        reason = as_text(details.get("reason")) if isinstance(details, dict) else ""
        return Answer(
            text="".join(as_text(part.get("text")) for part in content if part.get("type") == "output_text"),
            finish=FINISHES.get(reason, reason) or ("tool_calls" if calls else "stop"),
            reasoning="\n\n".join(filter(None, map(_reasoning_text, reasoning))) or None,
            tool_calls=tuple(calls),
            first_token=_first_token(content) if request.ask.sampling.logprobs else None,
            model=as_text(response.get("model")) or None,
            refusal="".join(as_text(part.get("refusal")) for part in content) or None,
            images=request.image_hashes,
        )

    @staticmethod
    def count_tokens(usage: dict[str, Any]) -> tuple[int, int]:
        """Output tokens include those of reasoning."""
        return as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))


def _text(message: Message) -> str:
    return "\n\n".join(part for part in message.parts if isinstance(part, str))


def _tool(function: dict[str, Any]) -> dict[str, Any]:
    """The API makes a schema strict unless told not to; other APIs do not."""
    return {"type": "function", "parameters": {"type": "object", "properties": {}}, **function, "strict": False}


def _call(call: dict[str, Any]) -> dict[str, Any]:
    """A tool call of the transcript, as the API gave it."""
    function = call.get("function", {})
    record = {"type": "function_call", "call_id": call.get("id"), "name": function.get("name")}
    return record | {"arguments": function.get("arguments") or "{}"}


def _tool_call(item: dict[str, Any]) -> dict[str, Any]:
    """A tool call in the form that all candidates' answers have."""
    function = {"name": as_text(item.get("name")), "arguments": as_text(item.get("arguments"))}
    return {"id": as_text(item.get("call_id")), "type": "function", "function": function}


def _reasoning_text(item: dict[str, Any]) -> str:
    """The reasoning itself, if the server shows it; else its summary."""
    parts = as_objects(item.get("content")) or as_objects(item.get("summary"))
    return "\n\n".join(as_text(part.get("text")) for part in parts)


def _first_token(content: list[dict[str, Any]]) -> tuple[tuple[str, float], ...] | None:
    tokens = [token for part in content for token in as_objects(part.get("logprobs"))]
    return parse_first_token(tokens[0]) if tokens else None
