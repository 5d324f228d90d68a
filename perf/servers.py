"""Calls answered a second by two and four servers of a fixed pace (`base_urls`) against one; one killed in the middle.

Counted are all calls of a study, sentinels included, over the time in which at least one call is under way.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

from perf.bars import bar, versions
from perf.paced_server import paced_server, paced_servers
from perf.workload import SMALL, write_cases, write_study
from wardround.core.study import load_study
from wardround.marking.reader import AnswerReader
from wardround.running.inputs.run_paths import RunPaths
from wardround.running.study_run import StudyRun

CONCURRENCY = 4  # for each server


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf servers")
    parser.add_argument("--asks", type=int, default=800)
    parser.add_argument("--milliseconds", type=float, default=40.0, help="of a call")
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'aiohttp')}")
    seconds = options.milliseconds / 1000
    with tempfile.TemporaryDirectory() as folder:
        cases = Path(folder) / "cases"
        write_cases(cases, options.asks // 4, 4, images=4, side=SMALL)
        rates = {}
        for count in (1, 2, 4):
            with paced_servers(count, seconds) as urls:
                rates[count] = _rate(_run(cases, urls, f"servers-{count}"))
            print(f"  {count} servers of {1 / seconds:.1f} calls a second: {rates[count]:.1f} calls a second")
        with paced_server(seconds) as first, paced_server(seconds, options.asks // 4) as second:
            killed = _run(cases, [first, second], "killed")
    print(f"  load over the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    [entry] = killed["candidates"]
    print(f"  one of two killed after {options.asks // 4} calls: {killed['status']}, {entry['new']} answers")
    return all(
        [
            bar("two servers / one", rates[2] / rates[1], at_least=1.9),
            bar("four servers / one", rates[4] / rates[1], at_least=3.6),
            bar("answers missing after the kill", options.asks - entry["new"], at_most=0),
            bar("faults that reached the study", entry["faults"] + entry["failed"], at_most=0),
        ]
    )


def _rate(manifest: dict[str, Any]) -> float:
    [entry] = manifest["candidates"]
    return float(entry["calls"] / entry["busy_seconds"])


def _run(cases: Path, urls: list[str], name: str) -> dict[str, Any]:
    """The manifest of a study of these servers."""
    several = {"base_urls": urls} if len(urls) > 1 else {}
    study = write_study(cases, urls[0], name, concurrency=CONCURRENCY, **several)
    workspace = cases.parent / name
    run = StudyRun(
        load_study(study),
        RunPaths.from_options(study, workspace / "runs", None),
        AnswerReader(),
        note=lambda line: None,
    )

    async def examine() -> dict[str, Any]:
        try:
            return await run.run(quiet=True)
        finally:
            await run.close()

    return asyncio.run(examine())
