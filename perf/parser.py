"""Replies read per second on one core: golden ones and 4 kB of reasoning; and how well held-out ones are read."""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from perf.bars import bar, versions
from wardround.marking import parse_choice, parser_version
from wardround.marking.parser.choice import read_short
from wardround.measuring.engine.wilson import wilson

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
FLOOR = re.compile(r"answer is \(?([A-Z])\b")  # what the least a harness can do costs: one search
LONG = 4096

Reply = tuple[str, Sequence[str]]


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf parser")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround')}; parser {parser_version()}; CPU of one core, best of {options.rounds} rounds")
    golden = [*labelled("odd_replies"), *labelled("smollm2_replies")]
    short = [(entry["reply"], entry["options"]) for entry in golden]
    speed = print_speed("golden replies", short, options.rounds)
    for reply, shown in short:
        parse_choice(reply, shown)
    started = time.process_time()
    for reply, shown in short:
        parse_choice(reply, shown)
    print(f"    repeated: {1e6 * (time.process_time() - started) / len(short):.1f} microseconds each")
    print_speed("4 kB of reasoning, then the answer", reasoning(golden, tagged=False), options.rounds)
    print_speed("4 kB of reasoning in <think> tags, then the answer", reasoning(golden, tagged=True), options.rounds)
    for name in (
        "odd_replies",
        "smollm2_replies",
        "held_out",
        *(f"choice/held_out_own/{number}" for number in range(1, 10)),
        *(f"choice/held_out/{number}" for number in range(10, 27)),
        "choice/development_3",
        "choice/development_4",
        "choice/development_5",
        "choice/development_6",
        "choice/development_7",
    ):
        tell_errors(name, labelled(name))
    return bar("golden replies per second", speed, at_least=20_000)


def labelled(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def reasoning(golden: list[dict[str, Any]], tagged: bool) -> list[Reply]:
    """A real model's prose, cut at 4 kB, with an answer at its end."""
    prose = " ".join(entry["reply"] for entry in golden if entry.get("prompt") in ("steps", "prose"))
    replies = []
    for number, start in enumerate(range(0, len(prose) - LONG, LONG // 8)):
        text = prose[start : start + LONG]
        text = f"<think>{text}</think>" if tagged else text
        replies.append((f"{text}\n\nThe answer is {'ABCD'[number % 4]}.", golden[number]["options"]))
    return replies


def print_speed(what: str, replies: list[Reply], rounds: int) -> float:
    """Prints and returns the replies read per second."""
    read = per_reply(parse_choice, replies, rounds)
    floor = per_reply(lambda reply, options: FLOOR.search(reply), replies, rounds)
    size = sum(len(reply) for reply, _ in replies) / len(replies)
    print(f"  {what}: {len(replies)} of {size:,.0f} characters on average")
    print(
        f"    {1 / read:,.0f} a second, {1e6 * read:.1f} microseconds each; {read / floor:.0f} times one regular search"
    )
    return 1 / read


def per_reply(read: Callable[[str, Sequence[str]], object], replies: list[Reply], rounds: int) -> float:
    """Seconds of CPU for one reply, in the best round; the first also fills what is kept of the options."""
    seconds = []
    for _ in range(rounds + 1):
        read_short.cache_clear()  # every round reads anew
        started = time.process_time()
        for reply, options in replies:
            read(reply, options)
        seconds.append(time.process_time() - started)
    return min(seconds[1:]) / len(replies)


def tell_errors(name: str, entries: list[dict[str, Any]]) -> None:
    readings = [(parse_choice(entry["reply"], entry["options"]).option, entry["option"]) for entry in entries]
    wrong = sum(read is not None and read != label for read, label in readings)
    missed = sum(read is None and label is not None for read, label in readings)
    shares = []
    for count in (wrong, missed):
        low, high = wilson(np.array(count / len(readings)), np.array(float(len(readings))))
        shares.append(f"{count} ({100 * count / len(readings):.1f}%, {100 * low:.1f} to {100 * high:.1f})")
    print(f"  {name}: of {len(readings)} replies read wrong {shares[0]}, an answer not read {shares[1]}")
