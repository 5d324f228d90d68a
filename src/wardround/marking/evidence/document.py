"""A document as the support test reads it: sentences of words, of which some are denied."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from wardround.marking.evidence.negation import BREAK, COMMA, denied
from wardround.marking.judges.lexical_judge import plain, spelled

KEPT = 4096  # documents that stay read
_END = re.compile(r"(?<=[.!?])[)\]\"'”’]*\s+(?=[\"'“‘(\[]?[A-Z0-9])|\n+")
_NO_END = re.compile(r"(?:\b(?:e\.g|i\.e|cf|vs|al|Figs?|Dr|Prof|Mr|Mrs|St|No|Nos|approx|ca)|\b[A-Z])\.\s*$")
_WORD = re.compile(r"[^\W_]+")
_PIECE = re.compile(r"[^\W_]+|[,;:]")
_MARKS = {",": COMMA, ";": BREAK, ":": BREAK}


class Word(NamedTuple):
    """A word of a document, in one spelling: the number of its sentence, and whether it is denied there."""

    text: str
    sentence: int
    denied: bool


class Read:
    """One document: its vocabulary at once, where its words stand and what is denied only when that matters."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.vocabulary = frozenset(map(spelled, joined(_WORD.findall(plain(text)))))

    @cached_property
    def words(self) -> list[Word]:
        """All words, in order."""
        found: list[Word] = []
        for number, sentence in enumerate(sentences(self._text)):
            pieces = joined(_PIECE.findall(plain(sentence)))
            places = denied([_MARKS.get(piece, piece) for piece in pieces])
            found += [
                Word(spelled(piece), number, place in places)
                for place, piece in enumerate(pieces)
                if piece not in _MARKS
            ]
        return found


@lru_cache(KEPT)
def read(text: str) -> Read:
    return Read(text)


def sentences(text: str) -> list[str]:
    """The sentences of a text; a title or a paragraph ends one too."""
    found, start = [], 0
    for end in _END.finditer(text):
        if "\n" not in end[0] and _NO_END.search(text[max(0, end.start() - 12) : end.start()]):
            continue
        found.append(text[start : end.start()])
        start = end.end()
    return [sentence for sentence in (*found, text[start:]) if sentence.strip()]


def joined(words: Sequence[str]) -> Sequence[str]:
    """Words in which "non" is one with the next: non-Hodgkin lymphoma is no Hodgkin lymphoma."""
    if "non" not in words:
        return words
    found: list[str] = []
    for word in words:
        if found and found[-1] == "non":
            found[-1] += word
        else:
            found.append(word)
    return found
