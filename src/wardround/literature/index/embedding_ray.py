"""Embedding on Ray Data: a pool of actors, each with the model, which read the articles themselves.

They need the index and the model at the same place as this process. Only this process writes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from wardround.literature.encoders import Encoder, make_encoder
from wardround.literature.encoders.weights import package
from wardround.literature.index import vectors
from wardround.literature.index.embedding import given
from wardround.literature.index.index import Index
from wardround.literature.index.vectors import Rows

AT_ONCE = 64  # passes through the model for one task


class Embedding:
    """What an actor holds: the index and the model."""

    def __init__(self, place: str, encoder: str, device: str, batch: int) -> None:
        self._articles = Index.open(place).table("articles")
        self._encoder = make_encoder(encoder, device)
        self._encoder.batch = batch

    def __call__(self, rows: dict[str, Any]) -> Any:
        some = vectors.read(self._articles, rows["row"])
        return vectors.rows_of(some, self._encoder.documents(given(some)))


def in_actors(place: str, encoder: Encoder, missing: Rows, workers: int) -> Iterator[Any]:
    """Rows for the table of vectors, as they are made. Without a cluster to join, Ray starts one on this machine."""
    if not len(missing):
        return
    package("ray", "ray")
    import pyarrow as pa
    import ray

    ours = not ray.is_initialized()
    if ours:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    try:
        size = AT_ONCE * encoder.batch
        tasks = [pa.table({"row": missing[start : start + size]}) for start in range(0, len(missing), size)]
        made = ray.data.from_arrow(tasks).map_batches(
            Embedding,
            fn_constructor_args=(place, encoder.spec["encoder"], encoder.device, encoder.batch),
            batch_size=None,
            batch_format="numpy",
            concurrency=(1, workers),
            num_gpus=1 if encoder.device == "cuda" else 0,
        )
        yield from made.iter_batches(batch_size=None, batch_format="pyarrow")
    finally:
        if ours:
            ray.shutdown()
