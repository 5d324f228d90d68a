"""How CPU and memory grow with the number of stored answers: a complete study replayed, marked, measured and reported.

The answers are those of simulated candidates: ten trials, five questions a case, one reply a vote.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from perf.bars import bar, figure, versions
from perf.measured import measure
from perf.workload import write_text_cases

CANDIDATES, QUESTIONS, TRIALS = 4, 5, 10
SIZES = (10_000, 100_000, 1_000_000)
SIMULATED = """[[candidates]]
name = "simulated-{number}"
provider = "simulated"
[candidates.extra_body]
accuracy = 0.{accuracy}
mode = "independent"
unparsed = 0.02
seed = {number}
"""


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf growth")
    parser.add_argument("--answers", type=int, nargs="+", default=SIZES)
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'polars', 'numpy')}")
    replayed, marked = [], []
    for answers in options.answers:
        with tempfile.TemporaryDirectory() as folder:
            again, marks = _measure_size(Path(folder), answers)
        replayed.append(again)
        marked.append(marks)
        for what, told in (("replay", again), ("marking, measuring and reporting", marks)):
            cpu = 1e6 * (told["own"] + told["children"]) / answers
            figure(f"microseconds of CPU per answer, {what} of {answers:,}", cpu)
            figure(f"peak memory in MB, {what} of {answers:,}", told["peak_with_children_mb"])
    if len(options.answers) < 2:
        return True
    cpu = [sum(part["own"] + part["children"] for part in parts) for parts in zip(replayed, marked, strict=True)]
    peak = max(part["peak_with_children_mb"] for part in (*replayed, *marked))
    return all(
        [
            bar("exponent of CPU against answers", _exponent(options.answers, cpu), at_most=1.1),
            bar("peak memory in MB", peak, at_most=1000),
        ]
    )


def _measure_size(workspace: Path, answers: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A study of so many answers, run; then what its replay and its marking take."""
    write_text_cases(workspace / "cases", answers // (CANDIDATES * QUESTIONS * TRIALS), QUESTIONS)
    head = f'name = "growth"\ncases = "cases"\ntrials = {TRIALS}\noffline = true\n[conditions]\nconfidence = "votes"\n'
    candidates = (SIMULATED.format(number=number, accuracy=90 - 10 * number) for number in range(CANDIDATES))
    study = workspace / "growth.toml"
    study.write_text(head + "".join(candidates))
    measure("perf.peers.study", study, workspace)
    again = measure("perf.peers.study", study, workspace)
    return again, measure("perf.peers.marking", workspace / "runs" / "growth")


def _exponent(sizes: list[int], cpu: list[float]) -> float:
    """The slope of log CPU against log answers."""
    return float(np.polyfit(np.log(sizes), np.log(cpu), 1)[0])
