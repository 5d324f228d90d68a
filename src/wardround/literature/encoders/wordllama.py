"""wordllama: the mean of static word vectors, which come inside the package. Needs no set-up and no network.

The package's files are read here, not by its own code: that downloads its tokenizer, which it has, and pads texts.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from wardround.core.errors import WardroundError
from wardround.literature.encoders.encoder import Article, Encoder, Vectors, normalised, told
from wardround.literature.encoders.weights import digest, package

WEIGHTS, TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"


class WordLlama(Encoder):
    """256 numbers a text, cosine."""

    dimension = 256
    batch = 1024

    def __init__(self, name: str) -> None:
        found = find_spec("wordllama")
        if found is None or not found.submodule_search_locations:
            raise WardroundError("wordllama is not installed: pip install 'wardround[literature]'")
        files = [Path(found.submodule_search_locations[0]) / file for file in (WEIGHTS, TOKENIZER)]
        if missing := [file.name for file in files if not file.exists()]:
            raise WardroundError(f"the installed wordllama has no {' and no '.join(missing)}: install 0.4.0.post1")
        self.name = name
        self.spec = {"dimension": self.dimension, "weights": digest(files)}
        vectors = package("safetensors.numpy", "literature").load_file(files[0])["embedding.weight"]
        self._words = np.ascontiguousarray(vectors, np.float32)
        self._tokenizer = package("tokenizers", "literature").Tokenizer.from_file(str(files[1]))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def _queries(self, texts: list[str]) -> Vectors:
        tokens = [each.ids for each in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        ends = np.cumsum([0, *map(len, tokens)])
        places = np.fromiter((token for each in tokens for token in each), np.int32, ends[-1])
        places = np.minimum(places, len(self._words) - 1)
        counts = csr_array((np.ones(len(places), np.float32), places, ends), shape=(len(texts), len(self._words)))
        return normalised(counts @ self._words)  # the length takes the division by the number of words with it

    def _documents(self, articles: list[Article]) -> Vectors:
        return self._queries([told(article) for article in articles])


def make(name: str, model: str, device: str, fetch: bool) -> WordLlama:
    """`wordllama`, as a spec names it: it takes no model."""
    if model:
        raise WardroundError(f"wordllama has one model, inside its package; {model!r} cannot be chosen")
    return WordLlama(name)
