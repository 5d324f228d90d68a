"""Invented vectors with clusters, for columns of any size: a mixture of 2,000 normal distributions.

Each has 256 directions whose spread falls as a power of their rank, turned into the wanted dimensions. This is assumed,
not fitted to a model: recall on a real model's vectors may differ.
"""

from __future__ import annotations

import numpy as np

from wardround.literature.encoders.encoder import Article, Encoder, Vectors, normalize

CLUSTERS, RANK, POWER = 2_000, 256, 0.6
SPREAD = 0.8  # within a cluster, relative to that of the clusters


class ClusteredVectors(Encoder):
    """Vectors of length 1 that depend on a text only by the seed that is made of it."""

    name = "clustered"
    batch = 8_192
    is_padded = False

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.spec = {"encoder": "clustered", "dimension": dimension}
        random = np.random.default_rng(1)
        self._scales = (np.arange(1, RANK + 1) ** -POWER).astype(np.float32)
        self._centres = random.standard_normal((CLUSTERS, RANK), np.float32)
        self._turn = random.standard_normal((RANK, dimension), np.float32)

    def make(self, random: np.random.Generator, count: int) -> Vectors:
        points = self._centres[random.integers(0, CLUSTERS, count)]
        points = points + SPREAD * random.standard_normal((count, RANK), np.float32)
        return normalize((points * self._scales) @ self._turn)

    def _queries(self, texts: list[str]) -> Vectors:
        return np.concatenate([self.make(np.random.default_rng(list(text.encode())), 1) for text in texts])

    def _documents(self, articles: list[Article]) -> Vectors:
        return self.make(np.random.default_rng(list(articles[0][1].encode())), len(articles))
