"""Drawing: a sample with as many of each stratum, and what each drawn one stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from wardround.asking.options import seeded

T = TypeVar("T")


def balanced(rows: Sequence[T], stratum: Callable[[T], str], many: int, seed: int) -> list[tuple[T, float]]:
    """So many rows, evenly from the strata as far as these reach, in their own order, each with its weight.

    0 takes all of them. A weight is how many rows of its stratum a drawn one stands for.
    """
    if not many or many >= len(rows):
        return [(row, 1.0) for row in rows]
    strata: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        strata.setdefault(stratum(row), []).append(place)
    taken = dict.fromkeys(sorted(strata), 0)
    while sum(taken.values()) < many:
        fewest = min((name for name in taken if taken[name] < len(strata[name])), key=lambda name: taken[name])
        taken[fewest] += 1
    weights = {
        place: len(places) / taken[name]
        for name, places in strata.items()
        for place in seeded("drawing", name, seed).sample(places, taken[name])
    }
    return [(rows[place], weights[place]) for place in sorted(weights)]
