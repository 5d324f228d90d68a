"""Encoder: what makes vectors of queries and of articles. The nearer two are, the higher their inner product."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Article = tuple[str, str]  # title and abstract
Given = TypeVar("Given", str, Article)


class Encoder(ABC):
    """Makes vectors. Those of an article do not depend on the articles beside it, but for rounding."""

    name: str  # of the column that it fills
    dimension: int
    spec: dict[str, Any]  # what decides about the vectors, and as "encoder" what makes it again
    device: str = "cpu"
    batch: int = 32  # texts of one pass through the model
    passes: int = 1  # under way at once: one is made ready while another is on the device

    def queries(self, texts: Sequence[str]) -> Vectors:
        """One row for each query."""
        return in_batches(self._queries, texts, (self.dimension,), self.batch, self.passes)

    def documents(self, articles: Sequence[Article], tell: Callable[[int], None] | None = None) -> Vectors:
        """One row for each article; `tell` hears how many were encoded, after each pass."""
        return in_batches(self._documents, articles, (self.dimension,), self.batch, self.passes, tell)

    @abstractmethod
    def _queries(self, texts: list[str]) -> Vectors:
        """One pass."""

    @abstractmethod
    def _documents(self, articles: list[Article]) -> Vectors:
        """One pass."""


def in_batches(
    encode: Callable[[list[Given]], NDArray[np.float32]],
    given: Sequence[Given],
    shape: tuple[int, ...],
    batch: int,
    passes: int = 1,
    tell: Callable[[int], None] | None = None,
) -> NDArray[np.float32]:
    """Texts of like length go together, the longest first: all of a pass are padded to its longest."""
    lengths = [len(each) if isinstance(each, str) else sum(map(len, each)) for each in given]
    order = sorted(range(len(given)), key=lambda place: -lengths[place])
    batches = [order[start : start + batch] for start in range(0, len(order), batch)]
    found = np.empty((len(given), *shape), np.float32)
    pool = ThreadPoolExecutor(passes)
    try:
        made = pool.map(lambda places: encode([given[place] for place in places]), batches)
        for places, vectors in zip(batches, made, strict=True):
            found[places] = vectors
            if tell:
                tell(len(places))
    finally:
        pool.shutdown(cancel_futures=True)  # who interrupts it does not wait for all that was to come
    return found


def told(article: Article) -> str:
    """An article as one text, for models that were not taught titles and abstracts apart."""
    return " ".join(part for part in article if part).replace("\n", " ")


def normalised(vectors: NDArray[Any]) -> Vectors:
    """Vectors of length 1, whose inner product is their cosine; a vector without direction stays 0."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
    directions: Vectors = np.divide(vectors, lengths, dtype=np.float32)
    return directions
