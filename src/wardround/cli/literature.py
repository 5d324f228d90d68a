"""`wardround literature`: builds, updates, searches, embeds, evaluates and serves an index of articles."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import orjson
import typer

from wardround.cli.output import Json, note, print_result, table_text, terminal_width
from wardround.cli.shared_options import Host, ListOptionCommand, Port, Ray, Workers
from wardround.core.dates import parse_partial_date
from wardround.core.errors import WardroundError
from wardround.core.text import count_noun

if TYPE_CHECKING:
    from wardround.literature.evaluation.evaluation import Evaluation
    from wardround.literature.evaluation.tuning import Tuning
    from wardround.literature.index.build import IndexBuild
    from wardround.literature.index.embedding import EmbeddingResult
    from wardround.literature.search.hit import Hit

app = typer.Typer(no_args_is_help=True, help="A local literature index, the source of evidence.")

Sources = Annotated[
    list[Path],
    typer.Argument(metavar="SOURCE...", help="PubMed files (.xml.gz), JSONL or CSV, or folders of them, in order."),
]
Work = Annotated[
    Path | None,
    typer.Option(
        "--work", metavar="DIR", help="Folder for records (default: in the index; for an object store, a cache)."
    ),
]
IndexArgument = Annotated[str, typer.Argument(metavar="INDEX", help="Index made by `literature build`.")]
IndexOption = Annotated[str, typer.Option("--index", metavar="INDEX", help="Index made by `literature build`.")]
ENCODERS = (
    "wordllama, minilm, bge-large-en-v1.5, medcpt, sentence-transformers:MODEL, medcpt:QUERY_MODEL,ARTICLE_MODEL or "
    "onnx:FOLDER; NAME=ENCODER names the column."
)
MAX_LISTED_PROBLEMS = 20  # --json lists all that are kept
MAX_NAMED = 10  # queries or documents that are named; all are counted


@app.command(cls=ListOptionCommand)
def build(
    sources: Sources,
    out: Annotated[str, typer.Option(metavar="INDEX", help="Folder, or address such as s3://bucket/path.")],
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="ENCODER...", help="Vector columns (default: wordllama), or none."),
    ] = None,
    work: Work = None,
    workers: Workers = None,
    ray: Ray = None,
    as_json: Json = False,
) -> None:
    """Build an index of articles, or continue an interrupted build."""
    from wardround.degrade.ray_cluster import join_cluster
    from wardround.literature.index.build import build as build_index

    columns = [name for name in column or ["wordllama"] if name != "none"]
    with join_cluster(ray):
        built = build_index(sources, out, columns=columns, work=work, workers=workers or os.cpu_count() or 1, note=note)
    print_result(asdict(built), as_json, _build_text(built))


@app.command(cls=ListOptionCommand)
def update(
    index: IndexArgument,
    sources: Sources,
    work: Work = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Add files to an index; revisions and deletions are applied."""
    from wardround.literature.index.build import update as update_index

    built = update_index(index, sources, work=work, workers=workers or os.cpu_count() or 1, note=note)
    print_result(asdict(built), as_json, _build_text(built))


@app.command()
def compact(index: IndexArgument, work: Work = None, as_json: Json = False) -> None:
    """Combine what updates have added to an index; articles and results stay the same."""
    from wardround.literature.index.build import compact_index

    result = compact_index(index, work=work, note=note)
    text = f"{result.index}: {result.parts_before:,} parts of the word index before, {result.parts:,} now"
    print_result(asdict(result), as_json, text)


@app.command(cls=ListOptionCommand)
def search(
    index: IndexOption,
    query: Annotated[str | None, typer.Argument(help="Query text.")] = None,
    queries: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Lines `id<TAB>text`, also as .gz: searched together, printed as a TREC run."
        ),
    ] = None,
    retriever: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="bm25, a vector column, fused or fused-paper (default: bm25, or fused if `tune` found it better).",
        ),
    ] = None,
    k: Annotated[int, typer.Option(min=1, help="Number of articles.")] = 10,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="First year, month or day: 2025-03-01.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Last year, month or day.")] = None,
    publication_types: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE...", help="Publication types; any of them matches.")
    ] = None,
    languages: Annotated[
        list[str] | None, typer.Option("--language", metavar="CODE...", help="Languages (eng); any of them matches.")
    ] = None,
    mesh: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HEADING...", help="MeSH headings; any matches, or a narrower one after `literature mesh`."
        ),
    ] = None,
    expand: Annotated[
        bool, typer.Option("--expand", help="Add the MeSH headings of the query's terms; needs `literature mesh`.")
    ] = False,
    without: Annotated[list[str] | None, typer.Option(metavar="PMID...", help="Articles to exclude.")] = None,
    as_json: Json = False,
) -> None:
    """Search an index by a query, or by all queries of a file together."""
    from wardround.literature.evaluation.judgements import read_queries
    from wardround.literature.index.index import Index
    from wardround.literature.search.filters import Filters
    from wardround.literature.search.retrieval import default_retriever, search_all_by_name

    if (query is None) == (queries is None):
        raise WardroundError("search: expected a query, or --queries FILE")
    texts = {"": query} if query is not None else read_queries(cast(Path, queries))
    opened = Index.open(index)
    filters = Filters(
        since=_date_limit("--since", since),
        until=_date_limit("--until", until),
        publication_types=tuple(publication_types or ()),
        languages=tuple(languages or ()),
        mesh=opened.headings(mesh or ()),
        without=tuple(without or ()),
    )
    name = retriever or default_retriever(opened)
    texts = {id: opened.expand(text) if expand else text for id, text in texts.items()}
    hit_lists = dict(zip(texts, search_all_by_name(opened, list(texts.values()), name, k, filters), strict=True))
    request = {"index": index, "fingerprint": opened.fingerprint, "retriever": name}
    if query is not None:
        hits = [hit._asdict() for hit in hit_lists[""]]
        print_result({**request, "query": texts[""], "hits": hits}, as_json, _hit_lines(hit_lists[""]))
        return
    results = [
        {"id": id, "query": texts[id], "hits": [hit._asdict() for hit in hits]} for id, hits in hit_lists.items()
    ]
    print_result({**request, "queries": results}, as_json, _run_lines(hit_lists, name))


@app.command("mesh")
def add_mesh(
    index: IndexArgument,
    descriptors: Annotated[
        Path, typer.Argument(metavar="FILE", help="The NLM's descriptor file, such as desc2026.xml, also as .gz.")
    ],
    as_json: Json = False,
) -> None:
    """Add the MeSH headings, their entry terms and their tree to an index, for --mesh and --expand."""
    from wardround.literature.index.build import add_thesaurus

    added = add_thesaurus(index, descriptors)
    print_result(added, as_json, f"{added['headings']:,} headings with {added['terms']:,} terms from {added['file']}")


@app.command("embed")
def embed_column(
    index: IndexArgument,
    column: Annotated[str, typer.Option(metavar="ENCODER", help=ENCODERS)],
    device: Annotated[str, typer.Option(metavar="DEVICE", help="auto, cpu or cuda.")] = "auto",
    engine: Annotated[str, typer.Option(metavar="ENGINE", help="local, or ray (actors of Ray Data).")] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Maximum Ray actors (default: one per core, or one on a GPU).")
    ] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Batch size (default: that of the encoder).")] = None,
    ray: Ray = None,
    as_json: Json = False,
) -> None:
    """Embed all articles that lack a vector in a column. A missing model is downloaded."""
    from wardround.degrade.ray_cluster import join_cluster
    from wardround.literature.encoders import make_encoder
    from wardround.literature.index.embedding import embed
    from wardround.literature.index.index import Index
    from wardround.literature.index.location import work_folder
    from wardround.literature.ingest.ledger import locked

    opened = Index.open(index)
    with join_cluster(ray), locked(work_folder(index), ".index.lock"), _bar() as (announce, progress):
        engine = "ray" if ray else engine
        encoder = make_encoder(column, device, fetch=True)
        actors = workers or (1 if encoder.device == "cuda" else os.cpu_count() or 1)
        result = embed(opened, encoder, batch=batch, engine=engine, workers=actors, note=announce, watch=progress)
    print_result(asdict(result), as_json, _embedding_text(result, index))


@app.command("eval", cls=ListOptionCommand)
def evaluate_index(
    index: IndexOption,
    queries: Annotated[Path, typer.Option(metavar="FILE", help="Lines `id<TAB>text`, also as .gz.")],
    qrels: Annotated[Path, typer.Option(metavar="FILE", help="TREC judgements, also as .gz.")],
    retriever: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME...", help="bm25, vector columns or fused (default: all)."),
    ] = None,
    k: Annotated[
        list[int] | None, typer.Option(min=1, max=1000, metavar="K...", help="Depths (default: 10 100).")
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Paired differences from bm25; fused always has them.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Evaluate retrieval against judgements: nDCG, recall, precision, MAP and MRR, with intervals over queries."""
    from wardround.literature.evaluation.evaluation import evaluate
    from wardround.literature.evaluation.judgements import read_qrels, read_queries
    from wardround.literature.index.index import Index

    query_texts, judgements = read_queries(queries), read_qrels(qrels)
    evaluation = evaluate(
        Index.open(index),
        query_texts,
        judgements,
        retrievers=retriever or (),
        depths=k or (10, 100),
        compare=compare,
        note=note,
    )
    for line in _omission_notes(evaluation):
        note(line)
    print_result(evaluation.to_dict(), as_json, _evaluation_table(evaluation))


@app.command("tune")
def tune_index(
    index: IndexArgument,
    queries: Annotated[Path, typer.Option(metavar="FILE", help="Lines `id<TAB>text`, also as .gz.")],
    qrels: Annotated[Path, typer.Option(metavar="FILE", help="TREC judgements, also as .gz.")],
    as_json: Json = False,
) -> None:
    """Learn the weights of `fused` from judged queries, and store them in the index."""
    from wardround.literature.evaluation.judgements import read_qrels, read_queries
    from wardround.literature.evaluation.tuning import tune
    from wardround.literature.index.build import store_tuning
    from wardround.literature.index.index import Index

    tuning = tune(Index.open(index), read_queries(queries), read_qrels(qrels), note=note)
    store_tuning(index, tuning.to_dict())
    print_result(tuning.to_dict(), as_json, _tuning_text(tuning))


@app.command()
def serve(
    index: IndexOption,
    host: Host = "127.0.0.1",
    port: Port = 0,
    mcp: Annotated[
        bool, typer.Option("--mcp", help="Serve MCP over standard input and output instead of HTTP.")
    ] = False,
    without: Annotated[
        Path | None, typer.Option(metavar="FILE", help="PMIDs to exclude, separated by white space.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Serve an index by HTTP (documentation at /docs) and as an MCP server at /mcp, until interrupted."""
    from wardround.core.sockets import is_loopback
    from wardround.literature.serving.serve import open_served_index, serve_http, serve_stdio

    served = open_served_index(index, without)
    if mcp:
        serve_stdio(served, lambda: note(f"serving {index} over standard input and output"))
        return
    if not is_loopback(host):
        note(f"listening on {host} without a password: anyone who can reach this machine can search")
    serve_http(
        served, host, port, lambda url: print(orjson.dumps({"url": url}).decode() if as_json else url, flush=True)
    )


def _date_limit(option: str, text: str | None) -> str | None:
    try:
        return parse_partial_date(text) if text is not None else None
    except ValueError as error:
        raise WardroundError(f"{option}: {error}") from None


def _build_text(built: IndexBuild) -> str:
    lines = [
        f"{count_noun(built.files, 'file')}, {built.read:,} of them read now: {count_noun(built.records, 'record')}, "
        f"{count_noun(built.deletions, 'deletion')}, {count_noun(built.problems, 'problem')}",
        *built.named[:MAX_LISTED_PROBLEMS],
    ]
    if built.problems > MAX_LISTED_PROBLEMS:
        lines.append(f"... and {built.problems - MAX_LISTED_PROBLEMS:,} more problems")
    lines.append(f"{count_noun(built.articles, 'article')}, searchable by {', '.join(built.retrievers)}")
    lines.append(f"{built.index} (fingerprint {built.fingerprint[:16]}, records in {built.work})")
    return "\n".join(lines)


def _hit_lines(hits: list[Hit]) -> str:
    if not hits:
        return "nothing found"
    pmid_width = max(len(hit.pmid) for hit in hits)
    title_width = max(40, terminal_width() - pmid_width - 20)
    lines = []
    for rank, hit in enumerate(hits, 1):
        text = hit.title or hit.abstract.replace("\n", " ")
        title = text if len(text) <= title_width else text[: title_width - 1] + "…"
        lines.append(f"{rank:>3}  {hit.pmid:<{pmid_width}}  {hit.score:8.4f}  {hit.year or '':>4}  {title}")
    return "\n".join(lines)


def _run_lines(hit_lists: dict[str, list[Hit]], retriever: str) -> str:
    """Hits as TREC's programs read them: query, Q0, document, rank, score, name of the run."""
    return "\n".join(
        f"{id} Q0 {hit.pmid} {rank} {hit.score:.6f} {retriever}"
        for id, hits in hit_lists.items()
        for rank, hit in enumerate(hits, 1)
    )


def _embedding_text(result: EmbeddingResult, index: str) -> str:
    rate = f", {result.embedded / result.seconds:,.0f} a second" if result.embedded else ""
    embedded = f"{result.embedded:,} of {result.articles:,} articles embedded now{rate}"
    return (
        f"{result.column} ({result.dimension} dimensions): {embedded}\n{index} (fingerprint {result.fingerprint[:16]})"
    )


@contextmanager
def _bar() -> Iterator[tuple[Callable[[str], None], Callable[[int, int], None]]]:
    """On a terminal a bar with rate and remaining time; otherwise occasional lines."""
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


def _tuning_text(tuning: Tuning) -> str:
    """The weights, the figures of held-out queries, and the lines for a study."""
    from wardround.literature.evaluation.tuning import DIFFERENCE

    verdict = "is the default now" if tuning.helps else "is not shown to be better than bm25, which stays the default"
    figures = [
        f"{name:<16} " + "{:{f}} [{:{f}}, {:{f}}]".format(*figure, f="+.4f" if name == DIFFERENCE else ".4f")
        for name, figure in tuning.held_out.items()
    ]
    return "\n".join(
        [
            f"nDCG@10 of {tuning.queries:,} queries, each ranked with weights that other queries chose:",
            *figures,
            f"fused {verdict}; its weights: {', '.join(f'{name} {w:g}' for name, w in tuning.weights.items())}",
            "for a study, under [literature]:",
            f"retrievers = {list(tuning.weights)}",
            f"weights = {list(tuning.weights.values())}",
            'fusion = "rrf"',
            "depth = 100",
        ]
    )


def _omission_notes(evaluation: Evaluation) -> list[str]:
    """Queries and documents that are not in the figures, counted and named."""
    omissions = [
        ("queries without judgements are left out", evaluation.unjudged),
        ("queries for which nothing was judged relevant are left out", evaluation.irrelevant),
        ("judged queries are not among the queries", evaluation.unasked),
        ("judged documents are not in the index; relevant ones count as not found", evaluation.missing),
    ]
    return [f"{len(names):,} {text}: {_first_names(names)}" for text, names in omissions if names]


def _first_names(names: list[str]) -> str:
    more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def _evaluation_table(evaluation: Evaluation) -> str:
    """A row for each retriever and difference, a column for each measure."""
    from wardround.reporting.tables.table import Cell, Column, Table, TableRow

    measures = list(next(iter(evaluation.figures.values())))
    rows = [
        TableRow((name,), [Cell(*figures[measure]) for measure in measures])
        for name, figures in evaluation.figures.items()
    ]
    columns = [Column(measure, unit="fraction", decimals=4) for measure in measures]
    title = f"Means over {evaluation.queries:,} queries, with 95% intervals (bootstrap over queries)"
    return table_text(Table(title, ("retriever",), columns, rows))
