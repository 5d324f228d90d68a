"""The audit of 20,000 invented cases: linear in their number, in bounded memory, beside scikit-learn counting words."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

from perf.bars import bar, versions
from perf.measured import Clock, measure, print_usage

WORDS, OPTIONS = 180, 6


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf audit")
    parser.add_argument("--cases", type=int, default=20_000)
    many = parser.parse_args(arguments).cases
    print(f"  {versions('wardround', 'scikit-learn')}; CPU of one process, no images")
    with tempfile.TemporaryDirectory() as folder:
        usages = {}
        for name, count in (("half", many // 2), ("whole", many)):
            make(Path(folder) / name, count)
            usages[name] = measure("perf.audit", "audit", Path(folder) / name)
            print(
                f"  {count:,} cases: {usages[name]['own']:,.1f} s of CPU, {usages[name]['peak_mb']:,.0f} MB at the peak"
            )
        reading = measure("perf.audit", "read", Path(folder) / "whole")
        counting = measure("perf.audit", "count", Path(folder) / "whole")
    seconds_per_case = {name: usages[name]["own"] / usages[name]["cases"] for name in usages}
    print(f"  {1e6 * seconds_per_case['whole']:,.0f} microseconds a case; {usages['whole']['near']} near texts found")
    print(f"  one pass over the cases: {reading['own']:,.1f} s; counting word triples: {counting['own']:,.1f} s")
    return all(
        [
            bar("near texts found / planted", usages["whole"]["near"] / usages["whole"]["planted"], at_least=1),
            bar("CPU a case, all / half of them", seconds_per_case["whole"] / seconds_per_case["half"], at_most=1.25),
            bar("CPU, audit / scikit-learn counting word triples", usages["whole"]["own"] / counting["own"], at_most=2),
            bar("peak memory, MB", usages["whole"]["peak_mb"], at_most=500),
        ]
    )


def make(folder: Path, many: int) -> None:
    """Cases of words by Zipf's law; every hundredth history repeats another with a few words changed."""
    folder.mkdir()
    draw = random.Random(2)
    words = [f"w{number}" for number in range(30_000)]
    weights = [1 / (number + 10) for number in range(len(words))]
    names = [f"{draw.choice(words)}osis {draw.choice(words)}oma" for _ in range(2_000)]
    before: list[str] = []
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as file:
        for number in range(many):
            history = draw.choices(words, weights, k=WORDS)
            if number % 100 == 99:
                history = list(before)
                history[draw.randrange(WORDS)] = "changed"
            before = history
            question = {"id": "mcq", "kind": "choice", "prompt": "Which?", "options": draw.sample(names, OPTIONS)}
            case = {"id": str(number), "history": " ".join(history), "patient": {"age": draw.randrange(90), "sex": "F"}}
            file.write(json.dumps(case | {"questions": [question | {"gold": draw.randrange(OPTIONS)}]}) + "\n")


def run(way: str, folder: Path) -> None:
    """One way through the cases by itself, so that nothing else is in its memory."""
    from wardround.cases.set import CaseSet

    if way == "audit":
        from wardround.building.audit.audit import audit

        started = Clock.now()
        audited = audit(folder, folder / "audit")
        near = audited.by_kind().get("near_text", {}).get("warnings", 0)
        print_usage(started, cases=audited.cases, near=near, planted=audited.cases // 100)
    elif way == "read":
        started = Clock.now()
        cases = CaseSet.read(folder)
        print_usage(started, cases=len(cases))
    else:
        from sklearn.feature_extraction.text import CountVectorizer

        texts = [case.history or "" for case in CaseSet.read(folder)]
        started = Clock.now()
        counted = CountVectorizer(ngram_range=(3, 3), binary=True).fit_transform(texts)
        print_usage(started, triples=counted.shape[1])


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]))
