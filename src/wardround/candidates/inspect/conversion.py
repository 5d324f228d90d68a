"""Requests as Inspect AI's messages and tools, and its choices as Answers."""

from typing import Any

import orjson

from wardround.asking.reasoning import split_reasoning
from wardround.candidates.candidate import Request
from wardround.core.ask import Answer, Ask, Message

FINISHES = {"max_tokens": "length", "model_length": "length"}  # others have the names that wardround uses
MESSAGE_KEY = "inspect"  # of a tool call: the message that it came with, which its provider may want back unchanged


def messages_of(request: Request) -> list[Any]:
    """The Ask's messages with their images."""
    from inspect_ai.model import ChatMessageSystem, ChatMessageTool, ChatMessageUser, ContentImage, ContentText

    images = iter(request.images)
    messages: list[Any] = []
    for message in request.ask.messages:
        if message.role == "assistant":
            messages.append(_assistant_message(message))
            continue
        parts: list[Any] = []
        for part in message.parts:
            if isinstance(part, str):
                parts.append(ContentText(text=part))
            else:
                image = next(images)
                parts.append(ContentImage(image=f"data:{image.media_type};base64,{image.base64.decode()}"))
        text = "\n\n".join(part for part in message.parts if isinstance(part, str))
        if message.role == "system":
            messages.append(ChatMessageSystem(content=text))
        elif message.tool_call_id is not None:
            messages.append(ChatMessageTool(content=text, tool_call_id=message.tool_call_id))
        else:
            messages.append(ChatMessageUser(content=text if len(parts) == 1 and text else parts))
    return messages


def _assistant_message(message: Message) -> Any:
    from inspect_ai.model import ChatMessageAssistant
    from inspect_ai.tool import ToolCall

    for call in message.tool_calls:
        if MESSAGE_KEY in call:
            return ChatMessageAssistant.model_validate(call[MESSAGE_KEY])
    calls = [
        ToolCall(call["id"], call["function"]["name"], orjson.loads(call["function"].get("arguments") or "{}"))
        for call in message.tool_calls
    ]
    text = "".join(part for part in message.parts if isinstance(part, str))
    return ChatMessageAssistant(content=text, tool_calls=calls or None)


def tools_of(ask: Ask) -> list[Any]:
    """The tools of an agent."""
    if not ask.tools:
        return []
    from inspect_ai.tool import ToolInfo, ToolParams

    functions = [tool["function"] for tool in ask.tools]
    return [
        ToolInfo(
            name=function["name"],
            description=function.get("description", ""),
            parameters=ToolParams.model_validate(function.get("parameters", {})),
        )
        for function in functions
    ]


def answer_of(choice: Any, output: Any) -> Answer:
    """One choice as an Answer, with its reasoning apart."""
    message = choice.message
    contents = [] if isinstance(message.content, str) else message.content
    text = (
        message.content
        if isinstance(message.content, str)
        else "".join(part.text for part in contents if part.type == "text")
    )
    thoughts = "\n\n".join(filter(None, (_thought(part) for part in contents if part.type == "reasoning")))
    parts = split_reasoning(text)
    if parts.reasoning and not thoughts:
        text, thoughts = parts.answer.strip(), parts.reasoning
    is_declined = choice.stop_reason == "content_filter" or any(getattr(part, "refusal", None) for part in contents)
    details = choice.stop_details.explanation if choice.stop_details is not None else None
    return Answer(
        text="" if is_declined else text,
        finish=FINISHES.get(choice.stop_reason, choice.stop_reason),
        reasoning=thoughts or None,
        tool_calls=_tool_calls(message),
        first_token=_first_token(choice.logprobs),
        model=output.model or None,
        refusal=(details or output.error or text or None) if is_declined else None,
    )


def _thought(part: Any) -> str:
    """The text of a reasoning block: its summary, if the text itself is encrypted."""
    return str(part.summary or "") if part.redacted else str(part.reasoning)


def _tool_calls(message: Any) -> tuple[dict[str, Any], ...]:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function, "arguments": orjson.dumps(call.arguments).decode()},
        }
        for call in message.tool_calls or []
    ]
    if calls:
        calls[0][MESSAGE_KEY] = message.model_dump(mode="json", exclude={"id"}, exclude_none=True)
    return tuple(calls)


def _first_token(logprobs: Any) -> tuple[tuple[str, float], ...] | None:
    if logprobs is None or not logprobs.content:
        return None
    first = logprobs.content[0]
    return tuple((token.token, token.logprob) for token in first.top_logprobs or [first])
