"""Invented articles by the million: records as a ledger keeps them, written without reading XML.

Words follow Zipf's law over 500,000, with common English ones between them. The numbers of words of titles and
abstracts are drawn from the quantiles of SciFact's 5,183 real articles. Equal arguments give equal articles.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pubmed_baseline import COMMON, TYPES, word

from wardround.core.canonical import sha256_file
from wardround.core.files import write_file
from wardround.literature.ingest.ledger import LedgerEntry, records_folder
from wardround.literature.ingest.record import SCHEMA

VOCABULARY = 500_000
PART = 10_000  # records of one Parquet file, as ingest writes them
FILE = 1_000_000  # records of one source
# words of abstracts and titles: quantiles in steps of 5 %
ABSTRACTS = (26, 98, 116, 128, 140, 147, 151, 158, 169, 181, 193, 200, 209, 222, 236, 247, 257, 271, 297, 346, 1524)
TITLES = (1, 6, 7, 8, 9, 10, 10, 11, 11, 12, 12, 13, 14, 14, 15, 16, 16, 18, 19, 21, 40)

Numbers = NDArray[np.int64]


def word_list() -> pa.Array:
    """The common words, then the invented ones from the most to the least frequent."""
    return pa.array([*COMMON, *map(word, range(VOCABULARY))])


def write_records(work: Path, sources: Path, count: int) -> list[Path]:
    """Fills the ledger of an index with so many articles; returns the sources to name to `build`.

    A source only says which articles it stands for: its records are in the ledger already, as if it had been read.
    What is there already is kept.
    """
    sources.mkdir(parents=True, exist_ok=True)
    files = [sources / f"invented{number:04}.jsonl" for number in range(-(-count // FILE))]
    words = word_list()
    for number, file in enumerate(files):
        records = min(FILE, count - number * FILE)
        target = records_folder(work, number)
        if (target / "entry.json").exists():
            continue
        file.write_bytes(orjson.dumps({"pmid": str(number), "title": f"{records} invented articles"}) + b"\n")
        target.mkdir(parents=True, exist_ok=True)
        for start in range(0, records, PART):
            size = min(PART, records - start)
            part = target / f"{start // PART:05}.parquet"
            article_records(number * FILE + start, size, words).write_parquet(part, compression="zstd")
        status = file.stat()
        entry = LedgerEntry(
            str(file), status.st_size, status.st_mtime_ns, sha256_file(file), records, deletions=0, problems=0, named=[]
        )
        write_file(target / "entry.json", orjson.dumps(entry))
        os.sync()
    write_file(work / "sources.json", orjson.dumps([str(file) for file in files]))
    return files


def article_records(start: int, count: int, words: pa.Array) -> pl.DataFrame:
    """The articles with numbers from `start` on."""
    random = np.random.default_rng([7, start])
    numbers = np.arange(start, start + count)
    pmids = pa.array(numbers + 10_000_000).cast(pa.string())
    titles = _texts(random, _lengths(random, TITLES, count), words)
    abstracts = pc.binary_join_element_wise(_texts(random, _lengths(random, ABSTRACTS, count), words), pmids, " ")
    types = pa.array(TYPES).take(pa.array(numbers % len(TYPES)))
    columns: dict[str, Any] = {
        "pmid": pmids,
        "title": titles,
        "abstract": abstracts,
        "journal": pc.binary_join_element_wise("Journal", pa.array(numbers % 97).cast(pa.string()), " "),
        "publication_types": pl.from_arrow(types).implode().explode().reshape((count, 1)).arr.to_list(),  # type: ignore[union-attr]
    }
    frame = pl.DataFrame({name: pl.Series(values) for name, values in columns.items()})
    year = pl.Series((1970 + numbers % 55).astype(np.int32))
    empty = pl.lit([], pl.List(pl.String()))
    filled = frame.with_columns(
        version=pl.lit(1, pl.Int32()),
        deleted=pl.lit(False),
        labels=empty,
        year=year,
        published=year.cast(pl.String()),
        mesh=empty,
        languages=pl.lit(["eng"], pl.List(pl.String())),
        doi=pl.lit(None, pl.String()),
        more=pl.lit(None, pl.String()),
    )
    return filled.select(list(SCHEMA)).cast(dict(SCHEMA))


def queries(count: int, shortest: int, longest: int, words: pa.Array, seed: int = 5) -> list[str]:
    """Texts of so many words, drawn as those of the articles."""
    random = np.random.default_rng([seed, shortest, longest])
    return _texts(random, random.integers(shortest, longest + 1, count), words).to_pylist()


def _lengths(random: np.random.Generator, quantiles: Sequence[int], count: int) -> Numbers:
    steps = np.linspace(0, 1, len(quantiles))
    return np.interp(random.random(count), steps, quantiles).round().astype(np.int64)


def _texts(random: np.random.Generator, lengths: Numbers, words: pa.Array) -> pa.Array:
    """One text for each length: every third word is a common one, the others are drawn by Zipf's law."""
    total = int(lengths.sum())
    ranks = np.exp(random.random(total, np.float32) * math.log(VOCABULARY)).astype(np.int32) - 1
    places = random.integers(0, 3 * len(COMMON), total, np.int32)
    chosen = np.where(places < len(COMMON), places, np.minimum(ranks, VOCABULARY - 1) + len(COMMON))
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    return pc.binary_join(pa.ListArray.from_arrays(offsets, words.take(pa.array(chosen))), " ")
