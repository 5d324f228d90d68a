"""Reading X-PCR's 177,868 questions from one JSON file: CPU and memory beside loading it whole."""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from perf.bars import bar, versions
from perf.measured import Clock, measure, print_usage
from wardround.cases.readers.xpcr.cases import read_xpcr

QUESTIONS, IMAGES = 177_868, 26_415
STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf reading")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    options = parser.parse_args(arguments)
    print(f"  {versions('wardround')}; CPU of one process")
    with tempfile.TemporaryDirectory() as folder:
        file = make(Path(folder) / "test.json", options.questions)
        ours, peer = (measure("perf.reading", who, file) for who in ("wardround", "json.load"))
    for name, usage in (("wardround", ours), ("json.load, grouped", peer)):
        cpu = usage["own"] / options.questions * 1e6
        print(f"  {name}: {usage['cases']:,} cases, {cpu:.0f} µs of CPU a question, peak {usage['held_mb']:,.0f} MB")
    return all(
        [
            bar("peak memory, MB", ours["held_mb"], at_most=200),
            bar("peak memory / loading it whole", ours["held_mb"] / peer["held_mb"], at_most=0.5),
        ]
    )


def make(file: Path, questions: int) -> Path:
    """Rows as docs/protocols.md has them, about images that come up at random."""
    draw = random.Random(0)
    with file.open("w", encoding="utf-8") as opened:
        for number in range(questions):
            image, stage = draw.randrange(IMAGES), STAGES[number % 6]
            row = {
                "id": f"q{number}",
                "case_id": f"eye-{image}",
                "stage": stage,
                "question": f"{stage} of eye {image}: " + "which of these statements describes best what is seen? " * 3,
                "options": {letter: f"{stage} statement {draw.randrange(50)} {letter}" for letter in "ABCD"},
                "answer": "ABCD"[number % 4],
                "level": "RAS"[number % 3],
                "importance": 1.0,
                "disease": "DR",
            }
            opened.write(("," if number else "[") + json.dumps(row) + "\n")
        opened.write("]")
    return file


def loaded_whole(file: Path) -> int:
    """The obvious way: everything in memory, grouped by a dictionary."""
    groups = defaultdict(list)
    for row in json.loads(file.read_text(encoding="utf-8")):
        groups[row["case_id"]].append(row)
    return len(groups)


def most_held() -> float:
    """The most memory of this program alone: what `getrusage` tells counts that of the one which started it."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s*(\d+)", status)[0]) / 1000


if __name__ == "__main__":  # by itself, so that nothing else is in its memory
    who, source = sys.argv[1], Path(sys.argv[2])
    started = Clock.now()
    cases = sum(1 for _ in read_xpcr(source)) if who == "wardround" else loaded_whole(source)
    print_usage(started, cases=cases, held_mb=most_held())
