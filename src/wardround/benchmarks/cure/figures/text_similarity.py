"""Similarity of two texts by their words: TF-IDF cosine, Jaccard and ROUGE-L. The paper does not name its measure.

Words are runs of two or more letters and digits in lower case. TF-IDF and Jaccard leave out English function words;
ROUGE-L keeps them, because it measures order.
"""

import re
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files
from math import log, sqrt

from rapidfuzz.distance import LCSseq

WORD = re.compile(r"\w\w+")
STOP_WORDS = frozenset((files(__package__) / "stop_words.txt").read_text(encoding="utf-8").split())


def words(text: str) -> list[str]:
    """All words of a text, in order."""
    return WORD.findall(text.lower())


def content_words(text: str) -> list[str]:
    """All words but function words."""
    return [word for word in words(text) if word not in STOP_WORDS]


class TfIdf:
    """Word weights fitted on documents: idf = ln((1 + n) / (1 + documents with the word)) + 1, also of unseen words."""

    def __init__(self, documents: Iterable[str]) -> None:
        self._document_counts: Counter[str] = Counter()
        self._count = 0
        for document in documents:
            self._document_counts.update(set(content_words(document)))
            self._count += 1

    def vector(self, text: str) -> dict[str, float]:
        """Counts times idf, scaled to length 1; empty if the text has no word."""
        weights = {
            word: count * (log((1 + self._count) / (1 + self._document_counts[word])) + 1)
            for word, count in Counter(content_words(text)).items()
        }
        length = sqrt(sum(weight * weight for weight in weights.values()))
        return {word: weight / length for word, weight in weights.items()}


def cosine(one: dict[str, float], other: dict[str, float]) -> float | None:
    """Of two vectors of length 1; None if one of them is empty."""
    if not one or not other:
        return None
    shorter, longer = sorted((one, other), key=len)
    return min(1.0, sum(weight * longer[word] for word, weight in shorter.items() if word in longer))


def jaccard(one: str, other: str) -> float | None:
    """Shared words among all words; None if one of the texts has no word."""
    a, b = set(content_words(one)), set(content_words(other))
    return len(a & b) / len(a | b) if a and b else None


def rouge_l(one: str, other: str) -> float | None:
    """F1 of the longest common subsequence of words; None if one of the texts has no word."""
    a, b = words(one), words(other)
    return 2 * LCSseq.similarity(a, b) / (len(a) + len(b)) if a and b else None
