"""An imitation of OpenAI's Responses API, written from the reference as of 2026-11-18."""

from __future__ import annotations

from typing import Any, Literal

import orjson
from imitation import PLAN, QUERY, Imitation, Refusal, Schema, decoded_size, unknown_fields
from openai_api import openai_error, openai_fault
from pydantic import Field, ValidationError


class InputPart(Schema):
    type: Literal["input_text", "input_image"]
    text: str | None = None
    image_url: str | None = Field(default=None, pattern="^data:image/(jpeg|png|webp|gif);base64,")
    detail: Literal["low", "high", "auto", "original"] | None = None


class ReasoningItem(Schema):
    id: str
    type: Literal["reasoning"]
    summary: list[dict[str, Any]]
    encrypted_content: str


class InputMessage(Schema):
    role: Literal["user", "assistant", "system", "developer"]
    content: str | list[InputPart]
    type: Literal["message"] = "message"


class FunctionCall(Schema):
    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str


class FunctionOutput(Schema):
    type: Literal["function_call_output"]
    call_id: str
    output: str


class FunctionTool(Schema):
    type: Literal["function"]
    name: str
    parameters: dict[str, Any]
    strict: bool
    description: str | None = None


class ReasoningSetting(Schema):
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None


class ResponsesRequest(Schema):
    model: str
    input: list[InputMessage | FunctionCall | FunctionOutput | ReasoningItem] = Field(min_length=1)
    instructions: str | None = None
    store: bool = True
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = None
    max_output_tokens: int | None = Field(default=None, ge=16)
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    include: list[Literal["message.output_text.logprobs", "reasoning.encrypted_content"]] | None = None
    reasoning: ReasoningSetting | None = None
    tools: list[FunctionTool] | None = None


class ResponsesApi(Imitation):
    """`efforts` are those that the model takes; one that is false in `takes_summary` shows no reasoning."""

    def __init__(
        self,
        behaviour: str = "answers",
        *,
        efforts: tuple[str, ...] = ("none", "low", "medium", "high"),
        takes_summary: bool = True,
        takes_sampling: bool = True,
        key_header: str = "Authorization",
    ) -> None:
        super().__init__(behaviour)
        self.efforts, self.takes_summary, self.takes_sampling = efforts, takes_summary, takes_sampling
        self.key_header = key_header

    def check_access(self, headers: Any, path: str, raw: bytes) -> None:
        if path != "/v1/responses":
            raise openai_error(404, f"no such path: {path}")
        expected = f"Bearer {self.key}" if self.key_header == "Authorization" else self.key
        if headers.get(self.key_header) != expected:
            raise openai_error(401, "Incorrect API key provided.", "invalid_api_key")

    def check(self, body: dict[str, Any]) -> None:
        try:
            request = ResponsesRequest.model_validate(body)
        except ValidationError as error:
            if unknown := unknown_fields(error):
                raise openai_error(
                    400, f"Unknown parameter: '{unknown[0]}'.", "unknown_parameter", unknown[0]
                ) from None
            raise openai_error(400, f"Invalid value: {error.errors()[0]['msg']}") from None
        assert not request.store, "the conversation would be kept by the server"
        self._check_reasoning(request.reasoning or ReasoningSetting())
        if not self.takes_sampling and request.temperature is not None:
            message = "Unsupported parameter: 'temperature' is not supported with this model."
            raise openai_error(400, message, None, "temperature")
        if not self.takes_sampling and request.top_logprobs is not None:
            message = "Unsupported parameter: 'top_logprobs' is not supported with this model."
            raise openai_error(400, message, None, "top_logprobs")
        for item in request.input:
            for part in item.content if isinstance(item, InputMessage) and isinstance(item.content, list) else []:
                if part.image_url is not None and decoded_size(part.image_url.partition(",")[2]) is None:
                    raise openai_error(400, "Invalid base64 image_url.", "invalid_base64_image")
        self._check_transcript(request.input)

    def _check_reasoning(self, setting: ReasoningSetting) -> None:
        if setting.effort is not None and setting.effort not in self.efforts:
            allowed = ", ".join(map(repr, self.efforts))
            message = f"Unsupported value: '{setting.effort}' is not supported with this model. Supported: {allowed}."
            raise openai_error(400, message, "unsupported_value", "reasoning.effort")
        if setting.summary is not None and not self.takes_summary:
            message = "Your organization must be verified to generate reasoning summaries."
            raise openai_error(400, message, "unsupported_value", "reasoning.summary")

    def _check_transcript(self, items: list[Any]) -> None:
        """A call stands after the reasoning that led to it, and before its output."""
        calls = {item.call_id for item in items if isinstance(item, FunctionCall)}
        for item in items:
            if isinstance(item, FunctionOutput) and item.call_id not in calls:
                raise openai_error(400, f"No tool call found for function call output with call_id {item.call_id}.")
        if calls and not any(isinstance(item, ReasoningItem) for item in items):
            raise openai_error(400, "Item 'fc_1' of type 'function_call' was provided without its 'reasoning' item.")

    def fault(self, kind: str) -> Refusal | None:
        return openai_fault(kind)

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        setting = body.get("reasoning") or {}
        includes = body.get("include") or []
        output: list[dict[str, Any]] = []
        calls_tool = self.behaviour == "calls a tool" and body["input"][-1].get("type") != "function_call_output"
        if setting.get("effort", "none") != "none":
            summary = [{"type": "summary_text", "text": "It enhances."}] if setting.get("summary") else []
            item: dict[str, Any] = {"id": "rs_1", "type": "reasoning", "summary": summary}
            output.append(item | ({"encrypted_content": "gAAA"} if "reasoning.encrypted_content" in includes else {}))
        if calls_tool:
            call = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "search", "status": "completed"}
            output.append(call | {"arguments": orjson.dumps(QUERY).decode()})
        else:
            output.append(self._message("message.output_text.logprobs" in includes))
        usage = {"input_tokens": 100, "output_tokens": 12, "total_tokens": 112}
        usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        response = {"id": "resp_1", "object": "response", "model": "gpt-exam-1", "output": output, "usage": usage}
        response |= {"status": "completed", "error": None, "incomplete_details": None}
        if self.behaviour == "cut":
            response |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        if self.behaviour == "failed":
            error = {"code": "server_error", "message": "The model failed to generate a response."}
            response |= {"status": "failed", "error": error, "output": []}
        return response

    def _message(self, with_logprobs: bool) -> dict[str, Any]:
        part: dict[str, Any] = {"type": "output_text", "text": "Answer: A", "annotations": []}
        if with_logprobs:
            top = [{"token": token, "logprob": value, "bytes": []} for token, value in PLAN]
            part["logprobs"] = [{**top[0], "top_logprobs": top}]
        if self.behaviour == "declined":
            part = {"type": "refusal", "refusal": "I cannot help with that."}
        return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
