"""How CPU and memory grow with the number of stored answers: a complete study replayed, marked, measured and reported.

The study has four simulated candidates, ten trials, five questions a case, one reply a vote. Its answers are drawn and
stored without a run (peers/stored_answers.py), which is not in the figures.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from perf.bars import bar, figure, versions
from perf.measured import measure
from perf.workload import write_text_cases

AGAIN = "marking with nothing changed"
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
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--place", type=Path, help="folder in which the studies are kept (default: a temporary one)")
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'polars', 'numpy')}")
    cpu: list[float] = []
    peaks: list[float] = []
    for answers in options.answers:
        with tempfile.TemporaryDirectory() as temporary:
            rounds = _measure_size((options.place or Path(temporary)) / str(answers), answers, options.rounds)
        for part, usages in rounds.items():
            seconds = [one["own"] + one["children"] for one in usages]
            figure(f"microseconds of CPU per answer, {part} of {answers:,}", [1e6 * one / answers for one in seconds])
            peaks.append(max(one["peak_with_children_mb"] for one in usages))
            figure(f"peak memory in MB, {part} of {answers:,}", peaks[-1])
        whole = [usages for part, usages in rounds.items() if part != AGAIN]
        cpu.append(sum(median(one["own"] + one["children"] for one in usages) for usages in whole))
        figure(f"minutes of two cores, {answers:,} answers", cpu[-1] / 120)
    bars = [bar("peak memory in MB", max(peaks), at_most=1000)]
    if len(options.answers) > 1:
        bars.append(bar("exponent of CPU against answers", _exponent(options.answers, cpu), at_most=1.1))
    return all(bars)


def _measure_size(workspace: Path, answers: int, rounds: int) -> dict[str, list[dict[str, Any]]]:
    """What replaying and marking a study of so many stored answers take, by part and round."""
    study = workspace / "growth.toml"
    if not study.exists():
        write_text_cases(workspace / "cases", answers // (CANDIDATES * QUESTIONS * TRIALS), QUESTIONS)
        draft = study.with_suffix(".draft")
        draft.write_text(_study_text())
        measure("perf.peers.stored_answers", draft, workspace)
        measure("perf.peers.study", draft, workspace)  # a first start: it writes the run's folder
        draft.rename(study)
    run, usages = workspace / "runs" / "growth", defaultdict[str, list[dict[str, Any]]](list)
    for _ in range(rounds):
        usages["replay"].append(measure("perf.peers.study", study, workspace))
        usages["marking, measuring and reporting"].append(measure("perf.peers.marking", run))
        usages[AGAIN].append(measure("perf.peers.marking", run, "again"))
    return usages


def _study_text() -> str:
    head = f'name = "growth"\ncases = "cases"\ntrials = {TRIALS}\noffline = true\n[conditions]\nconfidence = "votes"\n'
    return head + "".join(SIMULATED.format(number=n, accuracy=90 - 10 * n) for n in range(CANDIDATES))


def _exponent(sizes: list[int], cpu: list[float]) -> float:
    """The slope of log CPU against log answers."""
    return float(np.polyfit(np.log(sizes), np.log(cpu), 1)[0])
