"""Bars: what a figure must reach, printed beside it as met or missed, and kept in history.csv."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from platform import python_version
from statistics import median

from perf.history import record


def bar(
    what: str, value: float | Sequence[float], *, at_most: float | None = None, at_least: float | None = None
) -> bool:
    """Prints the figure against its bar and keeps it; says whether it is met. Of several rounds the median counts."""
    rounds = [value] if isinstance(value, int | float) else list(value)
    middle = median(rounds)
    met = (at_most is None or middle <= at_most) and (at_least is None or middle >= at_least)
    limit = f"at most {at_most:g}" if at_most is not None else f"at least {at_least:g}"
    print(
        f"  {what}: {_spread(rounds)} (bar: {limit}): {'met' if met else 'missed'}{_before(what, rounds)}", flush=True
    )
    return met


def figure(what: str, value: float | Sequence[float]) -> None:
    """Prints a figure that has no bar and keeps it."""
    rounds = [value] if isinstance(value, int | float) else list(value)
    print(f"  {what}: {_spread(rounds)}{_before(what, rounds)}", flush=True)


def _spread(rounds: Sequence[float]) -> str:
    if len(rounds) == 1:
        return f"{rounds[0]:,.2f}"
    return f"{median(rounds):,.2f}, rounds from {min(rounds):,.2f} to {max(rounds):,.2f}"


def _before(what: str, rounds: Sequence[float]) -> str:
    before = record(what, rounds)
    return f"; before it {before}" if before else ""


def versions(*packages: str) -> str:
    return ", ".join([f"python {python_version()}", *(f"{package} {version(package)}" for package in packages)])
