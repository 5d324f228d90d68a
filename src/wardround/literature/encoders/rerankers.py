"""Rerankers: models that score a query and an article together."""

from collections.abc import Sequence
from typing import Any

from wardround.literature.encoders.encoder import Article, Vectors, encode_in_batches, join_article
from wardround.literature.encoders.on_torch import BATCH, PASSES, TorchModel, choose_device, load_transformers, tokenize

MEDCPT = "ncbi/MedCPT-Cross-Encoder"
TOKENS = 512  # of query and article together; the longer one is truncated first


class Reranker:
    """A cross-encoder with one output."""

    def __init__(self, spec: str, model: str, device: str, fetch: bool) -> None:
        loaded, self._tokenizer = load_transformers("AutoModelForSequenceClassification", model, fetch)
        self._device = choose_device(device)
        self._network = TorchModel(loaded, self._device)
        self.spec = {"reranker": spec, "weights": self._network.weights, "tokens": TOKENS}

    def scores(self, query: str, articles: Sequence[Article]) -> Vectors:
        """One score for each article; higher is better."""
        return encode_in_batches(
            lambda batch: self._pass(query, batch), articles, (), BATCH[self._device], PASSES[self._device]
        )

    def _pass(self, query: str, articles: list[Article]) -> Vectors:
        return self._network(
            lambda: tokenize(
                self._tokenizer, TOKENS, [query] * len(articles), [join_article(article) for article in articles]
            ),
            _score,
        )


def _score(model: Any, features: dict[str, Any]) -> Any:
    return model(**features).logits[:, -1]
