"""The effect of `wardround build phenopackets --difficulty` on a guesser that only compares words.

    python docs/building/difficulty.py phenopackets.jsonl.gz

For each option the guesser takes the histories of all patients of other articles with that disease, and adds up the
words that they share with the history of the case: -log of a word's frequency among all histories, times the share of
those patients whose history has it. It chooses the option with the largest sum, at random among equals. It is tested on
cases whose disease has a patient in another article. Intervals: 95%, articles resampled.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from math import log
from pathlib import Path

import numpy as np

from wardround.building.distractors.balance_words import guess_rate
from wardround.building.sources.phenopackets.build import build_phenopackets
from wardround.candidates.baselines import words
from wardround.cases.set import CaseSet
from wardround.core.case import Case

DIFFICULTIES = (0.0, 0.25, 0.5, 0.75, 1.0)
RESAMPLES = 2_000


def main(source: Path) -> None:
    print("| difficulty | right | 95% interval | cases | articles |\n|---|---|---|---|---|")
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
    """The cluster of each tested case, and the rate at which the guesser is right."""
    history_words = [words(case.history or "") for case in cases]
    counts = Counter(word for history in history_words for word in history)
    content = {word: -log(count / len(cases)) for word, count in counts.items()}
    patients: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        patients.setdefault(str(case.questions[1].gold), []).append(number)
    rates = []
    for number, case in enumerate(cases):
        question = case.questions[0]
        shared = []
        for option in question.choices:
            others = [other for other in patients[option] if cases[other].cluster != case.cluster]
            shares = {word: sum(word in history_words[other] for other in others) for word in history_words[number]}
            shared.append(sum(content[word] * shares[word] / len(others) for word in shares) if others else None)
        gold = shared.pop(int(question.gold))
        if gold is not None:
            rates.append((case.cluster_id, guess_rate(gold, [score for score in shared if score is not None])))
    return rates


def interval(rates: list[tuple[str, float]]) -> tuple[float, float]:
    """Percentiles of the mean over resampled articles."""
    names, cluster = np.unique([name for name, _ in rates], return_inverse=True)
    right = np.bincount(cluster, [rate for _, rate in rates])
    cases = np.bincount(cluster)
    drawn = np.random.default_rng(0).integers(0, len(names), (RESAMPLES, len(names)))
    means = right[drawn].sum(axis=1) / cases[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
