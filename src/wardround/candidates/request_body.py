"""The body of a chat request: its messages, and JSON that is sent in pieces, so that no image is copied."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from wardround.candidates.candidate import Request
from wardround.cases.encoded_image import EncodedImage
from wardround.core.ask import Sampling


def chat_messages(request: Request, base64: Callable[[EncodedImage], str]) -> list[dict[str, Any]]:
    """The request's messages in the form of the OpenAI chat protocol; `base64` gives the data of an image."""
    urls = (f"data:{image.media_type};base64,{base64(image)}" for image in request.images)
    messages: list[dict[str, Any]] = []
    for message in request.ask.messages:
        texts = [part for part in message.parts if isinstance(part, str)]
        body: dict[str, Any] = {"role": message.role, "content": "\n\n".join(texts)}
        if len(texts) < len(message.parts):
            body["content"] = [
                {"type": "text", "text": part}
                if isinstance(part, str)
                else {"type": "image_url", "image_url": {"url": next(urls)}}
                for part in message.parts
            ]
        if message.tool_calls:
            body["tool_calls"] = list(message.tool_calls)
        if message.tool_call_id is not None:
            body["tool_call_id"] = message.tool_call_id
        messages.append(body)
    return messages


def sampling_fields(sampling: Sampling) -> dict[str, Any]:
    """The sampling settings that the study names."""
    names = ("temperature", "top_p", "top_k", "max_tokens")
    fields = {name: value for name in names if (value := getattr(sampling, name)) is not None}
    return fields | {"stop": list(sampling.stop)} if sampling.stop else fields


class PiecewiseBody(NamedTuple):
    """JSON in several pieces."""

    pieces: Sequence[bytes]
