"""What is known of a word, kept for the next reply that has it."""

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")

MAX_KEPT = 1 << 16


class _Kept(dict[str, Value]):
    """The values of a function of a text. All are dropped when there are too many: a hit costs one look-up."""

    def __init__(self, compute: Callable[[str], Value]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, text: str) -> Value:
        if len(self) >= MAX_KEPT:
            self.clear()
        value = self[text] = self._compute(text)
        return value


def kept(compute: Callable[[str], Value]) -> Callable[[str], Value]:
    """A function of a word that computes each value once."""
    return _Kept(compute).__getitem__
