"""Throughput against a server that takes 8 at once and refuses the rest: learnt concurrency against fixed ones."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from exam_server import ExamServer
from exam_study import examine, write_cases, write_study

from perf.bars import bar
from wardround.running.pacing.concurrency import Pace

CAPACITY, SERVICE_SECONDS, ASKS = 8, 0.05, 1000
FIXED = (6, 8, 10, 16)
MOST = 64


class Fixed(Pace):
    """A pace that learns nothing."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.limit = most

    def faulted(self) -> None:
        """Changes nothing."""

    def succeeded(self, seconds: float) -> None:
        """Changes nothing."""

    def narrow(self) -> None:
        """Changes nothing."""


def main(arguments: list[str]) -> bool:
    figures = measure()
    return all(
        [
            bar("asks/s, learnt / best fixed", figures["ratio"], at_least=0.8),
            bar("share of calls refused after the first 200", figures["refused_after_200"], at_most=0.05),
        ]
    )


def measure() -> dict[str, Any]:
    """Asks a second with learnt concurrency and with each fixed one, and the share refused after 200 calls."""
    learnt, refused = _run(MOST)
    with patch("wardround.running.caller.Pace", Fixed):
        fixed = {most: _run(most)[0] for most in FIXED}
    best = max(fixed, key=lambda most: fixed[most])
    figures = {
        "asks_a_second": learnt,
        "fixed": fixed,
        "best_fixed": best,
        "ratio": learnt / fixed[best],
        "refused_after_200": refused,
    }
    print(f"server that takes {CAPACITY} at once, {1000 * SERVICE_SECONDS:g} ms a call, {ASKS:,} asks:")
    for most, rate in fixed.items():
        print(f"  fixed at {most:2}: {rate:6.1f} asks/s")
    print(f"  learnt:      {learnt:6.1f} asks/s, {100 * refused:.1f}% of calls refused after the first 200")
    print(f"  ratio to the best fixed setting ({best}): {figures['ratio']:.2f} (bar: at least 0.80)")
    return figures


def _run(concurrency: int) -> tuple[float, float]:
    times: list[float] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        ExamServer(
            capacity=CAPACITY, service_seconds=SERVICE_SECONDS, replying=lambda *_: times.append(time.monotonic())
        ) as server,
    ):
        write_cases(Path(folder) / "cases", ASKS)
        examine(write_study(Path(folder), server.url, candidate={"concurrency": concurrency, "attempts": 100}))
    late = sum(number > 200 for number in server.refused)
    return ASKS / (times[ASKS - 1] - times[0] + SERVICE_SECONDS), late / (server.calls - 200)


if __name__ == "__main__":
    measure()
