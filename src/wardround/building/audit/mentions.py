"""Whether a text gives a name away: the whole name, or nearly all of its words close together.

The rule: the full normalised name, or at least 0.8 of its content words inside 12 tokens. Our choices: a name of which
no word says anything alone (yes, left, type 2) is not looked for; a name in capitals of up to five letters (MS, SLE)
counts only where it is written in capitals.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from wardround.marking.judges.lexical_judge import DECIDING, FUNCTION_WORDS, form, tokens

SHARE = 0.8
WINDOW = 12
SHORTEST = 4  # letters of a word that says something alone
SAYS_NOTHING = frozenset(
    [
        *("yes", "true", "false", "all", "none", "both", "neither", "above", "other"),
        *("normal", "abnormal", "present", "absent", "unknown"),
    ]
)
_ABBREVIATION = re.compile(r"[A-Z][A-Z0-9-]{1,4}")

Kind = Literal["leak_name", "leak_words"]


@dataclass(frozen=True)
class Text:
    """A text as names are looked for in it."""

    raw: str
    words: tuple[str, ...]
    content: tuple[str, ...]
    present: frozenset[str]


def as_text(raw: str) -> Text:
    words = tuple(tokens(raw))
    return Text(raw, words, tuple(word for word in words if word not in FUNCTION_WORDS), frozenset(words))


@dataclass(frozen=True)
class Wanted:
    """A name as it is looked for."""

    words: tuple[str, ...]  # its content words; empty: it is not looked for by them
    tokens: int  # how many words it has in all
    short: str | None  # the abbreviation that it is or ends with


@lru_cache(65_536)
def wanted(name: str) -> Wanted:
    stripped = name.strip()
    if _ABBREVIATION.fullmatch(stripped):
        return Wanted((), 0, stripped)
    told = form(stripped)
    ending = re.search(r"\(\s*([\w-]+)\s*\)\s*$", stripped) if told.short else None
    words = told.words if any(map(_says_something, told.words)) else ()
    return Wanted(words, len(tokens(stripped)), ending[1] if ending and _ABBREVIATION.fullmatch(ending[1]) else None)


def _says_something(word: str) -> bool:
    return len(word) >= SHORTEST and word.isalpha() and word not in DECIDING and word not in SAYS_NOTHING


def mentioned(name: str, text: Text) -> Kind | None:
    """How a text gives the name away, if it does."""
    looked = wanted(name)
    if looked.short and re.search(rf"(?<![\w-]){re.escape(looked.short)}(?![\w-])", text.raw):
        return "leak_name"
    distinct = set(looked.words)
    needed = math.ceil(SHARE * len(distinct) - 1e-9)
    if not distinct or len(distinct & text.present) < needed:
        return None
    if distinct <= text.present and _in_a_row(looked.words, text.content):
        return "leak_name"
    return "leak_words" if _most_together(distinct, text.words, max(WINDOW, looked.tokens)) >= needed else None


def _in_a_row(words: Sequence[str], text: Sequence[str]) -> bool:
    size = len(words)
    return any(text[place : place + size] == words for place in _places(words[0], text))


def _places(word: str, text: Sequence[str]) -> Iterator[int]:
    return (place for place, other in enumerate(text) if other == word)


def _most_together(wanted: set[str], text: Sequence[str], window: int) -> int:
    """The most of these words that stand in any stretch of so many."""
    inside: Counter[str] = Counter()
    most = 0
    for place, word in enumerate(text):
        if place >= window and (left := text[place - window]) in wanted:
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
        if word in wanted:
            inside[word] += 1
            most = max(most, len(inside))
    return most
