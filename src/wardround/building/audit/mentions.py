"""Whether a text reveals a name: the whole name, nearly all of its words close together, or the core of a diagnosis.

The rule: the full normalised name, or at least 0.8 of its content words within 12 tokens. Our choices: the core of a
diagnosis (text/diagnosis_core.py) counts if all its words are within three tokens more than it has; a name without any
specific word (yes, left, type 2) is not searched for; a name of up to five capital letters (MS, SLE) counts only if it
is written in capitals.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from wardround.building.text.diagnosis_core import CLASS_WORDS, ORGANS, diagnosis_cores, is_specific
from wardround.core.names import DECIDING_WORDS, FUNCTION_WORDS, content_words, name_form, normalized_words, one_meaning

SHARE = 0.8
WINDOW = 12
CORE_SLACK = 3  # tokens between the words of a core
_ABBREVIATION = re.compile(r"[A-Z][A-Z0-9-]{1,4}")

Kind = Literal["leak_name", "leak_words", "leak_core"]


@dataclass(frozen=True)
class WordedText:
    """A text with its words, prepared for the search of names."""

    raw: str
    words: tuple[str, ...]
    content: tuple[str, ...]
    present: frozenset[str]
    meanings: frozenset[str]  # with one word for all of a meaning: `lung` for `pulmonary`


def split_words(raw: str) -> WordedText:
    words = tuple(normalized_words(raw))
    return WordedText(
        raw,
        words,
        tuple(word for word in words if word not in FUNCTION_WORDS),
        frozenset(words),
        frozenset(map(one_meaning, words)),
    )


@dataclass(frozen=True)
class NamePattern:
    """A name prepared for the search."""

    words: tuple[str, ...]  # its content words; empty: not searched for by them
    token_count: int
    abbreviation: str | None  # that it is or ends with


@lru_cache(65_536)
def name_pattern(name: str) -> NamePattern:
    stripped = name.strip()
    if _ABBREVIATION.fullmatch(stripped):
        return NamePattern((), 0, stripped)
    form = name_form(stripped)
    words = form.words if any(map(is_specific, form.words)) else ()
    ending = re.search(r"\(\s*([\w-]+)\s*\)\s*$", stripped) if form.short else None
    abbreviation = ending[1] if ending and _ABBREVIATION.fullmatch(ending[1]) else None
    return NamePattern(words, len(normalized_words(stripped)), abbreviation)


def find_mention(name: str, text: WordedText) -> Kind | None:
    """How a text reveals the name, if it does."""
    pattern = name_pattern(name)
    if pattern.abbreviation and re.search(rf"(?<![\w-]){re.escape(pattern.abbreviation)}(?![\w-])", text.raw):
        return "leak_name"
    distinct = set(pattern.words)
    needed = math.ceil(SHARE * len(distinct) - 1e-9)
    if distinct and len(distinct & text.present) >= needed:
        if distinct <= text.present and _contains_sequence(text.content, pattern.words):
            return "leak_name"
        if _max_words_in_window(distinct, text.words, max(WINDOW, pattern.token_count)) >= needed:
            return "leak_words"
    return "leak_core" if find_core(name, text) else None


def find_core(name: str, text: WordedText) -> str | None:
    """The core of a diagnosis that a text has, if it does."""
    return next((core for core in diagnosis_cores(name) if _has_together(core, text)), None)


def _has_together(core: str, text: WordedText) -> bool:
    words = set(map(one_meaning, content_words(core)))
    if not words <= text.meanings:
        return False
    if not _names_more_than_a_class(words):  # `heart failure` is not `heart rate 80, failure to thrive`
        return _max_words_in_window(words, [one_meaning(word) for word in text.content], len(words)) == len(words)
    tokens = [one_meaning(word) for word in text.words]
    return _max_words_in_window(words, tokens, len(normalized_words(core)) + CORE_SLACK) == len(words)


def _names_more_than_a_class(words: set[str]) -> bool:
    return bool(words - CLASS_WORDS - ORGANS - DECIDING_WORDS)


def _contains_sequence(text: Sequence[str], words: Sequence[str]) -> bool:
    starts = (index for index, word in enumerate(text) if word == words[0])
    return any(text[start : start + len(words)] == words for start in starts)


def _max_words_in_window(words: set[str], text: Sequence[str], window: int) -> int:
    """The largest number of these words inside any window of so many tokens."""
    inside: Counter[str] = Counter()
    largest = 0
    for index, word in enumerate(text):
        if index >= window and (left := text[index - window]) in words:
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
        if word in words:
            inside[word] += 1
            largest = max(largest, len(inside))
    return largest
