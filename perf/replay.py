"""CPU per stored ask when a complete study is run again; beside it what marking, measuring and the report take."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from perf.bars import bar, versions
from perf.measured import measure
from perf.null_server import null_server
from perf.workload import SMALL, write_cases, write_study

QUESTIONS = 5


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf replay")
    parser.add_argument("--asks", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'pydantic', 'polars')}")
    cases = options.asks // QUESTIONS
    asks = cases * QUESTIONS
    with tempfile.TemporaryDirectory() as folder, null_server() as url:
        workspace = Path(folder)
        write_cases(workspace / "cases", cases, QUESTIONS, images=cases, side=SMALL)
        study = write_study(workspace / "cases", url, concurrency=64)
        first = measure("perf.peers.study", study, workspace, url=url)
        again = [measure("perf.peers.study", study, workspace, url=url) for _ in range(options.rounds)]
        marked = measure("perf.peers.marking", workspace / "runs" / "perf")
    assert sum(run["calls"] for run in again) == 0, "a replay called the server"
    costs = [1e6 * (run["own"] + run["children"]) / asks for run in again]
    print(f"  {asks:,} asks about {cases:,} cases; microseconds of CPU per ask")
    print(f"  asked for the first time: {1e6 * (first['own'] + first['children']) / asks:.1f}")
    print(f"  replayed: {' '.join(f'{cost:.1f}' for cost in costs)}")
    marking = 1e6 * marked["own"] / asks
    return all(
        [
            bar("microseconds per stored ask", costs, at_most=30),
            bar("microseconds of marking, measuring and reporting per answer", marking, at_most=60),
        ]
    )
