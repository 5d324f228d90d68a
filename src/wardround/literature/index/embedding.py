"""Embedding: fills a vector column with every article that has no vector yet, or was another one when it got it.

What was made is committed about once a minute. Killed at any moment, it goes on from there when it is started again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wardround.core.errors import WardroundError
from wardround.literature.encoders import Encoder
from wardround.literature.index import about, vectors
from wardround.literature.index.articles import count_and_sum, tidy
from wardround.literature.index.index import Index
from wardround.literature.index.location import Table, refusals
from wardround.literature.index.vectors import Rows

COMMIT = 60  # seconds between commits
MOST = 64_000_000  # bytes of the vectors of one commit
TELL = 10  # seconds between words of progress
ENGINES = ("local", "ray")

Tell = Callable[[str], None]
Watch = Callable[[int, int], None]  # hears how many of how many articles are embedded


@dataclass(frozen=True)
class Embedded:
    """What came of it."""

    column: str
    encoder: str
    dimension: int
    articles: int
    embedded: int  # of the articles, those that were embedded now
    deleted: int  # vectors of articles that are gone or were revised
    seconds: float
    fingerprint: str


def embed(
    index: Index,
    encoder: Encoder,
    *,
    batch: int | None = None,
    engine: str = "local",
    workers: int = 1,
    tell: Tell = lambda _: None,
    watch: Watch = lambda done, total: None,
) -> Embedded:
    """Brings the encoder's column to the articles of the index. `workers` is how many actors Ray may start."""
    if engine not in ENGINES:
        raise WardroundError(f"engine is {' or '.join(ENGINES)}, not {engine!r}")
    if batch is not None:
        encoder.batch = batch
    started = time.monotonic()
    fresh = not index.about.get("columns", {}).get(encoder.name, {}).get("articles")  # nobody can have it open
    with refusals(index.place):
        _begin(index, encoder)
        table = vectors.made(index.connection, encoder.name, encoder.dimension)
        missing, wrong = vectors.differences(index.table("articles"), table)
        vectors.delete(table, wrong)
        progress = _Progress(encoder.name, len(missing), tell, watch)
        if engine == "ray":
            from wardround.literature.index.embedding_ray import in_actors

            for rows in in_actors(index.place, encoder, missing, workers):
                table.add(rows)
                progress.made(rows.num_rows)
        else:
            _here(index.table("articles"), table, encoder, missing, progress)
        vectors.find_by(table)
        if len(missing) or wrong:
            tidy(table, fresh)
        _finish(index, encoder, table)
    return Embedded(
        column=encoder.name,
        encoder=encoder.spec["encoder"],
        dimension=encoder.dimension,
        articles=index.about["articles"]["count"],
        embedded=len(missing),
        deleted=len(wrong),
        seconds=time.monotonic() - started,
        fingerprint=Index.open(index.place).fingerprint,
    )


def _here(articles: Table, table: Table, encoder: Encoder, missing: Rows, progress: _Progress) -> None:
    """In this process, in commits that grow to what the encoder makes in a minute."""
    most = max(encoder.batch, MOST // (4 * encoder.dimension))
    size, start = encoder.batch, 0
    while start < len(missing):
        began = time.monotonic()
        some = vectors.read(articles, missing[start : start + size])
        made = encoder.documents(given(some), progress.made)
        table.add(vectors.rows_of(some, made))
        start += size
        rate = some.num_rows / (time.monotonic() - began)
        size = max(encoder.batch, min(most, 4 * size, int(rate * COMMIT)))


def given(articles: Any) -> list[tuple[str, str]]:
    """What an encoder is given of articles."""
    return list(zip(articles["title"].to_pylist(), articles["abstract"].to_pylist(), strict=True))


def _begin(index: Index, encoder: Encoder) -> None:
    """Says whose vectors these are before there is one: those of two models cannot be compared."""
    columns = about.told(index.connection).get("columns", {})
    if encoder.name not in columns:
        about.tell(index.connection, columns={**columns, encoder.name: {"spec": encoder.spec, "articles": None}})
        return
    if other := vectors.different(columns[encoder.name]["spec"], encoder.spec):
        raise WardroundError(
            f"{index.place}: column {encoder.name!r} is of another model (its {', '.join(other)} differ); "
            f"give this one another name, as in {encoder.name}-2={encoder.spec['encoder'].partition('=')[2]}"
        )


def _finish(index: Index, encoder: Encoder, table: Table) -> None:
    """Says which articles the column holds: those of the index, or it is not used."""
    held = count_and_sum(table)
    if held != {name: index.about["articles"][name] for name in held}:
        raise WardroundError(f"{index.place}: was changed while it was embedded; embed {encoder.name!r} again")
    columns = about.told(index.connection).get("columns", {})
    about.tell(index.connection, columns={**columns, encoder.name: {"spec": encoder.spec, "articles": held}})


class _Progress:
    """Tells how far it is: each pass to who watches, a line now and then to who is told."""

    def __init__(self, column: str, total: int, tell: Tell, watch: Watch) -> None:
        self._column, self._total, self._tell, self._watch = column, total, tell, watch
        self._done, self._started = 0, time.monotonic()
        self._next = self._started + TELL

    def made(self, count: int) -> None:
        self._done += count
        self._watch(self._done, self._total)
        now = time.monotonic()
        if now >= self._next or self._done == self._total:
            self._next = now + TELL
            rate = self._done / (now - self._started)
            left = (self._total - self._done) / rate
            self._tell(
                f"{self._column}: {self._done:,} of {self._total:,} articles embedded, {rate:,.0f} a second"
                + (f", {_span(left)} left" if left else "")
            )


def _span(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{left:02}"
