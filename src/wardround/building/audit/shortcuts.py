"""Shortcuts: how often the right option can be guessed without the case, compared with chance, with intervals.

Chance is the mean of 1/K. Ties are broken at random. A shortcut is flagged if its 95% interval (over clusters, like
those of measures) lies above chance: this flags one in forty guessers that know nothing.

A guesser that learns from other questions guesses at random in a fold if what it learnt did no better than chance on
the other folds (our choice). Otherwise it would do far worse than chance on a set whose answers are exactly balanced:
there a question that is left out makes its own answer the rarer one, which looks like the reverse of a shortcut.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from math import isnan
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.building.audit.bag_of_words import FOLDS, assign_folds, cross_validated_scores, word_table
from wardround.building.audit.finding import Finding
from wardround.building.audit.shown_fields import clean_questions, shown_fields
from wardround.candidates.baselines import overlap, words
from wardround.core.case import Case
from wardround.core.random import stream
from wardround.measuring.engine.estimate import all_answered, estimate_measures
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.sums import Integers, cluster_sums, place_items, sum_by_index
from wardround.measuring.measures.formulas import ratio
from wardround.reporting.numbers import percent

SHORTCUTS = {
    "longest": "the longest option",
    "shortest": "the shortest option",
    "position": "the position that is most often right in the other half of the clusters",
    "overlap": "the option with the largest share of its words in the case and the question",
    "prior": "the option that is most often right when other clusters offer it",
    "words": "what a bag of words learns from the options of other clusters",
}
LEARNT = ("position", "prior", "words")
ROUNDING = 1e-6  # a guesser at chance is not above it
GUESSED = Measure(name="guessed", formula=ratio, sums=("right", "asked"), kind=MeasureKind.MEAN, n="asked")


@dataclass(frozen=True)
class Shortcut:
    """The accuracy of one guesser; without an interval if there are too few clusters."""

    name: str
    accuracy: float
    low: float | None
    high: float | None
    chance: float
    questions: int
    clusters: int
    method: str
    as_learnt: float | None = None  # the accuracy of a learner that never falls back on chance

    @property
    def flagged(self) -> bool:
        return self.low is not None and self.low > self.chance + ROUNDING

    def __str__(self) -> str:
        interval = "no interval" if self.low is None else f"{percent(self.low)} to {percent(self.high)}"
        return f"{self.name}: {percent(self.accuracy)}% right ({interval}; chance {percent(self.chance)})"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"flagged": self.flagged}


@dataclass(frozen=True)
class OfferedOptions:
    """The options of all choice questions in one sequence, each text by its number."""

    cluster: Integers  # of each question
    gold: Integers  # of each question: the index of its answer among all options
    starts: Integers  # of each question: the index of its first option
    text: Integers  # of each option
    overlap: Floats  # of each option
    texts: list[str]

    @property
    def sizes(self) -> Integers:
        return np.diff(np.append(self.starts, len(self.text)))

    def shares(self, scores: NDArray[Any]) -> Floats:
        """For each question how often the highest score is right, if ties are broken at random."""
        highest = np.maximum.reduceat(scores, self.starts)
        best = scores == np.repeat(highest, self.sizes)
        shares: Floats = best[self.gold] / np.add.reduceat(best.astype(np.int64), self.starts)
        return shares


def collect_options(cases: Iterable[Case]) -> OfferedOptions | None:
    """The choice questions of a set; None if it has none."""
    clusters: dict[str, int] = {}
    texts: dict[str, int] = {}
    cluster, gold, starts, text, share = list[int](), list[int](), list[int](), list[int](), list[float]()
    for case in cases:
        case_words = words("\n".join(text for _, text in shown_fields(case)))
        for question in clean_questions(case):
            if not isinstance(question.gold, int):
                continue
            shown_words = case_words | words(question.prompt)
            cluster.append(clusters.setdefault(case.cluster_id, len(clusters)))
            starts.append(len(text))
            gold.append(len(text) + question.gold)
            for option in question.choices:
                text.append(texts.setdefault(option.strip(), len(texts)))
                share.append(overlap(words(option), shown_words))
    if not starts:
        return None
    return OfferedOptions(
        np.array(cluster), np.array(gold), np.array(starts), np.array(text), np.array(share), list(texts)
    )


def measure_shortcuts(cases: Iterable[Case], seed: int = 0) -> list[Shortcut]:
    """All shortcuts over the choice questions of a set."""
    offered = collect_options(cases)
    if offered is None:
        return []
    lengths = np.array([len(text) for text in offered.texts])[offered.text]
    scores: dict[str, NDArray[Any]] = {
        "longest": lengths,
        "shortest": -lengths,
        "position": _position(offered, seed),
        "overlap": offered.overlap,
        "prior": _prior(offered),
        "words": cross_validated_scores(
            word_table(offered.texts), offered.text, offered.starts, offered.gold, offered.cluster, seed
        ),
    }
    shares = {name: offered.shares(score) for name, score in scores.items()}
    fold = assign_folds(offered.cluster, seed)
    learnt = {name: float(shares[name].mean()) for name in LEARNT}
    shares |= {name: drop_useless_learning(shares[name], 1 / offered.sizes, fold) for name in LEARNT}
    return [replace(shortcut, as_learnt=learnt.get(shortcut.name)) for shortcut in _estimate(offered, shares, seed)]


def drop_useless_learning(shares: Floats, chance: Floats, fold: Integers) -> Floats:
    """The accuracies of a learner that guesses at random in each fold unless it beat chance on the others."""
    adjusted = shares.copy()
    for held_out in range(FOLDS):
        here = fold == held_out
        if here.any() and not (shares - chance)[~here].sum() > ROUNDING:
            adjusted[here] = chance[here]
    return adjusted


def shortcut_findings(shortcuts: Iterable[Shortcut]) -> list[Finding]:
    return [
        Finding("warning", "shortcut", f"{shortcut}: {SHORTCUTS[shortcut.name]}")
        for shortcut in shortcuts
        if shortcut.flagged
    ]


def _position(offered: OfferedOptions, seed: int) -> Floats:
    """For each option how often its position was right in the other half, among questions with as many options."""
    half = (stream(seed, "halves of clusters").permutation(int(offered.cluster.max()) + 1) % 2)[offered.cluster]
    sizes, position = offered.sizes, np.arange(len(offered.text)) - np.repeat(offered.starts, offered.sizes)
    right = np.zeros((2, int(sizes.max()) + 1, int(sizes.max())))
    np.add.at(right, (half, sizes, offered.gold - offered.starts), 1)
    scores: Floats = right[1 - np.repeat(half, sizes), np.repeat(sizes, sizes), position]
    return scores


def _prior(offered: OfferedOptions) -> Floats:
    """For each option the share of its offers in other clusters in which it was right, with one more at chance."""
    chance, cluster = (np.repeat(values, offered.sizes) for values in (1 / offered.sizes, offered.cluster))
    right = np.zeros(len(offered.text))
    right[offered.gold] = 1
    _, own = np.unique(offered.text * (int(cluster.max()) + 1) + cluster, return_inverse=True)

    def elsewhere(values: Floats) -> Floats:
        return (
            sum_by_index(offered.text, values, len(offered.texts))[offered.text]
            - sum_by_index(own, values, len(own))[own]
        )

    shares: Floats = np.divide(elsewhere(right) + chance, elsewhere(np.ones(len(right))) + 1)
    return shares


def _estimate(offered: OfferedOptions, shares: dict[str, Floats], seed: int) -> list[Shortcut]:
    count, names = len(offered.starts), list(shares)
    index = pl.DataFrame(
        {"candidate": np.repeat(np.arange(len(names)), count), "cluster": np.tile(offered.cluster, len(names))}
    )
    rows = np.arange(len(index))
    placement = place_items(index, rows, np.zeros(len(index), np.int64))
    columns = {"right": exact(np.concatenate(list(shares.values()))), "asked": np.ones(len(index))}
    columns |= all_answered(columns["asked"])
    sums = cluster_sums(placement, columns)
    (estimate,) = estimate_measures([GUESSED], sums, int(offered.cluster.max()) + 1, seed)
    chance = float((1 / offered.sizes).mean())
    return [
        Shortcut(
            name=names[int(candidate)],
            accuracy=float(estimate.value[cell]),
            low=_none_if_nan(estimate.low[cell]),
            high=_none_if_nan(estimate.high[cell]),
            chance=chance,
            questions=int(estimate.n[cell]),
            clusters=int(estimate.clusters[cell]),
            method=str(estimate.method[cell]),
        )
        for cell, candidate in enumerate(sums.candidate)
    ]


def _none_if_nan(value: float) -> float | None:
    return None if isnan(value) else float(value)
