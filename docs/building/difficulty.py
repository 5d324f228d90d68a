"""The dial of `wardround build phenopackets --difficulty`, seen by a guesser that only compares words.

    python docs/building/difficulty.py phenopackets.jsonl.gz

For each option the guesser looks at the histories of all patients of other articles who have that disease, and adds up
the words that they share with the history in question: -log of a word's frequency among all histories, times the share
of those patients whose history has it. It takes the option with the largest sum, any of equals. It is asked only where
the right disease has a patient in another article, since it knows nothing else. Intervals: 95%, articles resampled.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from math import log
from pathlib import Path

import numpy as np

from wardround.building.distractors.balance_words import guessed
from wardround.building.sources.phenopackets import build_phenopackets
from wardround.candidates.baselines import words
from wardround.cases.set import CaseSet
from wardround.core.case import Case

DIFFICULTIES = (0.0, 0.25, 0.5, 0.75, 1.0)
RESAMPLED = 2_000


def main(source: Path) -> None:
    print("| difficulty | right | 95% interval | asked | articles |\n|---|---|---|---|---|")
    for difficulty in DIFFICULTIES:
        with tempfile.TemporaryDirectory() as folder:
            build_phenopackets(source, Path(folder) / "set", difficulty=difficulty)
            cases = list(CaseSet.open(Path(folder) / "set"))
        rates = guesses(cases)
        value = np.mean([rate for _, rate in rates])
        low, high = interval(rates)
        clusters = len({cluster for cluster, _ in rates})
        print(f"| {difficulty:g} | {value:.1%} | {low:.1%} to {high:.1%} | {len(rates)} | {clusters} |")


def guesses(cases: list[Case]) -> list[tuple[str, float]]:
    """Of each case that is asked: its cluster, and how often the guesser is right."""
    told = [words(case.history or "") for case in cases]
    times = Counter(word for each in told for word in each)
    content = {word: -log(many / len(cases)) for word, many in times.items()}
    patients: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        patients.setdefault(str(case.questions[1].gold), []).append(number)
    found = []
    for number, case in enumerate(cases):
        question = case.questions[0]
        shared = []
        for option in question.choices:
            others = [other for other in patients[option] if cases[other].cluster != case.cluster]
            shared.append(
                sum(content[word] * sum(word in told[other] for other in others) / len(others) for word in told[number])
                if others
                else None
            )
        gold = shared.pop(int(question.gold))
        if gold is not None:
            found.append((case.resampled_as, guessed(gold, [each for each in shared if each is not None])))
    return found


def interval(rates: list[tuple[str, float]]) -> tuple[float, float]:
    """Percentiles of the mean over articles drawn again and again."""
    names, cluster = np.unique([name for name, _ in rates], return_inverse=True)
    right = np.bincount(cluster, [rate for _, rate in rates])
    asked = np.bincount(cluster)
    drawn = np.random.default_rng(0).integers(0, len(names), (RESAMPLED, len(names)))
    means = right[drawn].sum(axis=1) / asked[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
