"""Rerankers: models that read the query and an article together and say how well they fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wardround.literature.encoders.encoder import Article, Vectors, in_batches, told
from wardround.literature.encoders.on_torch import BATCH, PASSES, TorchModel, device_named, from_transformers, tokenized

MEDCPT = "ncbi/MedCPT-Cross-Encoder"
TOKENS = 512  # of query and article together; the longer of them is cut first


class Reranker:
    """A cross-encoder with one output."""

    def __init__(self, spec: str, model: str, device: str, fetch: bool) -> None:
        loaded, self._tokenizer = from_transformers("AutoModelForSequenceClassification", model, fetch)
        self._device = device_named(device)
        self._network = TorchModel(loaded, self._device)
        self.spec = {"reranker": spec, "weights": self._network.weights, "tokens": TOKENS}

    def scores(self, query: str, articles: Sequence[Article]) -> Vectors:
        """One number for each article: the higher, the better it fits."""
        return in_batches(lambda some: self._pass(query, some), articles, (), BATCH[self._device], PASSES[self._device])

    def _pass(self, query: str, articles: list[Article]) -> Vectors:
        return self._network(
            lambda: tokenized(self._tokenizer, TOKENS, [query] * len(articles), [told(each) for each in articles]),
            _score,
        )


def _score(model: Any, features: dict[str, Any]) -> Any:
    return model(**features).logits[:, -1]
