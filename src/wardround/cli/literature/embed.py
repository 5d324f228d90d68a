"""`wardround literature embed`: a vector column for an index that is there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wardround.cli.output import Json, finish, note

if TYPE_CHECKING:
    from wardround.literature.index.embedding import Embedded

ENCODERS = (
    "wordllama, minilm, bge-large-en-v1.5, medcpt, sentence-transformers:MODEL, medcpt:QUERY_MODEL,ARTICLE_MODEL or "
    "onnx:FOLDER; NAME=ENCODER names the column."
)


def embed_column(
    index: Annotated[str, typer.Argument(metavar="INDEX", help="What `literature build` made.")],
    column: Annotated[str, typer.Option("--column", metavar="ENCODER", help=ENCODERS)],
    device: Annotated[str, typer.Option(metavar="DEVICE", help="auto, cpu or cuda.")] = "auto",
    engine: Annotated[str, typer.Option(metavar="ENGINE", help="local, or ray: actors of Ray Data.")] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Actors of Ray at most (default: one for each core, or one on a GPU).")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(min=1, help="Articles of one pass through the model (default: the encoder's own).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Embed all articles that have no vector in a column, or go on with it. A model that is not here is fetched."""
    from wardround.literature.encoders import make_encoder
    from wardround.literature.index.embedding import embed
    from wardround.literature.index.index import Index
    from wardround.literature.index.location import work_of
    from wardround.literature.ingest.ledger import locked

    opened = Index.open(index)
    with locked(work_of(index), ".index.lock"), _bar() as (tell, watch):
        encoder = make_encoder(column, device, fetch=True)
        actors = workers or (1 if encoder.device == "cuda" else os.cpu_count() or 1)
        done = embed(opened, encoder, batch=batch, engine=engine, workers=actors, tell=tell, watch=watch)
    finish(asdict(done), as_json, _sentence(done, index))


def _sentence(done: Embedded, index: str) -> str:
    rate = f", {done.embedded / done.seconds:,.0f} a second" if done.embedded else ""
    embedded = f"{done.embedded:,} of {done.articles:,} articles embedded now{rate}"
    return f"{done.column} ({done.dimension} dimensions): {embedded}\n{index} (fingerprint {done.fingerprint[:16]})"


@contextmanager
def _bar() -> Iterator[tuple[Callable[[str], None], Callable[[int, int], None]]]:
    """On a terminal a bar with rate and time left; elsewhere lines now and then."""
    if not sys.stderr.isatty():
        yield note, lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns: Any = ("embedded", BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None, rate="")

        def show(done: int, total: int) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, total=total, rate=f"{speed:,.0f} a second" if speed else "")

        yield lambda line: None, show
