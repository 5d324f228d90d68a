"""Pairs of questions of a case: how often the options of one tell the answer of the other, compared with chance.

Questions of a case are about the same patient, so what is offered in one can narrow down another: a chain that offers
as many grades as the disease has tells the disease. Questions are paired by their stage, task, skill or id; those of
one chain apart from other questions of the case, because whoever answers a chain comes to all of it.

The guessers know the options of the other question and nothing else of it (RULES). `family` and `fit` learn from other
clusters how much more often these options are there if an option is right than if it is wrong, among pairs that show
the same modalities: that an image is a tomogram, nobody needs options to see. What is always there tells nothing,
so an option that is merely right more often is no evidence: that is the shortcut `prior`.

A pair is flagged if a guesser is right MARGIN times as often as by chance (as if one of four options were out), in more
questions than chance would explain (one-sided t over clusters, p adjusted by Holm over all pairs and guessers, below
LEVEL). `fit` is measured but
never flagged: questions about one patient must fit together, and the right option of each is among its options. All
this is our choice.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from wardround.building.audit.bag_of_words import assign_folds
from wardround.building.audit.finding import Finding
from wardround.building.audit.option_evidence import evidence_for_options, option_families
from wardround.building.audit.shortcuts import drop_useless_learning
from wardround.building.audit.shown_fields import clean_questions
from wardround.core.case import Case, Question
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Integers
from wardround.measuring.people.against_models import holm
from wardround.reporting.numbers import percent

RULES = {
    "shared": "the option that the other question offers, too",
    "unshared": "the option that the other question does not offer",
    "family": "the option that is right elsewhere beside options of the same family (those that are offered together), "
    "or beside as many",
    "fit": "the option that is right elsewhere beside single ones of these options",
}
NEVER_FLAGGED = "fit"
MARGIN = 4 / 3
LEVEL = 0.025
MIN_CLUSTERS = 10


class PairName(NamedTuple):
    """The options of `offered` are read to answer `asked`."""

    offered: str
    asked: str
    in_chain: bool

    def __str__(self) -> str:
        return f"options of {self.offered} tell {self.asked}{'' if self.in_chain else ' (not of one chain)'}"


@dataclass(frozen=True)
class QuestionPair:
    """The accuracy of one guesser over all questions of a pair."""

    name: PairName
    rule: str
    accuracy: float
    low: float
    high: float
    chance: float
    p_adjusted: float
    questions: int
    clusters: int

    @property
    def flagged(self) -> bool:
        return self.rule != NEVER_FLAGGED and self.accuracy >= MARGIN * self.chance and self.p_adjusted < LEVEL

    def __str__(self) -> str:
        interval = f"{percent(self.low)} to {percent(self.high)}"
        return f"{self.name}: {percent(self.accuracy)}% right ({interval}; chance {percent(self.chance)})"

    def to_dict(self) -> dict[str, Any]:
        values = asdict(self) | {"flagged": self.flagged}
        return self.name._asdict() | {key: value for key, value in values.items() if key != "name"}


@dataclass(frozen=True)
class PairedQuestions:
    """All choice questions in one sequence, the texts of their options by number, and the pairs by name."""

    names: Integers  # of each question: the number of its name
    cluster: Integers
    size: Integers
    start: Integers  # of each question: the index of its first option
    gold: Integers  # of each question: the index of its answer among all options
    text: Integers  # of each option
    shown: Integers  # of each question: the number of the modalities that its images have
    pairs: dict[PairName, list[tuple[int, int]]]  # (offered, asked)


def question_pair_findings(pairs: Iterable[QuestionPair]) -> Iterator[Finding]:
    """One warning for each pair that is flagged, by its best guesser."""
    best: dict[PairName, QuestionPair] = {}
    for pair in pairs:
        if pair.flagged and (pair.name not in best or pair.accuracy > best[pair.name].accuracy):
            best[pair.name] = pair
    for pair in best.values():
        yield Finding("warning", "other_question", f"{pair}: {RULES[pair.rule]}")


def measure_question_pairs(cases: Iterable[Case], seed: int = 0) -> list[QuestionPair]:
    """All guessers over all pairs that enough clusters have, in the order of the names."""
    questions = collect_pairs(cases)
    if not questions.pairs:
        return []
    families = option_families(questions.names, questions.size, questions.text)
    guesses = [
        _Guesses(name, rule, questions.cluster[asked], share, 1 / questions.size[asked])
        for name in sorted(questions.pairs)
        for offered, asked in [np.array(questions.pairs[name]).T]
        if len(np.unique(questions.cluster[asked])) >= MIN_CLUSTERS
        for rule, share in _shares(questions, families, offered, asked, seed).items()
    ]
    tests = [guess.test() for guess in guesses]
    adjusted = holm(np.array([test.p for test in tests]))
    return [
        QuestionPair(
            name=guess.name,
            rule=guess.rule,
            accuracy=float(guess.share.mean()),
            low=test.low,
            high=test.high,
            chance=float(guess.chance.mean()),
            p_adjusted=float(p),
            questions=len(guess.share),
            clusters=test.clusters,
        )
        for guess, test, p in zip(guesses, tests, adjusted, strict=True)
    ]


def collect_pairs(cases: Iterable[Case]) -> PairedQuestions:
    """The choice questions of a set. Of several of one name beside a question, the first in its case counts."""
    clusters: dict[str, int] = {}
    texts: dict[str, int] = {}
    numbers: dict[str, int] = {}
    modalities: dict[tuple[str, ...], int] = {}
    names, cluster, size, gold, text, shown = (list[int]() for _ in range(6))
    pairs: dict[PairName, list[tuple[int, int]]] = {}
    for case in cases:
        questions = [question for question in clean_questions(case) if isinstance(question.gold, int)]
        for name, offered_place, asked_place in _pairs_of_case(questions):
            pairs.setdefault(name, []).append((len(size) + offered_place, len(size) + asked_place))
        for question in questions:
            names.append(numbers.setdefault(_name(question), len(numbers)))
            cluster.append(clusters.setdefault(case.cluster_id, len(clusters)))
            gold.append(len(text) + int(question.gold))
            size.append(len(question.choices))
            shown.append(modalities.setdefault(_modalities(case, question), len(modalities)))
            text += [texts.setdefault(option.strip(), len(texts)) for option in question.choices]
    sizes = np.array(size, dtype=np.int64)
    return PairedQuestions(
        np.array(names),
        np.array(cluster),
        sizes,
        np.cumsum(sizes) - sizes,
        np.array(gold),
        np.array(text),
        np.array(shown),
        pairs,
    )


def _pairs_of_case(questions: Sequence[Question]) -> Iterator[tuple[PairName, int, int]]:
    """The pairs of a case with the places of both questions."""
    places_by_name: dict[str, list[int]] = {}
    places_in_chain: dict[tuple[str, str | None], list[int]] = {}
    for place, question in enumerate(questions):
        places_by_name.setdefault(_name(question), []).append(place)
        places_in_chain.setdefault((_name(question), question.chain), []).append(place)
    for asked_place, asked in enumerate(questions):
        for name, places in places_by_name.items():
            own_chain = [] if asked.chain is None else places_in_chain.get((name, asked.chain), [])
            elsewhere = (place for place in places if asked.chain is None or questions[place].chain != asked.chain)
            for in_chain, candidates in ((True, iter(own_chain)), (False, elsewhere)):
                if (first := next((place for place in candidates if place != asked_place), None)) is not None:
                    yield PairName(name, _name(asked), in_chain), first, asked_place


def _name(question: Question) -> str:
    """What kind of question it is; the ids of the questions of one kind differ in their number."""
    return question.stage or question.task or question.skill or re.sub(r"[-_ ]?\d+\w?$", "", question.id) or "question"


def _modalities(case: Case, question: Question) -> tuple[str, ...]:
    numbers = range(len(case.images)) if question.images is None else question.images
    return tuple(sorted({case.images[number].modality or "" for number in numbers}))


def _shares(
    questions: PairedQuestions, families: Integers, offered: Integers, asked: Integers, seed: int
) -> dict[str, Floats]:
    """For each pair how often each guesser is right."""
    sizes = questions.size[asked]
    rows = _ranges(questions.start[asked], sizes)  # each option of each question asked
    starts = np.cumsum(sizes) - sizes
    pair = np.repeat(np.arange(len(asked)), sizes)
    other = offered[pair]
    option, is_right, cluster = (
        questions.text[rows],
        rows == questions.gold[asked][pair],
        questions.cluster[asked][pair],
    )
    row = np.repeat(np.arange(len(rows)), questions.size[other])  # of each option that the other question offers
    companion = questions.text[_ranges(questions.start[other], questions.size[other])]
    is_shared = np.bincount(row, option[row] == companion, len(rows))
    family_or_count = np.concatenate([families[other], int(families.max()) + 1 + questions.size[other]])
    both = np.tile(np.arange(len(rows)), 2)
    shown, kinds = questions.shown, int(questions.shown.max()) + 1
    option_there = (option * kinds + shown[asked][pair]) * kinds + shown[other]

    def share(scores: NDArray[Any]) -> Floats:
        best = scores == np.repeat(np.maximum.reduceat(scores, starts), sizes)
        shares: Floats = np.add.reduceat(best & is_right, starts) / np.add.reduceat(best.astype(np.int64), starts)
        return shares

    fold, chance = assign_folds(questions.cluster[asked], seed), 1 / sizes
    learnt = {
        "family": share(evidence_for_options(both, family_or_count, option_there, is_right, cluster)),
        "fit": share(evidence_for_options(row, companion, option_there, is_right, cluster)),
    }
    useful = {name: drop_useless_learning(shares, chance, fold) for name, shares in learnt.items()}
    return {"shared": share(is_shared), "unshared": share(-is_shared), **useful}


def _ranges(starts: Integers, sizes: Integers) -> Integers:
    """The numbers from each start on, as many as its size, one after another."""
    before = np.cumsum(sizes) - sizes
    ranges: Integers = np.arange(int(sizes.sum())) + np.repeat(starts - before, sizes)
    return ranges


class _Test(NamedTuple):
    p: float
    low: float
    high: float
    clusters: int


@dataclass(frozen=True)
class _Guesses:
    """One guesser on one pair: how often it is right in each question, and how often chance is."""

    name: PairName
    rule: str
    cluster: Integers
    share: Floats
    chance: Floats

    def test(self) -> _Test:
        """Whether it is right more often than chance, and the 95% interval of its accuracy."""
        _, cluster = np.unique(self.cluster, return_inverse=True)
        freedom, gain, mean = int(cluster.max()), self.share - self.chance, float(self.share.mean())
        above, error = float(gain.mean()), _standard_error(gain, cluster)
        half = float(stdtrit(freedom, 0.975)) * _standard_error(self.share, cluster)
        p = float(stdtr(freedom, -above / error)) if error > 0 else float(above <= 0)
        return _Test(p, max(0.0, mean - half), min(1.0, mean + half), freedom + 1)


def _standard_error(values: Floats, cluster: NDArray[np.int64]) -> float:
    """Of the mean of values that belong to clusters."""
    deviations = np.bincount(cluster, values - values.mean())
    clusters = len(deviations)
    return float(np.sqrt(clusters / (clusters - 1) * (deviations**2).sum()) / len(values))
