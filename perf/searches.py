"""Searches of a study as one batch, against the same searches one by one, on an index of invented articles."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from perf import invented_pubmed
from perf.bars import bar, versions
from wardround.literature.index.build import build
from wardround.literature.index.index import Index
from wardround.literature.search.retrieval import search_all_by_name, search_by_name

LENGTHS = {"questions of 3 to 12 words": (3, 12), "histories of 80 to 160 words": (80, 160)}
DEPTH = 5  # hits, as in CURE


class Cost(NamedTuple):
    """Milliseconds of CPU and of time for one search."""

    cpu: float
    wall: float


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf searches")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--single", type=int, default=100, help="of them searched one by one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--index", type=Path, help="an index that is there already")
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'lancedb', 'numpy')}; {options.records:,} articles", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        place = options.index or Path(temporary) / "index"
        if options.index is None:
            sources = invented_pubmed.write_records(place / "work", Path(temporary) / "sources", options.records)
            build(sources, place)
        return _compare(Index.open(place), options)


def _compare(index: Index, options: argparse.Namespace) -> bool:
    words, is_met = invented_pubmed.word_list(), []
    for title, lengths in LENGTHS.items():
        queries = invented_pubmed.queries(options.queries, *lengths, words)
        for name in (*index.retrievers, "fused-paper"):
            search_by_name(index, queries[0], name, DEPTH)
            rounds: list[tuple[Cost, Cost]] = []
            for _ in range(options.rounds):
                few = queries[: options.single]
                alone, single = _cost(len(few), lambda: [search_by_name(index, q, name, DEPTH) for q in few])  # noqa: B023
                together, all_ = _cost(len(queries), lambda: search_all_by_name(index, queries, name, DEPTH))  # noqa: B023
                if all_[: len(few)] != single:
                    raise SystemExit(f"{name}: the batch has other hits than single searches")
                rounds.append((alone, together))
            alone, together = min(one for one, _ in rounds), min(many for _, many in rounds)
            wall = statistics.median(one.wall / many.wall for one, many in rounds)
            print(
                f"  {title}, {name}: {alone.cpu:.2f} ms of CPU alone, {together.cpu:.2f} in the batch; "
                f"{wall:.1f} times as many in the same time",
                flush=True,
            )
            ratios = [one.cpu / many.cpu for one, many in rounds]
            is_met.append(bar(f"{title}, {name}: CPU alone / in the batch, median round", ratios, at_least=5.0))
    return all(is_met)


def _cost(count: int, search: Callable[[], Any]) -> tuple[Cost, Any]:
    cpu, wall = time.process_time(), time.perf_counter()
    result = search()
    return Cost(1e3 * (time.process_time() - cpu) / count, 1e3 * (time.perf_counter() - wall) / count), result
