"""`wardround literature`: an index of articles, made, brought up to date and searched."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wardround.cli.lists import TakesLists
from wardround.cli.literature import embed as literature_embed
from wardround.cli.literature import eval as literature_eval
from wardround.cli.literature import serve as literature_serve
from wardround.cli.output import Json, finish, note

if TYPE_CHECKING:
    from wardround.literature.index.build import Built
    from wardround.literature.search.hit import Hit

app = typer.Typer(no_args_is_help=True, help="A PubMed of one's own: what evidence comes from.")

Sources = Annotated[
    list[Path],
    typer.Argument(metavar="SOURCE...", help="PubMed files (.xml.gz), JSONL or CSV, or folders of them, in order."),
]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Processes; as many as there are cores.")]
Work = Annotated[
    Path | None,
    typer.Option("--work", metavar="DIR", help="Where records are kept (default: in the index; of a store, a cache)."),
]
NAMED = 20  # problems that are told one by one; --json tells all that are kept


@app.command(cls=TakesLists)
def build(
    sources: Sources,
    out: Annotated[str, typer.Option(metavar="INDEX", help="A folder, or an address such as s3://bucket/path.")],
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="ENCODER...", help="Vector columns (default: wordllama), or none."),
    ] = None,
    work: Work = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Make an index of articles, or go on with one that was stopped."""
    from wardround.literature.index.build import build as make

    columns = [name for name in column or ["wordllama"] if name != "none"]
    built = make(sources, out, columns=columns, work=work, workers=workers or os.cpu_count() or 1, tell=note)
    finish(asdict(built), as_json, _told(built))


@app.command(cls=TakesLists)
def update(
    index: Annotated[str, typer.Argument(metavar="INDEX", help="What `literature build` made.")],
    sources: Sources,
    work: Work = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Add files to an index: revisions replace, deletions delete."""
    from wardround.literature.index.build import update as follow

    built = follow(index, sources, work=work, workers=workers or os.cpu_count() or 1, tell=note)
    finish(asdict(built), as_json, _told(built))


@app.command(cls=TakesLists)
def search(
    query: Annotated[str, typer.Argument(help="Any text.")],
    index: Annotated[str, typer.Option("--index", metavar="INDEX", help="What `literature build` made.")],
    retriever: Annotated[
        str | None,
        typer.Option(
            "--retriever",
            metavar="NAME",
            help="bm25, a vector column, fused (default, unless wordllama is among them) or fused-paper.",
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="How many articles.")] = 10,
    since: Annotated[int | None, typer.Option("--since", metavar="YEAR", help="The first year.")] = None,
    until: Annotated[int | None, typer.Option("--until", metavar="YEAR", help="The last year.")] = None,
    publication_types: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE...", help="Publication types, any of them.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", metavar="PMID...", help="Articles that are not to be found.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Search an index."""
    from wardround.literature.index.index import Index
    from wardround.literature.search.filters import Filters
    from wardround.literature.search.retrieval import find, usual_search

    opened = Index.open(index)
    filters = Filters(since, until, tuple(publication_types or ()), tuple(without or ()))
    name = retriever or usual_search(opened)
    hits = find(opened, query, name, k, filters)
    told = {"index": index, "fingerprint": opened.fingerprint, "retriever": name, "query": query}
    finish({**told, "hits": [hit._asdict() for hit in hits]}, as_json, _listed(hits))


def _told(built: Built) -> str:
    lines = [
        f"{built.files:,} files, {built.read:,} of them read now: {built.records:,} records, "
        f"{built.deletions:,} deletions, {built.problems:,} problems",
        *built.named[:NAMED],
    ]
    if built.problems > NAMED:
        lines.append(f"... and {built.problems - NAMED:,} more problems")
    lines.append(f"{built.articles:,} articles, found by {', '.join(built.retrievers)}")
    lines.append(f"{built.index} (fingerprint {built.fingerprint[:16]}, records in {built.work})")
    return "\n".join(lines)


def _listed(hits: list[Hit]) -> str:
    if not hits:
        return "nothing found"
    wide = max(len(hit.pmid) for hit in hits)
    room = max(40, shutil.get_terminal_size((120, 40)).columns - wide - 20)
    lines = []
    for rank, hit in enumerate(hits, 1):
        text = hit.title or hit.abstract.replace("\n", " ")
        title = text if len(text) <= room else text[: room - 1] + "…"
        lines.append(f"{rank:>3}  {hit.pmid:<{wide}}  {hit.score:8.4f}  {hit.year or '':>4}  {title}")
    return "\n".join(lines)


app.command("embed")(literature_embed.embed_column)
app.command("eval", cls=TakesLists)(literature_eval.evaluate_index)
app.command()(literature_serve.serve)
