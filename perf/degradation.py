"""CPU of degrading 512 x 512 images: beside TorchIO and scikit-image, beside encoding, and in two workers."""

from __future__ import annotations

import argparse
import os
from statistics import median
from typing import Any

from perf.bars import bar, versions
from perf.measured import measure
from perf.two_workers import Turn, gains, timed
from wardround.degrade.workers import THREAD_VARIABLES

SCANNED = ("limited_angle", "sparse_view", "low_dose")


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf degradation")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=6, help="of one and two workers")
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'numpy', 'scipy', 'numba', 'pillow', 'scikit-image', 'torch', 'torchio')}")
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    figures = measure("perf.peers.degrading", options.rounds)
    floor = min(their for _, their in figures["scan"])
    return all(
        [
            _scan(figures["scan"]),
            *_types(figures["types"]),
            *_set(figures["types"], floor),
            _workers(timed(options.turns)),
        ]
    )


def _scan(costs: list[tuple[float, float]]) -> bool:
    ratios = [their / our for our, their in costs]
    print("  projection and reconstruction at 180 views, milliseconds of CPU (least of the rounds):")
    print(f"  wardround {min(our for our, _ in costs):.1f}, scikit-image {min(their for _, their in costs):.0f}")
    return bar("scikit-image / wardround, 180 views", ratios, at_least=60)


def _types(types: list[dict[str, Any]]) -> list[bool]:
    """Each type, and the bars of those that have one of their own."""
    print(
        "  milliseconds of CPU at L1 and L2: wardround, its PNG and JPEG, and what the paper's stack has for the type"
    )
    met = []
    for row in types:
        ours, its = (" ".join(f"{cost:6.1f}" for cost in _least_of_rounds(row[key])) for key in ("ours", "its"))
        png, jpeg = (" ".join(f"{cost:6.1f}" for cost in row[key]) for key in ("png", "jpeg"))
        peer = f"{its} {row['peer']}: {median(_ratios([row])):.1f} times" if row["peer"] else "-"
        print(f"  {row['type']:17} {'colour' if row['colours'] else 'grey':6} {ours} | {png} | {jpeg} | {peer}")
    for row in types:
        if row["type"] in SCANNED:
            met.append(bar(f"scikit-image / wardround, {row['type']} end to end", _ratios([row]), at_least=60))
        elif row["type"] == "gaussian_noise":
            image = "slide" if row["colours"] else "CT"
            met.append(bar(f"TorchIO / wardround, gaussian_noise on the {image}", _ratios([row]), at_least=1.5))
    return met


def _set(types: list[dict[str, Any]], floor: float) -> list[bool]:
    """All 18 at two levels; `floor` is one projection and reconstruction by scikit-image, in milliseconds."""
    met = []
    for colours, mix in ((False, "general types on the CT"), (True, "general types on the slide")):
        chosen = [row for row in types if not row["general"] or row["colours"] == colours]
        drawn = sum(sum(_least_of_rounds(row["ours"])) for row in chosen)
        as_png, as_jpeg = (sum(sum(row[key]) for row in chosen) for key in ("png", "jpeg"))
        print(f"  18 x 2, {mix}: drawn {drawn:.0f} ms, PNG {as_png:.0f} ms, JPEG {as_jpeg:.0f} ms")
        peers = [row for row in chosen if row["peer"]]
        without_ct = [row for row in peers if row["type"] not in SCANNED]
        met += [
            bar(f"milliseconds to draw 18 x 2, {mix}", drawn, at_most=300),
            bar(f"drawing 18 x 2 / scikit-image's scan of 180 views, {mix}", drawn / floor, at_most=0.4),
            bar(f"encoding 18 x 2 as PNG / scikit-image's scan of 180 views, {mix}", as_png / floor, at_most=0.4),
            bar(f"the paper's stack / wardround, {len(peers)} types, {mix}", _ratios(peers), at_least=15),
            bar(f"TorchIO / wardround, {len(without_ct)} types without a CT, {mix}", _ratios(without_ct), at_least=6),
        ]
    return met


def _least_of_rounds(rounds: list[list[float]]) -> list[float]:
    return [min(costs) for costs in zip(*rounds, strict=True)]


def _ratios(rows: list[dict[str, Any]]) -> list[float]:
    """What the peers took over what wardround took, over all these types, round by round."""
    rounds = range(len(rows[0]["ours"]))
    ours, its = ([sum(sum(row[key][number]) for row in rows) for number in rounds] for key in ("ours", "its"))
    return [their / our for our, their in zip(ours, its, strict=True)]


def _workers(turns: list[Turn]) -> bool:
    print("  two workers, by how much faster than one: copies / a loop that only burns, turn by turn:")
    print(f"  {', '.join('{:.2f} / {:.2f}'.format(*gains([turn])) for turn in turns)}")
    copies, burnt = gains(turns)
    print(f"  over all turns: {copies:.2f} / {burnt:.2f}")
    most = min(burnt, 2.0)  # more than the second worker itself is the machine's noise
    return bar("gain of copies / gain of the loop, at most 2", copies / most, at_least=0.95)
