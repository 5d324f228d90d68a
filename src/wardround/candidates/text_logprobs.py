"""Log-likelihood of a text: what is read before it, and which tokens are its own."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from wardround.core.ask import Ask


def prompt_and_text(ask: Ask) -> tuple[str, str]:
    """The prompt, and the prompt with the text after it, as plain text without a chat format (our choice)."""
    text = ask.scored_text
    assert text is not None
    prompt = "\n\n".join(str(part) for message in ask.messages[:-1] for part in message.parts)
    return prompt, f"{prompt} {text}"


def shared_start(prompt: Sequence[Any], whole: Sequence[Any]) -> int:
    """The number of equal tokens at the beginning of both.

    The text begins after them: a token that contains the end of the prompt and the beginning of the text counts as
    the text's.
    """
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(prompt, whole, strict=False)))
