"""Articles embedded a second, beside sentence-transformers as it comes and transformers with all padded to 512."""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from perf.bars import bar, versions

# layers, width and heads of models with random weights: how fast a model is does not depend on what it knows
SHAPES = {"tiny": (2, 128, 2), "mini": (6, 384, 12), "base": (12, 768, 12), "large": (24, 1024, 16)}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PADDED = 512
OURS, PEER, PLAIN = "wardround", "sentence-transformers, encode() as it comes", "transformers, all padded to 512"


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf embedding")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--shape", choices=list(SHAPES), help="default: tiny; large on cuda")
    parser.add_argument("--articles", type=int, help="default: 500; 20,000 on cuda")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--encoder-only", action="store_true", help="without an index that is read and written")
    options = parser.parse_args(arguments)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # models are made here; the libraries need not look for others
    device = options.device
    shape = options.shape or ("large" if device == "cuda" else "tiny")
    count = options.articles or (20_000 if device == "cuda" else 500)
    what = "the encoder alone" if options.encoder_only else "read, embedded and committed"
    print(f"  {versions('wardround', 'sentence-transformers', 'transformers', 'torch')}; {device}; {what}", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        articles = invented(count)
        save_model(folder / "model", SHAPES[shape], articles)
        ways = ways_of(folder, articles, device, options.encoder_only)
        seconds_by_way: dict[str, list[float]] = {name: [] for name in ways}
        vectors = {}
        for _ in range(options.rounds):
            for name, (way, many) in ways.items():
                started = clock(device)
                vectors[name] = way()
                seconds_by_way[name].append((clock(device) - started) / many)
    for name, seconds in seconds_by_way.items():
        print(f"  {name}: {1 / min(seconds):,.1f} articles a second{' of CPU' * (device == 'cpu')}, at best")
    ratio = statistics.median(
        peer / ours for ours, peer in zip(seconds_by_way[OURS], seconds_by_way[PEER], strict=True)
    )
    padded = statistics.median(
        plain / ours for ours, plain in zip(seconds_by_way[OURS], seconds_by_way[PLAIN], strict=True)
    )
    print(f"  {OURS} / {PLAIN}, median round: {padded:.2f}")
    cosines = (vectors[OURS] * vectors[PEER]).sum(axis=1)
    return all(
        [
            bar(f"{OURS} / {PEER}, median round", ratio, at_least=2 if device == "cuda" else 0.9),
            bar("least cosine between their vectors", float(cosines.min()), at_least=0.999),
        ]
    )


def clock(device: str) -> float:
    """CPU where the CPU does the work, time where a GPU does."""
    return time.perf_counter() if device == "cuda" else time.process_time()


def ways_of(
    folder: Path, articles: list[tuple[str, str]], device: str, alone: bool
) -> dict[str, tuple[Callable[[], Any], int]]:
    """Each way, and how many articles it embeds."""
    from sentence_transformers import SentenceTransformer

    from wardround.literature.encoders import make_encoder
    from wardround.literature.encoders.encoder import join_article

    spec = f"sentence-transformers:{folder}/model"
    encoder = make_encoder(spec, device)
    texts = [join_article(article) for article in articles]
    peer = SentenceTransformer(str(folder / "model"), device=device)
    some = texts[: min(len(texts), 2_048 if device == "cuda" else 128)]
    ours: Callable[[], Any] = lambda: encoder.documents(articles)  # noqa: E731
    if not alone:
        ours = embedding(folder, articles, encoder)
    for way in (lambda: encoder.documents(articles[:300]), lambda: peer.encode(texts[:300])):
        way()  # kernels are chosen and memory is taken the first time
    return {
        OURS: (ours, len(texts)),
        PEER: (lambda: peer.encode(texts), len(texts)),
        PLAIN: (plain(folder / "model", some, device), len(some)),
    }


def embedding(folder: Path, articles: list[tuple[str, str]], encoder: Any) -> Callable[[], Any]:
    """The real thing: a fresh column of an index each time."""
    from wardround.literature.index.build import build
    from wardround.literature.index.embedding import embed
    from wardround.literature.index.index import Index

    rows = [{"pmid": str(10_000_000 + at), "title": one, "abstract": two} for at, (one, two) in enumerate(articles)]
    source = folder / "articles.jsonl"
    source.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    build([source], folder / "index", columns=[])
    columns = iter(range(1_000))

    def filled() -> Any:
        encoder.name = f"c{next(columns)}"
        embed(Index.open(folder / "index"), encoder)
        vectors = Index.open(folder / "index").table(f"vectors_{encoder.name}").to_arrow().sort_by("pmid")
        return vectors["vector"].combine_chunks().flatten().to_numpy().reshape(len(articles), -1)

    return filled


def plain(model: Path, texts: list[str], device: str) -> Callable[[], Any]:
    """transformers as its pages show it, in the precision and with the batches that wardround has."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    network = AutoModel.from_pretrained(model).eval()
    network = network.to(device, torch.float16 if device == "cuda" else torch.float32)
    batch = 256 if device == "cuda" else 32

    def encoded() -> Any:
        rows = []
        with torch.inference_mode():
            for start in range(0, len(texts), batch):
                some = texts[start : start + batch]
                read = tokenizer(some, padding="max_length", truncation=True, max_length=PADDED, return_tensors="pt")
                rows.append(network(**read.to(device)).last_hidden_state[:, 0].float().cpu().numpy())
        return np.concatenate(rows)

    return encoded


def invented(count: int) -> list[tuple[str, str]]:
    """Titles and abstracts, on average 193 words long as PubMed's are; every third word is two tokens."""
    draw = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(draw.choices(letters, k=draw.randint(3, 9))) for _ in range(8_000)]
    words = [word + "qx" if place % 3 == 0 else word for place, word in enumerate(words)]
    weights = [1 / (place + 3) for place in range(len(words))]

    def text(length: float) -> str:
        return " ".join(draw.choices(words, weights, k=max(3, round(length)))) + "."

    return [(text(draw.gauss(13, 4)), text(min(600, draw.lognormvariate(5.15, 0.45)))) for _ in range(count)]


def save_model(folder: Path, shape: tuple[int, int, int], articles: list[tuple[str, str]]) -> None:
    """A model of this shape as sentence-transformers saves one: first token, length 1, at most 512 tokens."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel

    words = sorted(
        {word.strip(".").removesuffix("qx") for article in articles for part in article for word in part.split()}
    )
    vocabulary = list(dict.fromkeys([*SPECIAL, ".", "##qx", *words]))
    tokenizer = Tokenizer(models.WordPiece({word: place for place, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    inner = folder.with_name("bert")
    inner.mkdir()
    tokenizer.save(str(inner / "tokenizer.json"))
    settings = {f"{name.strip('[]').lower()}_token": name for name in SPECIAL}
    settings |= {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": PADDED}
    (inner / "tokenizer_config.json").write_bytes(orjson.dumps(settings))
    torch.manual_seed(1)
    layers, width, heads = shape
    config = BertConfig(
        vocab_size=30_522,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
    )
    BertModel(config).save_pretrained(inner)
    read = modules.Transformer(str(inner), max_seq_length=PADDED)
    SentenceTransformer(modules=[read, modules.Pooling(width, "cls"), modules.Normalize()], device="cpu").save(
        str(folder)
    )
