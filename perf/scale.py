"""A study of 250,000 asks, really run, marked, measured and reported: memory at its peak, and the rate."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from perf.bars import bar, versions
from perf.measured import measure
from perf.null_server import null_server
from perf.workload import SMALL, write_cases, write_study

QUESTIONS = 10
IMAGES = 10_000  # 270 MB when encoded: more than is kept in memory


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf scale")
    parser.add_argument("--asks", type=int, default=250_000)
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'aiohttp', 'polars')}")
    cases = options.asks // QUESTIONS
    with tempfile.TemporaryDirectory() as folder, null_server() as url:
        workspace = Path(folder)
        write_cases(workspace / "cases", cases, QUESTIONS, images=min(cases, IMAGES), side=SMALL)
        study = write_study(workspace / "cases", url, concurrency=64)
        usage = measure("perf.peers.whole_study", study, workspace, url=url)
    assert usage["new"] == cases * QUESTIONS, usage
    print(f"  {usage['new']:,} asks in {usage['calls']:,} calls, {usage['seconds']:,.0f} s with marking and measuring")
    print(
        f"  {usage['new'] / usage['seconds']:,.0f} asks/s, {1e6 * usage['own'] / usage['new']:,.0f} µs of CPU per ask"
    )
    print(f"  memory of the study's own process at its peak: {usage['peak_mb']:,.0f} MB")
    return bar("peak memory with image workers in MB", usage["peak_with_children_mb"], at_most=500)
