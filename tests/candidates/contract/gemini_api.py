"""An imitation of Gemini's generateContent: of the Gemini API, and on Vertex AI."""

from __future__ import annotations

from typing import Any, Literal

from imitation import PLAN, QUERY, Imitation, Refusal, Schema, decoded_size, unknown_fields
from pydantic import Field, ValidationError

MAX_REQUEST_BYTES = 20 * 1024 * 1024


class Blob(Schema):
    mimeType: Literal["image/jpeg", "image/png", "image/webp", "image/heic", "image/heif"]
    data: str


class FunctionCall(Schema):
    id: str | None = None
    name: str = Field(min_length=1)
    args: dict[str, Any] | None = None


class FunctionResponse(Schema):
    id: str | None = None
    name: str = Field(min_length=1)
    response: dict[str, Any]


class Part(Schema):
    text: str | None = None
    inlineData: Blob | None = None
    functionCall: FunctionCall | None = None
    functionResponse: FunctionResponse | None = None
    thoughtSignature: str | None = None


class Content(Schema):
    role: Literal["user", "model"] | None = None
    parts: list[Part] = Field(min_length=1)


class ThinkingConfig(Schema):
    thinkingBudget: int | None = Field(default=None, ge=-1)
    includeThoughts: bool | None = None
    thinkingLevel: Literal["minimal", "low", "medium", "high"] | None = None


class GenerationConfig(Schema):
    temperature: float | None = Field(default=None, ge=0, le=2)
    topP: float | None = None
    topK: int | None = Field(default=None, ge=1)
    maxOutputTokens: int | None = Field(default=None, ge=1)
    stopSequences: list[str] | None = Field(default=None, max_length=5)
    candidateCount: int | None = Field(default=None, ge=1)
    seed: int | None = None
    responseLogprobs: bool | None = None
    logprobs: int | None = Field(default=None, ge=0, le=20)
    thinkingConfig: ThinkingConfig | None = None


class FunctionDeclaration(Schema):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    parametersJsonSchema: dict[str, Any] | None = None


class ToolDeclaration(Schema):
    functionDeclarations: list[FunctionDeclaration]


class SafetySetting(Schema):
    category: str = Field(pattern="^HARM_CATEGORY_")
    threshold: Literal["BLOCK_NONE", "BLOCK_ONLY_HIGH", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_LOW_AND_ABOVE", "OFF"]


class GenerateContentRequest(Schema):
    contents: list[Content] = Field(min_length=1)
    systemInstruction: Content | None = None
    tools: list[ToolDeclaration] | None = None
    safetySettings: list[SafetySetting] | None = None
    generationConfig: GenerationConfig | None = None


class GeminiApi(Imitation):
    """`max_candidates` is the largest candidateCount that the model takes; `has_logprobs` whether it gives any.

    `thinks_by` is the field by which its thinking is switched.
    """

    def __init__(
        self,
        behaviour: str = "answers",
        *,
        max_candidates: int = 8,
        has_logprobs: bool = True,
        always_thinks: bool = False,
        thinks_by: str = "thinkingBudget",
    ) -> None:
        super().__init__(behaviour)
        self.max_candidates, self.has_logprobs, self.always_thinks = max_candidates, has_logprobs, always_thinks
        self.thinks_by = thinks_by

    def check_access(self, headers: Any, path: str, raw: bytes) -> None:
        if path != "/v1beta/models/gemini-exam:generateContent":
            raise _error(404, "NOT_FOUND", f"no such path: {path}")
        if headers.get("x-goog-api-key") != self.key:
            raise _error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
        if len(raw) > MAX_REQUEST_BYTES:
            raise _error(400, "INVALID_ARGUMENT", f"Request payload size exceeds the limit: {MAX_REQUEST_BYTES} bytes.")

    def check(self, body: dict[str, Any]) -> None:
        try:
            request = GenerateContentRequest.model_validate(body)
        except ValidationError as error:
            if unknown := unknown_fields(error):
                name = unknown[0].rpartition(".")[2]
                message = f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
                raise _error(400, "INVALID_ARGUMENT", message) from None
            first = error.errors()[0]
            message = f"Invalid value at '{'.'.join(map(str, first['loc']))}': {first['msg']}"
            raise _error(400, "INVALID_ARGUMENT", message) from None
        config = request.generationConfig or GenerationConfig()
        if (config.candidateCount or 1) > self.max_candidates:
            message = "Multiple candidates is not enabled for this model"
            raise _error(400, "INVALID_ARGUMENT", message)
        if config.responseLogprobs and not self.has_logprobs:
            raise _error(400, "INVALID_ARGUMENT", "Logprobs is not enabled for models/gemini-exam")
        thinking = config.thinkingConfig
        if thinking is not None and thinking.thinkingBudget is not None and self.thinks_by != "thinkingBudget":
            raise _error(400, "INVALID_ARGUMENT", "Thinking budget is not supported for this model.")
        if thinking is not None and thinking.thinkingLevel is not None and self.thinks_by != "thinkingLevel":
            raise _error(400, "INVALID_ARGUMENT", "Thinking level is not supported for this model.")
        if self.always_thinks and thinking is not None and thinking.thinkingBudget == 0:
            message = "Budget 0 is invalid. This model only works in thinking mode."
            raise _error(400, "INVALID_ARGUMENT", message)
        if config.logprobs is not None and not config.responseLogprobs:
            raise _error(400, "INVALID_ARGUMENT", "logprobs is only valid when responseLogprobs is true")
        for content in request.contents:
            for part in content.parts:
                if part.inlineData is not None and decoded_size(part.inlineData.data) is None:
                    raise _error(400, "INVALID_ARGUMENT", "Base64 decoding failed")

    def fault(self, kind: str) -> Refusal | None:
        match kind:
            case "rate limit":
                message = "You exceeded your current quota, please check your plan and billing details."
                details = [
                    {"@type": "google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerMinute"}]},
                    {"@type": "google.rpc.RetryInfo", "retryDelay": "7s"},
                ]
                return _error(429, "RESOURCE_EXHAUSTED", message, details)
            case "overloaded":
                return _error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
            case "out of credit":
                message = "You exceeded your current quota, please check your plan and billing details."
                details = [
                    {"@type": "google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDay"}]},
                    {"@type": "google.rpc.RetryInfo", "retryDelay": "7s"},
                ]
                return _error(429, "RESOURCE_EXHAUSTED", message, details)
            case "too long":
                message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
                return _error(400, "INVALID_ARGUMENT", message)
            case "image too large":
                message = f"Request payload size exceeds the limit: {MAX_REQUEST_BYTES} bytes."
                return _error(400, "INVALID_ARGUMENT", message)
            case "server error":
                return _error(500, "INTERNAL", "An internal error has occurred.")
        return None

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        config = body.get("generationConfig", {})
        usage: dict[str, Any] = {"promptTokenCount": 100, "candidatesTokenCount": 9, "totalTokenCount": 109}
        if self.behaviour == "filtered":
            return {
                "promptFeedback": {"blockReason": "SAFETY"},
                "usageMetadata": usage,
                "modelVersion": "gemini-exam-1",
            }
        candidates = [self._candidate(body, config, index) for index in range(config.get("candidateCount", 1))]
        if config.get("thinkingConfig", {}).get("thinkingBudget"):
            usage["thoughtsTokenCount"] = 3
        return {"candidates": candidates, "usageMetadata": usage, "modelVersion": "gemini-exam-1"}

    def _candidate(self, body: dict[str, Any], config: dict[str, Any], index: int) -> dict[str, Any]:
        parts: list[dict[str, Any]] = [{"text": "Answer: A"}]
        reason = "STOP"
        if config.get("thinkingConfig", {}).get("includeThoughts"):
            parts.insert(0, {"text": "It enhances.", "thought": True})
        match self.behaviour:
            case "cut":
                reason = "MAX_TOKENS"
            case "declined":
                return {"index": index, "finishReason": "PROHIBITED_CONTENT"}
            case "calls a tool" if "functionResponse" not in str(body["contents"]):
                parts[-1] = {"functionCall": {"name": "search", "args": QUERY}, "thoughtSignature": "c2ln"}
            case "calls a tool" if config.get("thinkingConfig") and "thoughtSignature" not in str(body["contents"]):
                raise _error(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature")
        candidate = {"index": index, "content": {"role": "model", "parts": parts}, "finishReason": reason}
        if config.get("responseLogprobs"):
            top = [{"token": token, "logProbability": value} for token, value in PLAN]
            candidate["logprobsResult"] = {"topCandidates": [{"candidates": top}], "chosenCandidates": top[:1]}
        return candidate


class VertexGeminiApi(GeminiApi):
    """The same on Vertex AI: another path, and a bearer token."""

    tokens = ("token-1",)

    def check_access(self, headers: Any, path: str, raw: bytes) -> None:
        if path != "/v1/projects/ward/locations/europe-west1/publishers/google/models/gemini-exam:generateContent":
            raise _error(404, "NOT_FOUND", f"no such path: {path}")
        if headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            raise _error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")


def _error(status: int, name: str, message: str, details: list[dict[str, Any]] | None = None) -> Refusal:
    error: dict[str, Any] = {"code": status, "message": message, "status": name}
    return Refusal(status, {"error": error | ({"details": details} if details else {})})
