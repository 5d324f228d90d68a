"""MedCPT: one model for queries and one for articles, taught on PubMed's searches. First token, inner product."""

from __future__ import annotations

from typing import Any

from wardround.core.errors import WardroundError
from wardround.literature.encoders.encoder import Article, Encoder, Vectors
from wardround.literature.encoders.on_torch import BATCH, PASSES, TorchModel, device_named, from_transformers, tokenized

QUERIES, ARTICLES = "ncbi/MedCPT-Query-Encoder", "ncbi/MedCPT-Article-Encoder"
QUERY_TOKENS, ARTICLE_TOKENS = 64, 512  # as the authors use them


class MedCPT(Encoder):
    """Titles and abstracts go in as pairs, queries without instruction."""

    def __init__(self, name: str, queries: str, articles: str, device: str, fetch: bool) -> None:
        query_model, self._query_tokenizer = from_transformers("AutoModel", queries, fetch)
        article_model, self._article_tokenizer = from_transformers("AutoModel", articles, fetch)
        self.device = device_named(device)
        self._query_network, self._article_network = (
            TorchModel(each, self.device) for each in (query_model, article_model)
        )
        self.name, self.batch, self.passes = name, BATCH[self.device], PASSES[self.device]
        self.dimension = int(article_model.config.hidden_size)
        if query_model.config.hidden_size != self.dimension:
            raise WardroundError(
                f"{name}: queries have {query_model.config.hidden_size} dimensions, articles {self.dimension}"
            )
        self.spec = {
            "dimension": self.dimension,
            "weights": self._article_network.weights,
            "query_weights": self._query_network.weights,
            "cosine": False,
            "tokens": ARTICLE_TOKENS,
            "query_tokens": QUERY_TOKENS,
        }

    def _queries(self, texts: list[str]) -> Vectors:
        return self._query_network(lambda: tokenized(self._query_tokenizer, QUERY_TOKENS, texts), _first_token)

    def _documents(self, articles: list[Article]) -> Vectors:
        return self._article_network(
            lambda: tokenized(self._article_tokenizer, ARTICLE_TOKENS, [list(article) for article in articles]),
            _first_token,
        )


def _first_token(model: Any, features: dict[str, Any]) -> Any:
    return model(**features).last_hidden_state[:, 0]


def make(name: str, model: str, device: str, fetch: bool) -> MedCPT:
    """`medcpt`, or `medcpt:QUERY_MODEL,ARTICLE_MODEL` with folders or names of one's own."""
    if not model:
        return MedCPT(name, QUERIES, ARTICLES, device, fetch)
    queries, comma, articles = model.partition(",")
    if not (queries and comma and articles):
        raise WardroundError(f"medcpt:{model}: two models are named, as in medcpt:QUERY_MODEL,ARTICLE_MODEL")
    return MedCPT(name, queries, articles, device, fetch)
