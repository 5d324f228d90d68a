"""Embedding on Ray Data: a pool of actors, each with the model, which read the articles themselves.

They need the index and the model at the same paths as this process. Only this process writes.
"""

import logging
from collections.abc import Iterator
from typing import Any

from wardround.literature.encoders import Encoder, make_encoder
from wardround.literature.encoders.weights import import_package
from wardround.literature.index import vectors
from wardround.literature.index.embedding import encoder_inputs
from wardround.literature.index.index import Index
from wardround.literature.index.vectors import RowNumbers

PASSES_PER_TASK = 64


class EmbeddingActor:
    """An actor with the index and the model."""

    def __init__(self, location: str, encoder: str, device: str, batch: int) -> None:
        self._articles = Index.open(location).table("articles")
        self._encoder = make_encoder(encoder, device)
        self._encoder.batch = batch

    def __call__(self, rows: dict[str, Any]) -> Any:
        articles = vectors.read_articles(self._articles, rows["row"])
        return vectors.vector_rows(articles, self._encoder.documents(encoder_inputs(articles)))


def embed_with_actors(location: str, encoder: Encoder, missing: RowNumbers, workers: int) -> Iterator[Any]:
    """Yields rows for the vector table. Without a cluster to join, Ray starts one on this machine."""
    if not len(missing):
        return
    import_package("ray", "ray")
    import pyarrow as pa
    import ray

    is_ours = not ray.is_initialized()
    if is_ours:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    try:
        ray.data.DataContext.get_current().execution_options.preserve_order = True  # rows as without Ray
        size = PASSES_PER_TASK * encoder.batch
        tasks = [pa.table({"row": missing[start : start + size]}) for start in range(0, len(missing), size)]
        results = ray.data.from_arrow(tasks).map_batches(
            EmbeddingActor,
            fn_constructor_args=(location, encoder.spec["encoder"], encoder.device, encoder.batch),
            batch_size=None,
            batch_format="numpy",
            concurrency=(1, workers),
            num_gpus=1 if encoder.device == "cuda" else 0,
        )
        yield from results.iter_batches(batch_size=None, batch_format="pyarrow")
    finally:
        if is_ours:
            ray.shutdown()
