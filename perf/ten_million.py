"""An index of ten million invented articles, really built: time, CPU, memory, disk, and searches with 1 to 32 at once.

Stages: records, words, vectors and recall (with --dimension), searches. The figures of each are added to results.json
in --place when it ends; started again, the stages that are there are not repeated, and the one that was killed goes on.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson

from perf import invented_pubmed
from perf.bars import bar, figure, versions
from perf.clustered_vectors import ClusteredVectors
from perf.measured import Clock, measure, print_usage

AT_ONCE = (1, 8, 32)
RECALL_QUERIES, DEPTH = 100, 10
STAGES = ("records", "words", "vectors", "recall", "searches")
TIMES = {"p50": "p50", "p99": "p99", "CPU": "cpu"}
LENGTHS = {"questions of 3 to 12 words": (3, 12), "histories of 80 to 160 words": (80, 160)}


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf ten_million")
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--dimension", type=int, default=0, help="of the vectors; 0: words only")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--place", type=Path, help="folder that is kept (default: a temporary one)")
    parser.add_argument("--until", choices=STAGES, default=STAGES[-1], help="the last stage")
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'lancedb', 'polars')}; {options.records:,} articles", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        place = options.place or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        figures = run_stages(place, options)
    for name, value in figures_by_name(figures).items():
        figure(name, value)
    is_met = []
    if "words" in figures:
        peak = figures["words"]["peak_with_children_mb"]
        is_met.append(bar("peak memory of writing and indexing, MB", peak, at_most=8_000))
    if "recall" in figures:
        is_met.append(bar("recall@10 of the vector search, 100 queries", figures["recall"]["recall"], at_least=0.95))
    return all(is_met)


def figures_by_name(stages: dict[str, Any]) -> dict[str, float]:
    """What is kept of each stage, and drawn by docs/scale/draw_charts.py."""
    named: dict[str, float] = {}
    if words := stages.get("words"):
        named["CPU of words, s"] = words["own"] + words["children"]
        named["index without vectors, MB"] = words["index"] / 1e6
        named["records, MB"] = words["work"] / 1e6
    if vectors := stages.get("vectors"):
        named["CPU of vectors, s"] = vectors["own"] + vectors["children"]
        named["vectors, MB"] = vectors["bytes"] / 1e6
        named["peak memory of vectors, MB"] = vectors["peak_with_children_mb"]
    for name, times in stages.get("searches", {}).get("milliseconds", {}).items():
        named |= {f"{what} of a search, ms: {name}": times[key] for what, key in TIMES.items()}
    return named


def run_stages(place: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The figures of all stages; those that are missing are measured, each in a process of its own."""
    skipped = () if options.dimension else ("vectors", "recall")
    stages = [stage for stage in STAGES[: STAGES.index(options.until) + 1] if stage not in skipped]
    file = place / "results.json"
    figures: dict[str, Any] = orjson.loads(file.read_bytes()) if file.exists() else {}
    for stage in stages:
        if stage not in figures:
            size = {"records": options.records, "words": options.workers, "searches": options.queries}
            figures[stage] = measure(
                "perf.ten_million", stage, place, size.get(stage, options.dimension), options.dimension
            )
            file.write_bytes(orjson.dumps(figures, option=orjson.OPT_INDENT_2))
        print(f"  {stage}: {orjson.dumps(figures[stage]).decode()}", flush=True)
    return figures


def records(place: Path, count: int, _: int) -> dict[str, Any]:
    invented_pubmed.write_records(place / "index" / "work", place / "sources", count)
    return {"records": count, "bytes": _size(place / "index" / "work")}


def words(place: Path, workers: int, _: int) -> dict[str, Any]:
    from wardround.literature.index.build import build

    started = Clock.now()

    def note(line: str) -> None:
        now = Clock.now()
        print(f"    {line} ({now.wall - started.wall:,.0f} s, {now.own - started.own:,.0f} of CPU)", file=sys.stderr)

    built = build([place / "sources"], place / "index", columns=(), workers=workers, note=note)
    whole, work = _size(place / "index"), _size(place / "index" / "work")
    return {"articles": built.articles, "index": whole - work, "work": work}


def vectors(place: Path, dimension: int, _: int) -> dict[str, Any]:
    from wardround.literature.index.embedding import embed
    from wardround.literature.index.index import Index

    index = Index.open(place / "index")
    result = embed(index, ClusteredVectors(dimension), note=lambda line: print(f"    {line}", file=sys.stderr))
    return {"articles": result.articles, "bytes": _size(place / "index" / "vectors_clustered.lance")}


def recall(place: Path, dimension: int, _: int) -> dict[str, Any]:
    """The share of the ten nearest vectors by an exact scan that the search finds."""
    from wardround.literature.index.index import Index
    from wardround.literature.index.vector_scan import scan_nearest
    from wardround.literature.index.vectors import nearest_rows, table_of

    table = Index.open(place / "index").table(table_of(ClusteredVectors.name))
    texts = invented_pubmed.queries(RECALL_QUERIES, 3, 12, invented_pubmed.word_list(), seed=11)
    queries = ClusteredVectors(dimension).queries(texts)
    nearest = [{pmid for pmid, _ in pairs} for pairs in scan_nearest(table, queries, "", DEPTH)]
    shares = [
        len(own & set(nearest_rows(table, query, "", DEPTH)["pmid"].to_pylist())) / DEPTH
        for own, query in zip(nearest, queries, strict=True)
    ]
    return {"recall": statistics.fmean(shares), "least": min(shares), "vectors": table.count_rows()}


def searches(place: Path, count: int, dimension: int) -> dict[str, Any]:
    """For each retriever, kind of query and number at once: p50, p99 and the CPU of a search, in milliseconds."""
    from wardround.literature.index.index import Index
    from wardround.literature.search.retrieval import search_by_name

    index = Index.open(place / "index")
    if dimension:
        index._encoders["clustered"] = ClusteredVectors(dimension)
    vocabulary = invented_pubmed.word_list()
    figures: dict[str, Any] = {}
    for kind, lengths in LENGTHS.items():
        queries = invented_pubmed.queries(count, *lengths, vocabulary)
        for name in (*index.retrievers, *(["fused"] if dimension else [])):

            def timed(query: str, name: str = name) -> float:
                started = time.perf_counter()
                search_by_name(index, query, name, 10)
                return 1e3 * (time.perf_counter() - started)

            first = timed(queries[0])
            for at_once in AT_ONCE:
                cpu = time.process_time()
                with ThreadPoolExecutor(at_once) as pool:
                    times = sorted(pool.map(timed, queries))
                cpu = 1e3 * (time.process_time() - cpu) / count
                p50, p99 = statistics.median(times), times[int(0.99 * (len(times) - 1))]
                figures[f"{name}, {kind}, {at_once} at once"] = {"p50": p50, "p99": p99, "cpu": cpu, "first": first}
    return {"milliseconds": figures}


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":  # by itself, so that nothing else is in its memory
    stage, folder, number, dimensions = sys.argv[1:]
    program = {"records": records, "words": words, "vectors": vectors, "recall": recall, "searches": searches}[stage]
    begun = Clock.now()
    print_usage(begun, **program(Path(folder), int(number), int(dimensions)))
