"""Texts that are nearly the same, found among very many: MinHash over triples of words. Numbers: our choice.

Two texts are near if the sets of their word triples overlap by at least 0.8 (Jaccard). A hundred minima stand for each
text; texts that agree in all five minima of one of twenty bands are compared (of pairs that overlap by 0.8 this misses
1 in 2,800), each with at most 16 before it in its band, so that the work grows with the number of texts even if all of
them are made from one template. What is compared is then counted exactly.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wardround.building.sources.medq_deg.duplicates import plain
from wardround.core.random import stream

ALIKE = 0.8
TRIPLE = 3
BANDS, ROWS = 20, 5
BEFORE = 16  # texts of a band that each is compared with
LOOSE = 0.15  # by how much a hundred minima may underrate a pair that is then counted
BLOCK = 1 << 16  # pairs whose minima are compared at once
_WORD = re.compile(r"\w+")

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]


class Near(NamedTuple):
    """Two texts by their numbers, the earlier first, and their overlap."""

    one: int
    other: int
    likeness: float


def find_near(texts: Iterable[str], *, alike: float = ALIKE, seed: int = 0) -> list[Near]:
    """The pairs that join near texts into groups, one fewer than a group has texts. Empty texts are near to none."""
    hashing, sets, minima = Hashing(seed), list[NDArray[np.uint32]](), list[NDArray[np.uint32]]()
    numbers = []
    for number, text in enumerate(texts):
        triples = hashing.triples(text)
        if len(triples):
            numbers.append(number)
            sets.append((triples >> np.uint64(32)).astype(np.uint32))
            minima.append(hashing.minima(triples))
    if len(sets) < 2:
        return []
    joined = Groups(len(sets))
    found = []
    for one, other in _candidates(np.array(minima), alike):
        if joined.apart(one, other) and (overlap := _overlap(sets[one], sets[other])) >= alike:
            joined.join(one, other)
            found.append(Near(numbers[one], numbers[other], overlap))
    return found


class Hashing:
    """Words, triples of them and their minima as numbers: the same on every machine for the same seed."""

    def __init__(self, seed: int) -> None:
        drawn = stream(seed, "near text").integers(0, 2**63, size=(2, BANDS * ROWS), dtype=np.uint64)
        self._factors, self._terms = drawn[0] | np.uint64(1), drawn[1]
        self._words = Words()

    def triples(self, text: str) -> Hashes:
        """The distinct word triples of a text, hashed; a shorter text is one."""
        words = np.array([self._words[word] for word in _WORD.findall(plain(text))], dtype=np.uint64)
        if not len(words):
            return words
        size = min(TRIPLE, len(words))
        many = len(words) - size + 1
        return np.unique(_mixed([words[place : place + many] for place in range(size)]))

    def minima(self, triples: Hashes) -> NDArray[np.uint32]:
        hashed = triples[None] * self._factors[:, None] + self._terms[:, None]
        smallest: Hashes = hashed.min(axis=1)
        return (smallest >> np.uint64(32)).astype(np.uint32)


class Words(dict[str, int]):
    """Words as numbers, each hashed once."""

    def __missing__(self, word: str) -> int:
        self[word] = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
        return self[word]


class Groups:
    """Which numbers have been joined, directly or through others."""

    def __init__(self, many: int) -> None:
        self._above = list(range(many))

    def top(self, number: int) -> int:
        while self._above[number] != number:
            self._above[number] = self._above[self._above[number]]
            number = self._above[number]
        return number

    def apart(self, one: int, other: int) -> bool:
        return self.top(one) != self.top(other)

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self.top(one), self.top(other)))
        self._above[second] = first


def _candidates(minima: NDArray[np.uint32], alike: float) -> Iterator[tuple[int, int]]:
    """Pairs that agree in a band and may be near, in order."""
    many = len(minima)
    kept = np.empty(0, np.int64)
    for band in range(BANDS):
        key = _mixed(minima[:, band * ROWS : (band + 1) * ROWS].T.astype(np.uint64))
        order = np.argsort(key, kind="stable")
        key = key[order]
        found = [kept]
        for lag in range(1, min(BEFORE, many - 1) + 1):
            same = np.flatnonzero(key[lag:] == key[:-lag])
            if not len(same):
                break
            one, other = order[same], order[same + lag]
            found.append((one * many + other)[_likely(minima, one, other, alike)])
        kept = np.unique(np.concatenate(found))
    yield from ((int(pair) // many, int(pair) % many) for pair in kept)


def _mixed(rows: Sequence[Hashes] | Hashes) -> Hashes:
    """Rows of numbers made one row: equal columns stay equal, others hardly ever become so."""
    mixed = np.zeros(len(rows[0]), np.uint64)
    for row in rows:
        mixed = (mixed ^ row) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _likely(minima: NDArray[np.uint32], one: Places, other: Places, alike: float) -> NDArray[np.bool_]:
    likely = np.empty(len(one), bool)
    for first in range(0, len(one), BLOCK):
        now = slice(first, first + BLOCK)
        likely[now] = (minima[one[now]] == minima[other[now]]).mean(axis=1) >= alike - LOOSE
    return likely


def _overlap(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> float:
    both = len(np.intersect1d(one, other))
    return both / (len(one) + len(other) - both)
