"""Likeness of two texts by their words: TF-IDF cosine, Jaccard and ROUGE-L. The paper does not say which it takes.

Words are runs of two or more letters and digits in lower case. TF-IDF and Jaccard leave English function words out;
ROUGE-L counts them, since it is about order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files
from math import log, sqrt

from wardround.marking.text_similarity import common_subsequence

WORD = re.compile(r"\w\w+")
STOP_WORDS = frozenset((files(__package__) / "stop_words.txt").read_text(encoding="utf-8").split())


def words(text: str) -> list[str]:
    """All words of a text, in order."""
    return WORD.findall(text.lower())


def content(text: str) -> list[str]:
    """Its words but for function words."""
    return [word for word in words(text) if word not in STOP_WORDS]


class TfIdf:
    """Word weights fitted on documents: idf = ln((1 + n) / (1 + documents with the word)) + 1, also of unseen words."""

    def __init__(self, documents: Iterable[str]) -> None:
        self._with: Counter[str] = Counter()
        self._count = 0
        for document in documents:
            self._with.update(set(content(document)))
            self._count += 1

    def vector(self, text: str) -> dict[str, float]:
        """Counts times idf, of length 1; empty where there is no word."""
        weights = {
            word: many * (log((1 + self._count) / (1 + self._with[word])) + 1)
            for word, many in Counter(content(text)).items()
        }
        length = sqrt(sum(weight * weight for weight in weights.values()))
        return {word: weight / length for word, weight in weights.items()}

    def cosine(self, one: str, other: str) -> float | None:
        """None where one of the texts has no word."""
        return cosine(self.vector(one), self.vector(other))


def cosine(one: dict[str, float], other: dict[str, float]) -> float | None:
    """Of two vectors of length 1."""
    if not one or not other:
        return None
    few, many = sorted((one, other), key=len)
    return min(1.0, sum(weight * many[word] for word, weight in few.items() if word in many))


def jaccard(one: str, other: str) -> float | None:
    """Shared words among all words; None where one of the texts has no word."""
    a, b = set(content(one)), set(content(other))
    return len(a & b) / len(a | b) if a and b else None


def rouge_l(one: str, other: str) -> float | None:
    """F1 of the longest common subsequence of words; None where one of the texts has no word."""
    a, b = words(one), words(other)
    return 2 * common_subsequence(a, b) / (len(a) + len(b)) if a and b else None
