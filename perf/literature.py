"""An index of invented articles with revisions and deletions: memory, size, rates, searches; killed and resumed."""

from __future__ import annotations

import argparse
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

from perf.bars import bar, versions
from perf.measured import Clock, measure, print_usage

FILE = 30_000  # articles of a file, as in PubMed's baseline
PUBMED = 39_650_000  # abstracts, at full size
KILLS, SEED = 5, 5


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf literature")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    from pubmed_baseline import Baseline

    print(f"  {versions('wardround', 'lancedb', 'polars')}; {options.workers} processes read", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        sources, later, whole, broken = (folder / name for name in ("sources", "later", "whole", "broken"))
        sources.mkdir()
        later.mkdir()
        baseline = Baseline(sources)
        records_per_file = min(FILE, options.records // 4)
        files = baseline.write(-(-options.records // records_per_file), records_per_file)
        asked = folder / "queries.json"
        asked.write_bytes(orjson.dumps(baseline.queries(options.queries)))
        print(f"  {baseline.written:,} distinct articles in {len(files)} files, {len(baseline.current):,} current")

        built = measure("perf.literature", "build", sources, whole, options.workers)
        kills = killed(sources, broken, options.workers, built["seconds"])
        one, other = index_contents(whole, asked), index_contents(broken, asked)
        same = ", ".join(name for name in one if one[name] != other[name]) or "the same"
        wrong = one["articles"] != {str(pmid): version for pmid, (version, _) in baseline.current.items()}
        searched = measure("perf.literature", "search", whole, asked)

        update = baseline.write(1, records_per_file)[0].rename(later / "update.xml.gz")
        updated = measure("perf.literature", "update", update, whole, options.workers)
        update.rename(sources / "updated.xml.gz")
        measure("perf.literature", "build", sources, folder / "fresh", options.workers)
        after, fresh = index_contents(whole, asked), index_contents(folder / "fresh", asked)
        stale = ", ".join(name for name in after if after[name] != fresh[name]) or "the same"
    count, size, cpu = built["articles"], built["size"], built["own"] + built["children"]
    update_cpu = updated["own"] + updated["children"]
    times = sorted(searched["times"])
    p50, p99 = statistics.median(times), times[int(0.99 * (len(times) - 1))]
    more = PUBMED / count
    for line in (
        f"build: {count / built['seconds']:,.0f} articles a second, {count / cpu:,.0f} a second of CPU",
        f"index: {size / 1e6:,.0f} MB, {built['words'] / 1e6:,.0f} of them words; {size / count:,.0f} bytes an article",
        f"records, from which it is updated: {built['work'] / 1e6:,.0f} MB",
        f"search: p50 {p50:.1f} ms, p99 {p99:.1f} ms; first, with opening, {1e3 * searched['first']:,.0f} ms",
        f"search: {1e3 * searched['cpu'] / len(times):.1f} ms of CPU; memory at the end {searched['held']:,.0f} MB",
        f"update by {records_per_file:,} records: {updated['seconds']:,.0f} s, {update_cpu:,.0f} of CPU",
        f"updated and built afresh: {stale}",
        f"killed {kills} times and resumed: {same}",
        f"EXTRAPOLATED {more:,.0f} times to {PUBMED:,} articles, as if all grew in proportion (not measured):",
        f"  {more * cpu / 3600:,.1f} hours of CPU, {more * size / 1e9:,.0f} GB, p50 {more * p50 / 1e3:,.1f} s at most",
    ):
        print(f"  {line}")
    return all(
        [
            bar("peak memory of reading, writing and indexing, MB", built["peak_with_children_mb"], at_most=2_000),
            bar("wrong PMIDs or versions, against a plain loop over what was written", float(wrong), at_most=0),
            bar("differences between the index that was killed and the other", float(same != "the same"), at_most=0),
            bar(
                "differences between the index that was updated and a fresh one", float(stale != "the same"), at_most=0
            ),
            bar(
                "CPU of an update by one file (30,000 records, fewer with --records below 120,000), s",
                update_cpu,
                at_most=15,
            ),
        ]
    )


def killed(sources: Path, place: Path, workers: int, seconds: float) -> int:
    """Builds an index that is killed at moments drawn over the time that an uninterrupted build takes."""
    draw = random.Random(SEED)
    moments = sorted(draw.uniform(0, seconds) for _ in range(KILLS))
    command = [sys.executable, "-m", "perf.literature", "build", str(sources), str(place), str(workers)]
    count = 0
    for before, moment in zip([0.0, *moments], moments, strict=False):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(moment - before)
            count += process.poll() is None
            process.send_signal(signal.SIGKILL)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return count


def index_contents(place: Path, asked: Path) -> dict[str, object]:
    """PMIDs with their versions, the fingerprint, and the ten best of each query."""
    from wardround.literature.index.index import Index

    index = Index.open(place)
    rows = index.table("articles").search().select(["pmid", "version"]).limit(None).to_arrow()
    hits = [[(hit.pmid, hit.score) for hit in index.search(query)] for query in orjson.loads(asked.read_bytes())]
    articles = dict(zip(rows["pmid"].to_pylist(), rows["version"].to_pylist(), strict=True))
    return {"articles": articles, "fingerprint": index.fingerprint, "ten best": hits}


def build(sources: Path, place: Path, workers: int) -> dict[str, object]:
    from wardround.literature.index.build import build

    built = build([sources], place, columns=(), workers=workers)
    work, whole = held_on_disk(place / "work"), held_on_disk(place)
    words = [place / "documents.lance", place / "words.lance"]
    return {
        "articles": built.articles,
        "size": whole - work,
        "work": work,
        "words": sum(map(held_on_disk, words)),
    }


def search(place: Path, asked: Path) -> dict[str, object]:
    """Times of searches, once the index has been used a little."""
    started = time.perf_counter()
    from wardround.literature.index.index import Index

    queries = orjson.loads(asked.read_bytes())
    index = Index.open(place)
    index.search(queries[0])
    first = time.perf_counter() - started
    times = []
    cpu = time.process_time()
    for query in queries:
        started = time.perf_counter()
        index.search(query)
        times.append(1e3 * (time.perf_counter() - started))
    cpu = time.process_time() - cpu
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {"times": times, "first": first, "cpu": cpu, "held": pages * resource.getpagesize() / 1e6}


def update(file: Path, place: Path, workers: int) -> dict[str, object]:
    from wardround.literature.index.build import update

    return {"articles": update(place, [file], workers=workers).articles}


def held_on_disk(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":  # by itself, so that nothing else is in its memory
    what, first, second, *more = sys.argv[1:]
    program = {"build": build, "search": search, "update": update}[what]
    started = Clock.now()
    figures = program(Path(first), Path(second), *map(int, more))  # type: ignore[operator]
    print_usage(started, **figures)
