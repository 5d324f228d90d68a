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


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf degradation")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=6, help="of one and two workers")
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround', 'numpy', 'scipy', 'numba', 'pillow', 'scikit-image', 'torch', 'torchio')}")
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    told = measure("perf.peers.degrading", options.rounds)
    return all([_scan(told["scan"]), *_set(told["types"]), _workers(timed(options.turns))])


def _scan(costs: list[tuple[float, float]]) -> bool:
    ratios = [their / our for our, their in costs]
    print("  projection and reconstruction at 180 views, milliseconds of CPU (least of the rounds):")
    print(f"  wardround {min(our for our, _ in costs):.1f}, scikit-image {min(their for _, their in costs):.0f}")
    print(f"  scikit-image / wardround, round by round: {' '.join(f'{ratio:.0f}' for ratio in ratios)}")
    return bar("scikit-image / wardround, median", median(ratios), at_least=50)


def _set(types: list[dict[str, Any]]) -> list[bool]:
    print(
        "  milliseconds of CPU at L1 and L2: wardround, its PNG and JPEG, and what the paper's stack has for the type"
    )
    for each in types:
        ours, png, jpeg = (" ".join(f"{cost:6.1f}" for cost in each[key]) for key in ("ours", "png", "jpeg"))
        its = " ".join(f"{cost:.1f}" for cost in each["its"])
        peer = f"{its} {each['peer']}: {sum(each['its']) / sum(each['ours']):.1f} times" if its else "-"
        print(f"  {each['type']:17} {'colour' if each['colours'] else 'grey':6} {ours} | {png} | {jpeg} | {peer}")
    met = [
        bar(f"scikit-image / wardround, {each['type']} end to end", sum(each["its"]) / sum(each["ours"]), at_least=40)
        for each in types
        if each["type"] in ("limited_angle", "sparse_view")
    ]
    for colours, mix in ((False, "general types on the CT"), (True, "general types on the slide")):
        chosen = [each for each in types if not each["general"] or each["colours"] == colours]
        ours, as_png, as_jpeg = (sum(sum(each[key]) for each in chosen) for key in ("ours", "png", "jpeg"))
        peers = [each for each in chosen if each["peer"]]
        stack, beside = (sum(sum(each[key]) for each in peers) for key in ("its", "ours"))
        print(f"  18 x 2, {mix}: drawn {ours:.0f} ms, PNG {as_png:.0f} ms, JPEG {as_jpeg:.0f} ms")
        print(f"  {len(peers)} types of these that the paper's stack has: {stack:.0f} ms, wardround {beside:.0f} ms")
        met += [
            bar(f"the paper's stack / wardround, {mix}", stack / beside, at_least=15),
            bar(f"encoding as PNG / drawing, {mix}", as_png / ours, at_most=1),
        ]
    return met


def _workers(turns: list[Turn]) -> bool:
    print("  two workers, by how much faster than one: copies / a loop that only burns, turn by turn:")
    print(f"  {', '.join('{:.2f} / {:.2f}'.format(*gains([turn])) for turn in turns)}")
    copies, burnt = gains(turns)
    print(f"  over all turns: {copies:.2f} / {burnt:.2f}")
    return bar("gain of copies / gain of the loop", copies / burnt, at_least=0.9)
