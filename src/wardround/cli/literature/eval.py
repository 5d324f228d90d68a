"""`wardround literature eval`: how well an index finds what was judged relevant."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wardround.cli.output import Json, finish, note

if TYPE_CHECKING:
    from wardround.literature.evaluation.evaluation import Evaluation

NAMED = 10  # queries or documents that are named; all are counted


def evaluate_index(
    index: Annotated[str, typer.Option("--index", metavar="INDEX", help="What `literature build` made.")],
    queries: Annotated[Path, typer.Option("--queries", metavar="FILE", help="Lines of `id<TAB>text`; .gz too.")],
    qrels: Annotated[Path, typer.Option("--qrels", metavar="FILE", help="TREC judgements; .gz too.")],
    retriever: Annotated[
        list[str] | None,
        typer.Option("--retriever", metavar="NAME...", help="bm25 or vector columns (default: all); fused, too."),
    ] = None,
    k: Annotated[
        list[int] | None, typer.Option("--k", min=1, max=1000, metavar="K...", help="Depths (default: 10 100).")
    ] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Each minus bm25, paired; fused always is.")] = False,
    as_json: Json = False,
) -> None:
    """Measure retrieval against judgements: nDCG, recall, precision, MAP and MRR, with intervals over queries."""
    from wardround.literature.evaluation.evaluation import evaluate
    from wardround.literature.evaluation.judgements import read_qrels, read_queries
    from wardround.literature.index.index import Index

    asked, judged = read_queries(queries), read_qrels(qrels)
    found = evaluate(
        Index.open(index), asked, judged, retrievers=retriever or (), depths=k or (10, 100), compare=compare, tell=note
    )
    for line in left_out(found):
        note(line)
    finish(found.told(), as_json, table(found))


def left_out(found: Evaluation) -> list[str]:
    """What the figures do not stand on, counted and named."""
    told = [
        ("queries without judgements are left out", found.unjudged),
        ("queries for which nothing was judged relevant are left out", found.irrelevant),
        ("judged queries are not among the queries", found.unasked),
        ("judged documents are not in the index; relevant ones count as not found", found.missing),
    ]
    return [f"{len(names):,} {what}: {_named(names)}" for what, names in told if names]


def _named(names: list[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def table(found: Evaluation) -> str:
    """A row for each retriever and difference, a column for each measure."""
    from wardround.reporting.tables.table import Cell, Column, Row, Table
    from wardround.reporting.tables.terminal import as_text

    measures = list(next(iter(found.figures.values())))
    rows = [Row((name,), [Cell(*figures[measure]) for measure in measures]) for name, figures in found.figures.items()]
    columns = [Column(measure, unit="fraction", decimals=4) for measure in measures]
    title = f"Means over {found.queries:,} queries, with 95% intervals (bootstrap over queries)"
    return as_text(Table(title, ("retriever",), columns, rows), shutil.get_terminal_size((120, 40)).columns)
