"""How a given text is foretold: what is read before it, and which tokens are its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wardround.core.ask import Ask


def texts(ask: Ask) -> tuple[str, str]:
    """What a candidate reads, and the same with the text after it, as plain text without a chat format (our choice)."""
    text = ask.foretold
    assert text is not None
    prompt = "\n\n".join(str(part) for message in ask.messages[:-1] for part in message.parts)
    return prompt, f"{prompt} {text}"


def shared_start(a: Sequence[Any], b: Sequence[Any]) -> int:
    """With how many equal tokens both begin.

    The text begins after the tokens that it shares with its prompt alone: one that holds the end of the prompt and
    the beginning of the text counts as the text's.
    """
    for place, (one, other) in enumerate(zip(a, b, strict=False)):
        if one != other:
            return place
    return min(len(a), len(b))
