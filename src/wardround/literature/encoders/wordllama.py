"""wordllama: the mean of static word vectors, which the package contains. Needs no set-up and no network.

We read the package's files ourselves: its own code downloads a tokenizer that it already has, and pads texts.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from wardround.core.errors import WardroundError
from wardround.literature.encoders.encoder import Article, Encoder, Vectors, join_article, normalize
from wardround.literature.encoders.weights import digest, import_package

WEIGHTS, TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"


class WordLlama(Encoder):
    """256 dimensions, cosine."""

    dimension = 256
    batch = 1024
    is_padded = False

    def __init__(self, name: str) -> None:
        spec = find_spec("wordllama")
        if spec is None or not spec.submodule_search_locations:
            raise WardroundError("wordllama is not installed: pip install 'wardround[literature]'")
        files = [Path(spec.submodule_search_locations[0]) / file for file in (WEIGHTS, TOKENIZER)]
        if missing := [file.name for file in files if not file.exists()]:
            raise WardroundError(f"the installed wordllama has no {' and no '.join(missing)}: install 0.4.0.post1")
        self.name = name
        self.spec = {"dimension": self.dimension, "weights": digest(files)}
        vectors = import_package("safetensors.numpy", "literature").load_file(files[0])["embedding.weight"]
        self._words = np.ascontiguousarray(vectors, np.float32)
        self._tokenizer = import_package("tokenizers", "literature").Tokenizer.from_file(str(files[1]))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def _queries(self, texts: list[str]) -> Vectors:
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        ends = np.cumsum([0, *map(len, tokens)])
        token_ids = np.fromiter((token for ids in tokens for token in ids), np.int32, ends[-1])
        token_ids = np.minimum(token_ids, len(self._words) - 1)
        counts = csr_array((np.ones(len(token_ids), np.float32), token_ids, ends), shape=(len(texts), len(self._words)))
        return normalize(counts @ self._words)  # scaling to length 1 includes the division by the number of words

    def _documents(self, articles: list[Article]) -> Vectors:
        return self._queries([join_article(article) for article in articles])


def make(name: str, model: str, device: str, fetch: bool) -> WordLlama:
    """`wordllama`: it takes no model."""
    if model:
        raise WardroundError(f"wordllama takes no model, not {model!r}")
    return WordLlama(name)
