"""MedCPT: one model for queries and one for articles, trained on PubMed searches. First token, inner product."""

from typing import Any

from wardround.core.errors import WardroundError
from wardround.literature.encoders.encoder import Article, Encoder, Vectors
from wardround.literature.encoders.on_torch import BATCH, PASSES, TorchModel, choose_device, load_transformers, tokenize

QUERIES, ARTICLES = "ncbi/MedCPT-Query-Encoder", "ncbi/MedCPT-Article-Encoder"
QUERY_TOKENS, ARTICLE_TOKENS = 64, 512  # as the authors use them


class MedCPT(Encoder):
    """Takes titles and abstracts as pairs, and queries without instruction."""

    def __init__(self, name: str, queries: str, articles: str, device: str, fetch: bool) -> None:
        query_model, self._query_tokenizer = load_transformers("AutoModel", queries, fetch)
        article_model, self._article_tokenizer = load_transformers("AutoModel", articles, fetch)
        self.device = choose_device(device)
        self._query_network, self._article_network = (
            TorchModel(model, self.device) for model in (query_model, article_model)
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
        return self._query_network(lambda: tokenize(self._query_tokenizer, QUERY_TOKENS, texts), _first_token)

    def _documents(self, articles: list[Article]) -> Vectors:
        return self._article_network(
            lambda: tokenize(self._article_tokenizer, ARTICLE_TOKENS, [list(article) for article in articles]),
            _first_token,
        )


def _first_token(model: Any, features: dict[str, Any]) -> Any:
    return model(**features).last_hidden_state[:, 0]


def make(name: str, model: str, device: str, fetch: bool) -> MedCPT:
    """`medcpt`, or `medcpt:QUERY_MODEL,ARTICLE_MODEL` with other folders or names."""
    if not model:
        return MedCPT(name, QUERIES, ARTICLES, device, fetch)
    queries, comma, articles = model.partition(",")
    if not (queries and comma and articles):
        raise WardroundError(f"medcpt:{model}: name two models, as in medcpt:QUERY_MODEL,ARTICLE_MODEL")
    return MedCPT(name, queries, articles, device, fetch)
