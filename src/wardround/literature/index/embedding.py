"""Embedding: fills a vector column with every article that is new or was revised since it was embedded.

Vectors are committed about once a minute. A killed run continues from there when it is started again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wardround.core.errors import WardroundError
from wardround.literature.encoders import Encoder
from wardround.literature.index import about, vectors
from wardround.literature.index.articles import compact, count_and_sum
from wardround.literature.index.index import Index
from wardround.literature.index.location import Table, one_line_errors
from wardround.literature.index.vectors import RowNumbers

COMMIT = 60  # seconds between commits
MAX_COMMIT_BYTES = 64_000_000  # of vectors
NOTE_SECONDS = 10  # between messages of progress
ENGINES = ("local", "ray")

Note = Callable[[str], None]
Watch = Callable[[int, int], None]  # called with the articles embedded and their total


@dataclass(frozen=True)
class EmbeddingResult:
    """The result of embedding a column."""

    column: str
    encoder: str
    dimension: int
    articles: int
    embedded: int  # articles embedded now
    deleted: int  # vectors of deleted or revised articles
    seconds: float
    fingerprint: str


def embed(
    index: Index,
    encoder: Encoder,
    *,
    batch: int | None = None,
    engine: str = "local",
    workers: int = 1,
    note: Note = lambda message: None,
    watch: Watch = lambda done, total: None,
) -> EmbeddingResult:
    """Brings the encoder's column up to date. `workers` is the maximum number of Ray actors."""
    if engine not in ENGINES:
        raise WardroundError(f"engine is {' or '.join(ENGINES)}, not {engine!r}")
    if batch is not None:
        encoder.batch = batch
    started = time.monotonic()
    is_fresh = not index.about.get("columns", {}).get(encoder.name, {}).get("articles")  # nobody can have it open
    with one_line_errors(index.location):
        precision = _begin(index, encoder)
        table = vectors.open_table(index.connection, encoder.name, encoder.dimension, precision)
        missing, wrong = vectors.differences(index.table("articles"), table)
        vectors.delete_vectors(table, wrong)
        progress = _Progress(encoder.name, len(missing), note, watch)
        if engine == "ray":
            from wardround.literature.index.embedding_ray import embed_with_actors

            for rows in embed_with_actors(index.location, encoder, missing, workers):
                vectors.add_rows(table, rows)
                progress.advance(rows.num_rows)
        else:
            _embed_locally(index.table("articles"), table, encoder, missing, progress)
        vectors.create_vector_index(table)
        if is_fresh and len(missing) and vectors.is_exact(table):  # the files of a larger one are large already
            compact(table, is_fresh=True)
        _finish(index, encoder, table)
    return EmbeddingResult(
        column=encoder.name,
        encoder=encoder.spec["encoder"],
        dimension=encoder.dimension,
        articles=index.about["articles"]["count"],
        embedded=len(missing),
        deleted=len(wrong),
        seconds=time.monotonic() - started,
        fingerprint=Index.open(index.location).fingerprint,
    )


def _embed_locally(articles: Table, table: Table, encoder: Encoder, missing: RowNumbers, progress: _Progress) -> None:
    """Embeds in this process; commits grow to what the encoder makes in a minute."""
    max_size = max(encoder.batch, MAX_COMMIT_BYTES // (4 * encoder.dimension))
    size, start = encoder.batch, 0
    while start < len(missing):
        batch_started = time.monotonic()
        batch = vectors.read_articles(articles, missing[start : start + size])
        encoded = encoder.documents(encoder_inputs(batch), progress.advance)
        vectors.add_rows(table, vectors.vector_rows(batch, encoded))
        start += size
        rate = batch.num_rows / (time.monotonic() - batch_started)
        size = max(encoder.batch, min(max_size, 4 * size, int(rate * COMMIT)))


def encoder_inputs(articles: Any) -> list[tuple[str, str]]:
    """Titles and abstracts, as encoders take them."""
    return list(zip(articles["title"].to_pylist(), articles["abstract"].to_pylist(), strict=True))


def _begin(index: Index, encoder: Encoder) -> str:
    """Records the column's model before its first vector: vectors of two models cannot be compared.

    Returns the precision of its numbers.
    """
    columns = about.read_about(index.connection).get("columns", {})
    if encoder.name not in columns:
        precision = vectors.choose_precision(index.about["articles"]["count"], encoder.dimension)
        column = {
            "spec": encoder.spec,
            "articles": None,
            **({"precision": precision} if precision != "float32" else {}),
        }
        about.write_about(index.connection, columns={**columns, encoder.name: column})
        return precision
    if changed := vectors.changed_keys(columns[encoder.name]["spec"], encoder.spec):
        raise WardroundError(
            f"{index.location}: column {encoder.name!r} was made with another model (its {', '.join(changed)} differ); "
            f"name this column differently, as in {encoder.name}-2={encoder.spec['encoder'].partition('=')[2]}"
        )
    return str(columns[encoder.name].get("precision", "float32"))


def _finish(index: Index, encoder: Encoder, table: Table) -> None:
    """Records which articles the column covers; it is used only if they are those of the index."""
    stored = count_and_sum(table)
    if stored != {name: index.about["articles"][name] for name in stored}:
        raise WardroundError(f"{index.location}: changed during embedding; embed {encoder.name!r} again")
    columns = about.read_about(index.connection).get("columns", {})
    column = {**columns[encoder.name], "spec": encoder.spec, "articles": stored}
    about.write_about(index.connection, columns={**columns, encoder.name: column})


class _Progress:
    """Reports progress: every pass to `watch`, a message now and then to `note`."""

    def __init__(self, column: str, total: int, note: Note, watch: Watch) -> None:
        self._column, self._total, self._note, self._watch = column, total, note, watch
        self._done, self._started = 0, time.monotonic()
        self._next = self._started + NOTE_SECONDS

    def advance(self, count: int) -> None:
        self._done += count
        self._watch(self._done, self._total)
        now = time.monotonic()
        if now >= self._next or self._done == self._total:
            self._next = now + NOTE_SECONDS
            rate = self._done / (now - self._started)
            left = (self._total - self._done) / rate
            self._note(
                f"{self._column}: {self._done:,} of {self._total:,} articles embedded, {rate:,.0f} a second"
                + (f", {_span(left)} left" if left else "")
            )


def _span(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{left:02}"
