"""Encoder: turns queries and articles into vectors; the closer two are, the higher their inner product."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Article = tuple[str, str]  # title and abstract
TextOrArticle = TypeVar("TextOrArticle", str, Article)


class Encoder(ABC):
    """Makes vectors. Except for rounding, an article's vector does not depend on the rest of its batch."""

    name: str  # of the column that it fills
    dimension: int
    spec: dict[str, Any]  # everything the vectors depend on, and under "encoder" what creates it again
    device: str = "cpu"
    batch: int = 32  # texts of one pass through the model
    passes: int = 1  # concurrent: one is prepared while another is on the device
    is_padded: bool = True  # whether the rest of its batch changes the rounding of a vector

    def queries(self, texts: Sequence[str]) -> Vectors:
        """One row for each query, the same as of that query alone: searches do not depend on their batch."""
        batch = 1 if self.is_padded else self.batch
        return encode_in_batches(self._queries, texts, (self.dimension,), batch, self.passes)

    def documents(self, articles: Sequence[Article], note: Callable[[int], None] | None = None) -> Vectors:
        """One row for each article; `note` is called with the number encoded after each pass."""
        return encode_in_batches(self._documents, articles, (self.dimension,), self.batch, self.passes, note)

    @abstractmethod
    def _queries(self, texts: list[str]) -> Vectors:
        """One pass."""

    @abstractmethod
    def _documents(self, articles: list[Article]) -> Vectors:
        """One pass."""


def encode_in_batches(
    encode: Callable[[list[TextOrArticle]], NDArray[np.float32]],
    texts: Sequence[TextOrArticle],
    shape: tuple[int, ...],
    batch: int,
    passes: int = 1,
    note: Callable[[int], None] | None = None,
) -> NDArray[np.float32]:
    """Encodes texts of similar length together, the longest first: a pass is padded to its longest text."""
    lengths = [len(text) if isinstance(text, str) else sum(map(len, text)) for text in texts]
    order = sorted(range(len(texts)), key=lambda index: -lengths[index])
    batches = [order[start : start + batch] for start in range(0, len(order), batch)]
    encoded = np.empty((len(texts), *shape), np.float32)
    pool = ThreadPoolExecutor(passes)
    try:
        results = pool.map(lambda indices: encode([texts[index] for index in indices]), batches)
        for indices, vectors in zip(batches, results, strict=True):
            encoded[indices] = vectors
            if note:
                note(len(indices))
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupt does not wait for the remaining batches
    return encoded


def join_article(article: Article) -> str:
    """An article as one text, for models that do not take titles and abstracts separately."""
    return " ".join(part for part in article if part).replace("\n", " ")


def normalize(vectors: NDArray[Any]) -> Vectors:
    """Vectors of length 1, whose inner product is their cosine; a zero vector stays 0."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
    directions: Vectors = np.divide(vectors, lengths, dtype=np.float32)
    return directions
