"""CPU per call with one 200 kB image at concurrency 64: wardround, a bare loop, the openai SDK and Inspect AI.

With `--once` every case is asked once, and wardround's figure goes from the study's file to its report.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from perf.bars import bar, figure, versions
from perf.measured import measure
from perf.null_server import null_server
from perf.workload import LARGE, write_cases, write_study

IMAGES = 50
CASES_ONCE, IMAGES_ONCE = 2_000, 200  # with --once
FEW_CASES = 200  # of the small study that tells what a study costs however few its cases are
CONCURRENCY = 64
INSPECT_PYTHON = Path(".venv-inspect/bin/python")  # an environment of its own: Inspect AI needs other versions
BARE, OURS, SDK, INSPECT = "bare aiohttp loop", "wardround", "openai SDK", "Inspect AI eval"


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf calls")
    parser.add_argument("--questions", type=int, default=100, help="asked about each of the images")
    parser.add_argument("--calls-of-slow-peers", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--once", action="store_true", help="2,000 cases, each asked once, to the report; bare loop")
    options = parser.parse_args(arguments)
    if options.once:
        return _once(options.rounds)
    print(f"  {versions('wardround', 'aiohttp', 'orjson', 'openai')}")
    with tempfile.TemporaryDirectory() as folder, null_server() as url:
        cases = Path(folder) / "cases"
        write_cases(cases, IMAGES, options.questions, images=IMAGES, side=LARGE)
        rounds = [_round(cases, url, number, options) for number in range(options.rounds)]
    return _print_costs({name: [figures[name] for figures in rounds] for name in rounds[0]})


def _round(cases: Path, url: str, number: int, options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Everybody once, one after the other: a slow minute of the machine slows them all, and not their ratio."""
    calls = IMAGES * options.questions
    study = write_study(cases, url, concurrency=CONCURRENCY)
    slow = (cases, url, min(calls, options.calls_of_slow_peers), CONCURRENCY)
    return {
        BARE: measure("perf.peers.bare", cases, url, calls, CONCURRENCY, url=url),
        OURS: measure("perf.peers.study", study, cases.parent / f"workspace-{number}", url=url),
        SDK: measure("perf.peers.openai_sdk", *slow, url=url),
        INSPECT: measure("perf.peers.inspect_eval", *slow, url=url, python=str(INSPECT_PYTHON)),
    }


def _once(rounds: int) -> bool:
    """Every case once: rendering, images and the start of the program are shared by fewer calls."""
    print(f"  {versions('wardround', 'aiohttp', 'orjson')}")
    ratios: list[float] = []
    marginal_ratios: list[float] = []
    with tempfile.TemporaryDirectory() as folder, null_server() as url:
        cases = Path(folder) / "cases"
        write_cases(cases, CASES_ONCE, 1, images=IMAGES_ONCE, side=LARGE)
        study = write_study(cases, url, concurrency=CONCURRENCY)
        few = Path(folder) / "few"
        write_cases(few, FEW_CASES, 1, images=IMAGES_ONCE, side=LARGE)
        small_study = write_study(few, url, concurrency=CONCURRENCY)
        for number in range(rounds):
            bare = measure("perf.peers.bare", cases, url, CASES_ONCE, CONCURRENCY, url=url)
            ours = measure("perf.peers.whole_study", study, cases.parent / f"workspace-{number}", url=url)
            small = measure("perf.peers.whole_study", small_study, few.parent / f"few-{number}", url=url)
            costs = [1000 * (run["own"] + run["children"]) / CASES_ONCE for run in (bare, ours)]
            print(f"  milliseconds of CPU per case: bare loop {costs[0]:.3f}, wardround {costs[1]:.3f}, of which in")
            print(f"    the processes that encode images {1000 * ours['children'] / CASES_ONCE:.3f}", flush=True)
            more_calls = CASES_ONCE - FEW_CASES
            marginal = 1000 * (ours["own"] + ours["children"] - small["own"] - small["children"]) / more_calls
            fixed = small["own"] + small["children"] - marginal * FEW_CASES / 1000
            print(f"    each further case {marginal:.3f}; start, {IMAGES_ONCE} images and report {1000 * fixed:.0f} ms")
            print(f"    bytes sent: bare loop {bare['bytes']:,}, wardround {ours['bytes']:,}", flush=True)
            ratios.append(costs[1] / costs[0])
            marginal_ratios.append(marginal / costs[0])
    figure("each further case of wardround / bare loop", marginal_ratios)
    return bar("wardround, each case once, to the report / bare loop", ratios, at_most=1.25)


def _print_costs(measured: dict[str, list[dict[str, Any]]]) -> bool:
    print("  milliseconds of CPU per call (user + system; least of the rounds | median | every round)")
    costs: dict[str, list[float]] = {}
    for name, runs in measured.items():
        costs[name] = [1000 * (run["own"] + run["children"]) / run["calls"] for run in runs]
        every = " ".join(f"{cost:.3f}" for cost in costs[name])
        size = runs[0]["bytes"] / runs[0]["calls"] / 1000
        print(
            f"  {name:18} {min(costs[name]):7.3f} | {median(costs[name]):7.3f} | {every}"
            f"   ({runs[0]['calls']:,} calls of {size:.1f} kB)"
        )
    workers = [1000 * run["children"] / run["calls"] for run in measured[OURS]]
    print(f"  of wardround's, in the processes that encode images: {min(workers):.3f}; they count")

    def ratios(name: str, to: str) -> list[float]:
        """Round by round."""
        return [one / other for one, other in zip(costs[name], costs[to], strict=True)]

    figure("openai SDK / wardround", ratios(SDK, OURS))
    return all(
        [
            bar("wardround / bare loop", ratios(OURS, BARE), at_most=1.1),
            bar("Inspect AI / wardround", ratios(INSPECT, OURS), at_least=10),
        ]
    )
