"""Shortcuts: how often the right option can be guessed without the case, each against chance with its interval.

Chance is the mean of 1/K. Where several options are best, any of them is taken. A shortcut is flagged when its 95%
interval (over clusters, as measures have) lies above chance: of guessers that know nothing this flags one in forty.

A guesser that learns from other questions drops what it learnt where that did no better than chance on the other folds
(our choice). Without this it would do far worse than chance on a set whose answers are exactly balanced: there every
question that is left out makes its own answer the rarer one, which is no shortcut but looks like the reverse of one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from math import isnan
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.building.audit.finding import Finding
from wardround.building.audit.shown import asked_once, shown_fields
from wardround.building.audit.words_only import FOLDS, cross_validated, folds, word_table
from wardround.candidates.baselines import overlap, words
from wardround.core.case import Case
from wardround.core.random import stream
from wardround.measuring.engine.estimate import figured
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.engine.sums import Whole, added, cluster_sums, placed
from wardround.measuring.measures.formulas import ratio
from wardround.reporting.numbers import percent

SHORTCUTS = {
    "longest": "the longest option",
    "shortest": "the shortest option",
    "position": "the position that is most often right in the other half of the clusters",
    "overlap": "the option of whose words the largest share stands in the case and the question",
    "prior": "the option that is right most often where it is offered in other clusters",
    "words": "what a bag of words learns from the options of other clusters",
}
LEARNT = ("position", "prior", "words")
ROUNDING = 1e-6  # a guesser that always takes any option is at chance, not above it
GUESSED = Measure(name="guessed", value=ratio, sums=("right", "asked"), kind=Kind.MEAN, n="asked")


@dataclass(frozen=True)
class Shortcut:
    """How well one guesser does; without an interval where there are too few clusters."""

    name: str
    accuracy: float
    low: float | None
    high: float | None
    chance: float
    questions: int
    clusters: int
    method: str
    as_learnt: float | None = None  # what it would be had nothing been dropped, where it learns

    @property
    def flagged(self) -> bool:
        return self.low is not None and self.low > self.chance + ROUNDING

    def __str__(self) -> str:
        interval = "no interval" if self.low is None else f"{percent(self.low)} to {percent(self.high)}"
        return f"{self.name}: {percent(self.accuracy)}% right ({interval}; chance {percent(self.chance)})"

    def told(self) -> dict[str, Any]:
        return asdict(self) | {"flagged": self.flagged}


@dataclass(frozen=True)
class Offered:
    """All choice questions: their options one after the other, each text by its number."""

    cluster: Whole  # of each question
    gold: Whole  # of each question: where its answer stands among all options
    starts: Whole  # of each question: where its options begin
    text: Whole  # of each option
    overlap: Floats  # of each option
    texts: list[str]

    @property
    def sizes(self) -> Whole:
        return np.diff(np.append(self.starts, len(self.text)))

    def shares(self, scores: NDArray[Any]) -> Floats:
        """Of each question: how often it is guessed right by whoever takes the highest score, any of equals."""
        highest = np.maximum.reduceat(scores, self.starts)
        best = scores == np.repeat(highest, self.sizes)
        found: Floats = best[self.gold] / np.add.reduceat(best.astype(np.int64), self.starts)
        return found


def offered(cases: Iterable[Case]) -> Offered | None:
    """The choice questions of a set; None if it has none."""
    clusters: dict[str, int] = {}
    texts: dict[str, int] = {}
    cluster, gold, starts, text, share = list[int](), list[int](), list[int](), list[int](), list[float]()
    for case in cases:
        told = words("\n".join(text for _, text in shown_fields(case)))
        for question in asked_once(case):
            if not isinstance(question.gold, int):
                continue
            seen = told | words(question.prompt)
            cluster.append(clusters.setdefault(case.resampled_as, len(clusters)))
            starts.append(len(text))
            gold.append(len(text) + question.gold)
            for option in question.choices:
                text.append(texts.setdefault(option.strip(), len(texts)))
                share.append(overlap(words(option), seen))
    if not starts:
        return None
    return Offered(
        cluster=np.array(cluster),
        gold=np.array(gold),
        starts=np.array(starts),
        text=np.array(text),
        overlap=np.array(share),
        texts=list(texts),
    )


def shortcuts(cases: Iterable[Case], seed: int = 0) -> list[Shortcut]:
    """All shortcuts over the choice questions of a set."""
    asked = offered(cases)
    if asked is None:
        return []
    lengths = np.array([len(text) for text in asked.texts])[asked.text]
    scores: dict[str, NDArray[Any]] = {
        "longest": lengths,
        "shortest": -lengths,
        "position": _position(asked, seed),
        "overlap": asked.overlap,
        "prior": _prior(asked),
        "words": cross_validated(word_table(asked.texts), asked.text, asked.starts, asked.gold, asked.cluster, seed),
    }
    shares = {name: asked.shares(each) for name, each in scores.items()}
    fold = folds(asked.cluster, seed)
    learnt = {name: float(shares[name].mean()) for name in LEARNT}
    shares |= {name: believed(shares[name], 1 / asked.sizes, fold) for name in LEARNT}
    return [replace(each, as_learnt=learnt.get(each.name)) for each in _measured(asked, shares, seed)]


def believed(shares: Floats, chance: Floats, fold: Whole) -> Floats:
    """The shares that a learner gets who guesses in each fold unless it did better than that in the others."""
    found = shares.copy()
    for held in range(FOLDS):
        here = fold == held
        if here.any() and not (shares - chance)[~here].sum() > ROUNDING:
            found[here] = chance[here]
    return found


def shortcut_findings(found: Iterable[Shortcut]) -> list[Finding]:
    return [Finding("warning", "shortcut", f"{each}: {SHORTCUTS[each.name]}") for each in found if each.flagged]


def _position(asked: Offered, seed: int) -> Floats:
    """Of each option: how often its place was right in the other half, among questions with as many options."""
    half = (stream(seed, "halves of clusters").permutation(int(asked.cluster.max()) + 1) % 2)[asked.cluster]
    sizes, place = asked.sizes, np.arange(len(asked.text)) - np.repeat(asked.starts, asked.sizes)
    right = np.zeros((2, int(sizes.max()) + 1, int(sizes.max())))
    np.add.at(right, (half, sizes, asked.gold - asked.starts), 1)
    found: Floats = right[1 - np.repeat(half, sizes), np.repeat(sizes, sizes), place]
    return found


def _prior(asked: Offered) -> Floats:
    """Of each option: the share of its offers in other clusters in which it was right, and one offer at chance."""
    chance, cluster = (np.repeat(each, asked.sizes) for each in (1 / asked.sizes, asked.cluster))
    right = np.zeros(len(asked.text))
    right[asked.gold] = 1
    _, own = np.unique(asked.text * (int(cluster.max()) + 1) + cluster, return_inverse=True)

    def elsewhere(values: Floats) -> Floats:
        return added(asked.text, values, len(asked.texts))[asked.text] - added(own, values, len(own))[own]

    shares: Floats = np.divide(elsewhere(right) + chance, elsewhere(np.ones(len(right))) + 1)
    return shares


def _measured(asked: Offered, shares: dict[str, Floats], seed: int) -> list[Shortcut]:
    many, names = len(asked.starts), list(shares)
    index = pl.DataFrame(
        {"candidate": np.repeat(np.arange(len(names)), many), "cluster": np.tile(asked.cluster, len(names))}
    )
    rows = np.arange(len(index))
    at = placed(index, rows, np.zeros(len(index), np.int64))
    columns = {"right": exact(np.concatenate(list(shares.values()))), "asked": np.ones(len(index))}
    columns |= {"unparsed_asked": np.zeros(len(index)), "scored_asked": columns["asked"]}
    sums = cluster_sums(at, columns)
    (found,) = figured([GUESSED], sums, int(asked.cluster.max()) + 1, seed)
    chance = float((1 / asked.sizes).mean())
    return [
        Shortcut(
            names[int(candidate)], float(found.value[cell]), _known(found.low[cell]), _known(found.high[cell]), chance,
            int(found.n[cell]), int(found.clusters[cell]), str(found.method[cell]),
        )
        for cell, candidate in enumerate(sums.candidate)
    ]  # fmt: skip


def _known(value: float) -> float | None:
    return None if isnan(value) else float(value)
