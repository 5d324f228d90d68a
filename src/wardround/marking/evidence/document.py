"""A document for the support test: sentences of words, some of them denied."""

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from wardround.core.names import normalize_spelling, one_meaning
from wardround.core.text import fold_accents
from wardround.marking.evidence.negation import (
    BREAK,
    COMMA,
    confirms,
    denied_places,
    settling_place,
    suspected_places,
)

MAX_CACHED_DOCUMENTS = 4096
_END = re.compile(r"(?<=[.!?])[)\]\"'”’]*\s+(?=[\"'“‘(\[]?[A-Z0-9])|\n+")
_NO_END = re.compile(r"(?:\b(?:e\.g|i\.e|cf|vs|al|Figs?|Dr|Prof|Mr|Mrs|St|No|Nos|approx|ca)|\b[A-Z])\.\s*$")
_WORD = re.compile(r"[^\W_]+")
_PIECE = re.compile(r"[^\W_]+|[,;:]")
_MARKS = {",": COMMA, ";": BREAK, ":": BREAK}


class Word(NamedTuple):
    """A word of a document in normalized spelling, the number of its sentence, and whether it is denied there."""

    text: str
    sentence: int
    is_denied: bool


class DocumentWords:
    """One document: its vocabulary at once, its words with their places only when needed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.vocabulary = frozenset(map(_normalized, join_non(_WORD.findall(fold_accents(text)))))

    @cached_property
    def words(self) -> list[Word]:
        """All words, in order."""
        sentences = [join_non(_PIECE.findall(fold_accents(sentence))) for sentence in split_sentences(self._text)]
        marked = [[_MARKS.get(piece, piece) for piece in pieces] for pieces in sentences]
        words: list[Word] = []
        for number, pieces in enumerate(marked):
            denied = denied_places(pieces) | _settled_suspicions(pieces, marked[number + 1 :])
            words += [
                Word(_normalized(piece), number, place in denied)
                for place, piece in enumerate(pieces)
                if piece not in (COMMA, BREAK)
            ]
        return words


def _normalized(word: str) -> str:
    return one_meaning(normalize_spelling(word))


def _settled_suspicions(pieces: Sequence[str], later: Sequence[Sequence[str]]) -> frozenset[int]:
    """The places of what a sentence suspects, if the document says after it what was found instead."""
    suspected = suspected_places(pieces)
    if not suspected:
        return suspected
    for sentence in later:
        if confirms(sentence):
            return frozenset()
        if settling_place(sentence) >= 0:
            return suspected
    last = settling_place(pieces)
    return frozenset(place for place in suspected if place < last)


@lru_cache(MAX_CACHED_DOCUMENTS)
def read_document(text: str) -> DocumentWords:
    return DocumentWords(text)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text; the end of a title or paragraph ends one, too."""
    sentences, start = [], 0
    for end in _END.finditer(text):
        if "\n" not in end[0] and _NO_END.search(text[max(0, end.start() - 12) : end.start()]):
            continue
        sentences.append(text[start : end.start()])
        start = end.end()
    return [sentence for sentence in (*sentences, text[start:]) if sentence.strip()]


def join_non(words: Sequence[str]) -> Sequence[str]:
    """Words with "non" joined to the next: non-Hodgkin lymphoma is not Hodgkin lymphoma."""
    if "non" not in words:
        return words
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "non":
            joined[-1] += word
        else:
            joined.append(word)
    return joined
