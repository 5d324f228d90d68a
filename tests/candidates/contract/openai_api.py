"""An imitation of OpenAI's chat completions, and of the same on Azure."""

from __future__ import annotations

from typing import Any, Literal

import orjson
from imitation import PLAN, QUERY, Imitation, Refusal, Schema, decoded_size, unknown_fields
from pydantic import Field, ValidationError


class ImageUrl(Schema):
    url: str = Field(pattern="^data:image/(jpeg|png|webp|gif);base64,")
    detail: Literal["low", "high", "auto"] | None = None


class ContentPart(Schema):
    type: Literal["text", "image_url"]
    text: str | None = None
    image_url: ImageUrl | None = None


class ChatMessage(Schema):
    role: Literal["system", "user", "assistant", "tool", "developer"]
    content: str | list[ContentPart] | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None


class ChatRequest(Schema):
    model: str
    messages: list[ChatMessage] = Field(min_length=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: int | None = Field(default=None, ge=1, le=128)
    stop: list[str] | None = None
    seed: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: Literal["none", "auto", "required"] | None = None
    provider: dict[str, Any] | None = None  # of a router


class OpenAIApi(Imitation):
    """`takes_sampling` is false for a reasoning model: no temperature, max_completion_tokens instead of max_tokens.

    `efforts` are those that the model takes; `router` is the provider that answers behind a router.
    """

    def __init__(
        self,
        behaviour: str = "answers",
        *,
        takes_sampling: bool = True,
        takes_logprobs: bool = True,
        efforts: tuple[str, ...] = ("none", "minimal", "low", "medium", "high"),
        router: str | None = None,
    ) -> None:
        super().__init__(behaviour)
        self.takes_sampling, self.takes_logprobs = takes_sampling, takes_logprobs
        self.efforts, self.router = efforts, router

    def check_access(self, headers: Any, path: str, raw: bytes) -> None:
        if path != "/v1/chat/completions":
            raise openai_error(404, f"no such path: {path}")
        if headers.get("Authorization") != f"Bearer {self.key}":
            raise openai_error(401, "Incorrect API key provided.", "invalid_api_key")

    def check(self, body: dict[str, Any]) -> None:
        try:
            request = ChatRequest.model_validate(body)
        except ValidationError as error:
            if unknown := unknown_fields(error):
                message = f"Unrecognized request argument supplied: {unknown[0]}"
                raise openai_error(400, message) from None
            raise openai_error(400, f"Invalid value: {error.errors()[0]['msg']}") from None
        if not self.takes_sampling and "temperature" in body:
            message = "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) is."
            raise openai_error(400, message, "unsupported_value", "temperature")
        if not self.takes_sampling and "max_tokens" in body:
            message = "Unsupported parameter: 'max_tokens' is not supported with this model."
            raise openai_error(400, message, "unsupported_parameter", "max_tokens")
        if request.provider is not None and self.router is None:
            raise openai_error(400, "Unrecognized request argument supplied: provider")
        if request.reasoning_effort not in (None, *self.efforts):
            allowed = ", ".join(map(repr, self.efforts))
            message = f"Unsupported value: 'reasoning_effort' does not support '{request.reasoning_effort}' with this "
            raise openai_error(400, f"{message}model. Supported: {allowed}.", "unsupported_value", "reasoning_effort")
        if request.logprobs and not self.takes_logprobs:
            raise openai_error(400, "logprobs are not supported with this model", None, "logprobs")
        for message in request.messages:
            for part in message.content if isinstance(message.content, list) else []:
                if part.image_url is not None and decoded_size(part.image_url.url.partition(",")[2]) is None:
                    raise openai_error(400, "Invalid base64 image_url.", "invalid_base64")

    def fault(self, kind: str) -> Refusal | None:
        return openai_fault(kind)

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        choices = [self._choice(body, index) for index in range(body.get("n", 1))]
        usage = {"prompt_tokens": 100, "completion_tokens": 12, "total_tokens": 112}
        completion = {"id": "x", "object": "chat.completion", "model": "gpt-exam-1", "choices": choices, "usage": usage}
        return completion | ({"provider": self.router} if self.router else {})

    def _choice(self, body: dict[str, Any], index: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "Answer: A", "refusal": None}
        reason = "stop"
        if body.get("reasoning_effort", "none") != "none":
            message["reasoning" if self.router else "reasoning_content"] = "It enhances."
        match self.behaviour:
            case "cut":
                reason = "length"
            case "answers in parts":
                message["content"] = [{"type": "text", "text": "Answer: "}, {"type": "text", "text": "A"}]
            case "declined":
                message |= {"content": None, "refusal": "I cannot help with that."}
            case "calls a tool" if body["messages"][-1]["role"] != "tool":
                function = {"name": "search", "arguments": orjson.dumps(QUERY).decode()}
                message |= {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
                reason = "tool_calls"
        choice: dict[str, Any] = {"index": index, "message": message, "finish_reason": reason}
        if body.get("logprobs"):
            top = [{"token": token, "logprob": value} for token, value in PLAN]
            choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
        return choice


class CompatibleApi(OpenAIApi):
    """A compatible server, such as vLLM: it also takes the reasoning of earlier turns back."""

    def check(self, body: dict[str, Any]) -> None:
        messages = [
            {name: value for name, value in message.items() if name != "reasoning_content"}
            if message["role"] == "assistant"
            else message
            for message in body["messages"]
        ]
        super().check(body | {"messages": messages})


class AzureApi(OpenAIApi):
    """The same on Azure: the deployment in the path, a version in the query, the key in a header of its own."""

    def check_access(self, headers: Any, path: str, raw: bytes) -> None:
        if path != "/openai/deployments/ward-gpt/chat/completions?api-version=2025-04-01-preview":
            raise openai_error(404, f"Resource not found: {path}")
        if headers.get("api-key") != self.key:
            raise openai_error(401, "Access denied due to invalid subscription key or wrong API endpoint.")


def openai_fault(kind: str) -> Refusal | None:
    """What OpenAI's APIs answer for a behaviour that is a fault."""
    match kind:
        case "rate limit":
            return openai_error(429, "Rate limit reached for requests", "rate_limit_exceeded", retry_after="7")
        case "overloaded":
            return openai_error(503, "The engine is currently overloaded, please try again later")
        case "out of credit":
            message = "You exceeded your current quota, please check your plan and billing details."
            return openai_error(429, message, "insufficient_quota")
        case "too long":
            message = "This model's maximum context length is 128000 tokens; your messages resulted in 130000."
            return openai_error(400, message, "context_length_exceeded")
        case "image too large":
            return openai_error(400, "image is too large: maximum 20 MB", "image_too_large")
        case "server error":
            return openai_error(500, "The server had an error while processing your request.")
        case "filtered":
            message = "The response was filtered due to the prompt triggering content management policy."
            return openai_error(400, message, "content_filter")
    return None


def openai_error(
    status: int, message: str, code: str | None = None, param: str | None = None, **headers: str
) -> Refusal:
    body = {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}
    return Refusal(status, body, x_request_id="req_exam", **headers)
