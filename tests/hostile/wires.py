"""What requests and replies of a provider look like on the wire: all that the hostile server knows of a protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

Json = dict[str, Any]


@dataclass(frozen=True)
class Usage:
    """The tokens of one reply; `hidden` is reasoning that is billed, but stands only in a total."""

    tokens_in: int
    tokens_out: int
    hidden: int = 0

    @property
    def billed_out(self) -> int:
        return self.tokens_out + self.hidden


class Wire(Protocol):
    """One provider: where its requests go, how they are read, and how answers and errors are written."""

    provider: str
    base: str  # of the address that a study names
    path: str  # of the requests, below the base

    def prompt(self, body: Json) -> str:
        """All text of a request."""
        ...

    def has_images(self, body: Json) -> bool: ...

    def wanted(self, body: Json) -> int:
        """The number of answers that a request asks for."""
        ...

    def answer(self, texts: list[str], usage: Usage | None, finish: str, **fields: Any) -> Json:
        """A reply. `finish` is one of stop, cut, filtered, declined, error; `fields` are further top-level ones."""
        ...

    def error(self, status: int, message: str, code: str | None = None, **fields: Any) -> Json: ...


class OpenAIWire:
    """Chat completions."""

    provider = "openai"
    base = "/v1"
    path = "/chat/completions"
    finishes = {"stop": "stop", "cut": "length", "filtered": "content_filter", "declined": "refusal", "error": "error"}

    def prompt(self, body: Json) -> str:
        return "\n".join(part["text"] for part in _parts(body) if part["type"] == "text")

    def has_images(self, body: Json) -> bool:
        return any(part["type"] == "image_url" for part in _parts(body))

    def wanted(self, body: Json) -> int:
        return int(body.get("n", 1))

    def answer(self, texts: list[str], usage: Usage | None, finish: str, **fields: Any) -> Json:
        choices = [
            {"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": self.finishes[finish]}
            for index, text in enumerate(texts)
        ]
        reply = {"id": "x", "object": "chat.completion", "model": "hostile-1", "choices": choices}
        if usage is not None:
            reply["usage"] = {
                "prompt_tokens": usage.tokens_in,
                "completion_tokens": usage.tokens_out,
                "total_tokens": usage.tokens_in + usage.tokens_out + usage.hidden,
            }
        return reply | fields

    def error(self, status: int, message: str, code: str | None = None, **fields: Any) -> Json:
        kind = "invalid_request_error" if status < 500 else "server_error"
        return {"error": {"message": message, "type": kind, "param": None, "code": code, **fields}}


def _parts(body: Json) -> list[Json]:
    parts: list[Json] = []
    for message in body["messages"]:
        content = message["content"]
        parts += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return parts


WIRES: dict[str, Wire] = {wire.provider: wire for wire in (OpenAIWire(),)}
