"""Near-duplicates among very many texts: MinHash over word triples. Numbers: our choice.

Two texts are near if the sets of their word triples overlap by at least 0.8 (Jaccard). A text is represented by a
hundred minima; texts that agree in all five minima of one of twenty bands are compared (this misses 1 in 2,800 pairs
that overlap by 0.8), each with at most 16 before it in its band, so that the time is linear in the number of texts even
if all are made from one template. The overlap of compared texts is then counted exactly.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wardround.building.duplicates.disjoint_sets import DisjointSets
from wardround.core.random import stream
from wardround.core.text import fold_nfkc

MIN_OVERLAP = 0.8
TRIPLE = 3
BANDS, ROWS = 20, 5
MAX_COMPARED = 16  # texts of a band that each text is compared with
SLACK = 0.15  # by how much a hundred minima may underestimate the overlap of a pair
BLOCK = 1 << 16  # pairs whose minima are compared at once
_WORD = re.compile(r"\w+")

Hashes = NDArray[np.uint64]
Indices = NDArray[np.int64]


class NearPair(NamedTuple):
    """Two texts by their numbers, the earlier first, and their overlap (Jaccard)."""

    one: int
    other: int
    overlap: float


def find_near_texts(texts: Iterable[str], *, seed: int = 0) -> list[NearPair]:
    """Pairs that join near texts into groups, one fewer than a group has texts. Empty texts are near to none."""
    hasher = TripleHasher(seed)
    numbers: list[int] = []
    triple_sets: list[NDArray[np.uint32]] = []
    minima: list[NDArray[np.uint32]] = []
    for number, text in enumerate(texts):
        triples = hasher.triples(text)
        if len(triples):
            numbers.append(number)
            triple_sets.append((triples >> np.uint64(32)).astype(np.uint32))
            minima.append(hasher.minima(triples))
    if len(triple_sets) < 2:
        return []
    groups = DisjointSets(len(triple_sets))
    pairs = []
    for one, other in _candidates(np.array(minima)):
        if groups.are_joined(one, other):
            continue
        overlap = _overlap(triple_sets[one], triple_sets[other])
        if overlap >= MIN_OVERLAP:
            groups.join(one, other)
            pairs.append(NearPair(numbers[one], numbers[other], overlap))
    return pairs


class TripleHasher:
    """Hashes of word triples and their minima: the same on every machine for the same seed."""

    def __init__(self, seed: int) -> None:
        drawn = stream(seed, "near text").integers(0, 2**63, size=(2, BANDS * ROWS), dtype=np.uint64)
        self._factors, self._terms = drawn[0] | np.uint64(1), drawn[1]
        self._words = WordHashes()

    def triples(self, text: str) -> Hashes:
        """The hashes of the distinct word triples of a text; a text of one or two words is one."""
        words = np.array([self._words[word] for word in _WORD.findall(fold_nfkc(text))], dtype=np.uint64)
        if not len(words):
            return words
        size = min(TRIPLE, len(words))
        count = len(words) - size + 1
        return np.unique(_combined([words[start : start + count] for start in range(size)]))

    def minima(self, triples: Hashes) -> NDArray[np.uint32]:
        hashed = triples[None] * self._factors[:, None] + self._terms[:, None]
        smallest: Hashes = hashed.min(axis=1)
        return (smallest >> np.uint64(32)).astype(np.uint32)


class WordHashes(dict[str, int]):
    """The hashes of words, each computed once."""

    def __missing__(self, word: str) -> int:
        self[word] = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
        return self[word]


def _candidates(minima: NDArray[np.uint32]) -> Iterator[tuple[int, int]]:
    """Pairs that agree in a band and may be near, in order."""
    count = len(minima)
    pairs = np.empty(0, np.int64)  # one * count + other
    for band in range(BANDS):
        key = _combined(minima[:, band * ROWS : (band + 1) * ROWS].T.astype(np.uint64))
        order = np.argsort(key, kind="stable")
        key = key[order]
        parts = [pairs]
        for lag in range(1, min(MAX_COMPARED, count - 1) + 1):
            same = np.flatnonzero(key[lag:] == key[:-lag])
            if not len(same):
                break
            one, other = order[same], order[same + lag]
            parts.append((one * count + other)[_may_be_near(minima, one, other)])
        pairs = np.unique(np.concatenate(parts))
    yield from ((int(pair) // count, int(pair) % count) for pair in pairs)


def _combined(rows: Sequence[Hashes] | Hashes) -> Hashes:
    """One hash for each column: equal for equal columns, almost certainly different for others."""
    combined = np.zeros(len(rows[0]), np.uint64)
    for row in rows:
        combined = (combined ^ row) * np.uint64(0x9E3779B97F4A7C15)
        combined ^= combined >> np.uint64(29)
    return combined


def _may_be_near(minima: NDArray[np.uint32], one: Indices, other: Indices) -> NDArray[np.bool_]:
    near = np.empty(len(one), bool)
    for start in range(0, len(one), BLOCK):
        part = slice(start, start + BLOCK)
        near[part] = (minima[one[part]] == minima[other[part]]).mean(axis=1) >= MIN_OVERLAP - SLACK
    return near


def _overlap(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> float:
    both = len(np.intersect1d(one, other))
    return both / (len(one) + len(other) - both)
