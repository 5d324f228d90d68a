"""An imitation of Anthropic's Messages API: direct, on Bedrock and on Vertex."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, Literal

from imitation import MAX_IMAGE_BYTES, QUERY, Imitation, Refusal, Schema, decoded_size, unknown_fields
from pydantic import Field, ValidationError

VERSIONS = ("2023-06-01", "2026-10-21")


class CacheControl(Schema):
    type: Literal["ephemeral"]


class Source(Schema):
    type: Literal["base64"]
    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    data: str


class Block(Schema):
    type: Literal["text", "image", "tool_use", "tool_result", "thinking"]
    text: str | None = Field(default=None, min_length=1)
    source: Source | None = None
    id: str | None = None
    name: str | None = None
    input: dict[str, Any] | None = None
    tool_use_id: str | None = None
    content: str | list[Block] | None = None
    is_error: bool | None = None
    thinking: str | None = None
    signature: str | None = None
    cache_control: CacheControl | None = None
    citations: list[dict[str, Any]] | None = None


class MessageParam(Schema):
    role: Literal["user", "assistant"]
    content: str | list[Block] = Field(min_length=1)


class Thinking(Schema):
    type: Literal["enabled", "disabled", "adaptive"]
    budget_tokens: int | None = Field(default=None, ge=1024)
    display: Literal["summarized", "omitted"] | None = None


class ToolParam(Schema):
    name: str
    description: str | None = None
    input_schema: dict[str, Any]


class ToolChoice(Schema):
    type: Literal["auto", "any", "none"]
    disable_parallel_tool_use: bool | None = None


class OutputConfig(Schema):
    effort: Literal["low", "medium", "high", "xhigh", "max"]


class MessagesRequest(Schema):
    model: str | None = None
    anthropic_version: str | None = None
    max_tokens: int = Field(ge=1)
    messages: list[MessageParam] = Field(min_length=1)
    system: str | list[Block] | None = None
    temperature: float | None = Field(default=None, ge=0, le=1)
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: list[str] | None = None
    thinking: Thinking | None = None
    tools: list[ToolParam] | None = None
    tool_choice: ToolChoice | None = None
    output_config: OutputConfig | None = None
    stream: Literal[False] | None = None  # the imitation does not stream


class AnthropicApi(Imitation):
    """`takes_sampling` is false for a recent model; `thinks_by` is the form of thinking that the model knows."""

    path = ""

    def __init__(self, behaviour: str = "answers", *, takes_sampling: bool = True, thinks_by: str = "adaptive") -> None:
        super().__init__(behaviour)
        self.takes_sampling, self.thinks_by = takes_sampling, thinks_by
        self.version = ""

    def check_access(self, headers: Any, path: str, raw: bytes) -> None:
        if path != "/v1/messages":
            raise _error(404, "not_found_error", "Not found")
        self.version = headers.get("anthropic-version", "")
        if self.version not in VERSIONS:
            raise _error(400, "invalid_request_error", "anthropic-version: header is required")
        key = headers.get("x-api-key") or headers.get("Authorization", "").removeprefix("Bearer ")
        if key != self.key:
            raise _error(401, "authentication_error", "invalid x-api-key")

    def check(self, body: dict[str, Any]) -> None:
        try:
            request = MessagesRequest.model_validate(body)
        except ValidationError as error:
            if unknown := unknown_fields(error):
                raise _error(400, "invalid_request_error", f"{unknown[0]}: Extra inputs are not permitted") from None
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise _error(400, "invalid_request_error", f"{where}: {first['msg']}") from None
        self._check_model(body)
        for name in ("temperature", "top_p", "top_k"):
            if name in body and self.version == "2026-10-21":
                raise _error(400, "invalid_request_error", f"{name}: Extra inputs are not permitted")
            if name in body and not self.takes_sampling:
                raise _error(400, "invalid_request_error", f"`{name}` is deprecated for this model.")
        if request.messages[0].role != "user":
            raise _error(400, "invalid_request_error", "messages: first message must use the user role")
        self._check_thinking(request)
        self._check_tools(request)
        for message in request.messages:
            for block in message.content if isinstance(message.content, list) else []:
                self._check_block(block)

    def _check_model(self, body: dict[str, Any]) -> None:
        if not body.get("model"):
            raise _error(400, "invalid_request_error", "model: Field required")
        if "anthropic_version" in body:
            raise _error(400, "invalid_request_error", "anthropic_version: Extra inputs are not permitted")

    def _check_thinking(self, request: MessagesRequest) -> None:
        thinking = request.thinking
        if thinking is None or thinking.type == "disabled":
            return
        if thinking.type != self.thinks_by:
            raise _error(
                400, "invalid_request_error", f'"thinking.type.{thinking.type}" is not supported for this model.'
            )
        if request.temperature not in (None, 1.0):
            message = "`temperature` may only be set to 1 when thinking is enabled."
            raise _error(400, "invalid_request_error", message)
        if thinking.type == "enabled" and not (thinking.budget_tokens or 0) < request.max_tokens:
            message = "`max_tokens` must be greater than `thinking.budget_tokens`."
            raise _error(400, "invalid_request_error", message)

    def _check_tools(self, request: MessagesRequest) -> None:
        """Every tool_use is answered by a tool_result in the next message."""
        for message, following in zip(request.messages, [*request.messages[1:], None], strict=True):
            blocks = message.content if isinstance(message.content, list) else []
            used = {block.id for block in blocks if block.type == "tool_use"}
            if used and request.thinking and request.thinking.type != "disabled" and blocks[0].type != "thinking":
                message_text = "messages: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
                raise _error(400, "invalid_request_error", message_text)
            results = following.content if following is not None and isinstance(following.content, list) else []
            if used - {block.tool_use_id for block in results if block.type == "tool_result"}:
                message_text = "messages: `tool_use` ids were found without `tool_result` blocks immediately after"
                raise _error(400, "invalid_request_error", message_text)

    def _check_block(self, block: Block) -> None:
        if block.source is not None:
            size = decoded_size(block.source.data)
            if size is None:
                raise _error(400, "invalid_request_error", "image.source.base64.data: invalid base64 data")
            if size > MAX_IMAGE_BYTES:
                message = f"image.source.base64: image exceeds 5 MB maximum: {size} bytes > {MAX_IMAGE_BYTES} bytes"
                raise _error(400, "invalid_request_error", message)

    def fault(self, kind: str) -> Refusal | None:
        match kind:
            case "rate limit":
                return _error(429, "rate_limit_error", "This request would exceed your rate limit", retry_after="7")
            case "overloaded":
                return _error(529, "overloaded_error", "Overloaded")
            case "out of credit":
                message = "Your credit balance is too low to access the Anthropic API."
                return _error(400, "invalid_request_error", message)
            case "too long":
                return _error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
            case "image too large":
                return _error(413, "request_too_large", "Request exceeds the maximum size")
            case "server error":
                return _error(500, "api_error", "Internal server error")
        return None

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        content: list[dict[str, Any]] = [{"type": "text", "text": "Answer: A"}]
        reason, details = "end_turn", None
        if body.get("thinking", {"type": "disabled"})["type"] != "disabled":
            content.insert(0, {"type": "thinking", "thinking": "It enhances.", "signature": "c2ln"})
        match self.behaviour:
            case "cut":
                reason = "max_tokens"
            case "declined":
                content, reason = [], "refusal"
                details = {"type": "refusal", "explanation": "This request is not allowed."}
            case "calls a tool" if not any(_is_result(message) for message in body["messages"]):
                content[-1] = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": QUERY}
                reason = "tool_use"
        usage = {
            "input_tokens": 90,
            "cache_creation_input_tokens": 7,
            "cache_read_input_tokens": 3,
            "output_tokens": 12,
        }
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-exam-1",
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "stop_details": details,
            "usage": usage,
        }


class BedrockApi(AnthropicApi):
    """The same on Bedrock: the model in the path, the version in the body, and a signature that is recomputed."""

    access_key, secret_key, region = "EXAMACCESSKEY", "exam/secret+key", "eu-central-1"

    def check_access(self, headers: Any, path: str, raw: bytes) -> None:
        if path != "/model/eu.anthropic.claude-exam-1-v1:0/invoke":
            raise Refusal(404, {"message": f"no such path: {path}"})
        self.version = "2023-06-01"
        if headers.get("Authorization") != self._signature(headers, path, raw):
            raise Refusal(403, {"message": "The request signature we calculated does not match"})

    def _check_model(self, body: dict[str, Any]) -> None:
        if body.get("anthropic_version") != "bedrock-2023-05-31" or "model" in body:
            raise Refusal(400, {"message": "malformed input request: expected anthropic_version, and no model"})

    def _signature(self, headers: Any, path: str, raw: bytes) -> str:
        """Signature Version 4, computed by hand from Amazon's description."""
        date = headers["X-Amz-Date"]
        names = headers["Authorization"].partition("SignedHeaders=")[2].partition(",")[0]
        listed = "".join(f"{name}:{headers[name].strip()}\n" for name in names.split(";"))
        path = path.replace(":", "%3A")  # every service but S3 encodes the path once more
        canonical = f"POST\n{path}\n\n{listed}\n{names}\n{hashlib.sha256(raw).hexdigest()}"
        scope = f"{date[:8]}/{self.region}/bedrock/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        key = f"AWS4{self.secret_key}".encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        return f"AWS4-HMAC-SHA256 Credential={self.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"


class VertexClaudeApi(AnthropicApi):
    """The same on Vertex AI: the model in the path, the version in the body, and a bearer token."""

    tokens = ("token-1",)  # those that are valid now

    def check_access(self, headers: Any, path: str, raw: bytes) -> None:
        if (
            path
            != "/v1/projects/ward/locations/europe-west1/publishers/anthropic/models/claude-exam@20261001:rawPredict"
        ):
            raise Refusal(404, {"error": {"code": 404, "message": f"no such path: {path}", "status": "NOT_FOUND"}})
        self.version = "2023-06-01"
        if headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            message = "Request had invalid authentication credentials."
            raise Refusal(401, {"error": {"code": 401, "message": message, "status": "UNAUTHENTICATED"}})

    def _check_model(self, body: dict[str, Any]) -> None:
        if body.get("anthropic_version") != "vertex-2023-10-16" or "model" in body:
            raise _error(400, "invalid_request_error", "anthropic_version: Field required")


def _is_result(message: dict[str, Any]) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(block["type"] == "tool_result" for block in content)


def _error(status: int, kind: str, message: str, **headers: str) -> Refusal:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_exam"}
    return Refusal(status, body, request_id="req_exam", **headers)
