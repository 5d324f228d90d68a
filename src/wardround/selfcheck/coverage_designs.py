"""Simulated marks with known truths, for interval coverage. A repeat is a candidate of one large study.

All truths are in closed form or by numerical integration, without any code of measuring.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import beta

from wardround.core.condition import Condition
from wardround.marking.marks import MARKS_SCHEMA
from wardround.selfcheck.planted import expected_c, majority_right

OPTIONS = 4
SIZES = (12, 20, 60, 200)  # clusters
SKILL = (7.0, 3.0)  # Beta distribution over questions of the probability of the right option
QUESTIONS, CLUSTER_SKILL = 4, (3.5, 1.5)  # questions of a correlated cluster, which share one probability
OFTEN, NEVER = 0.995, 0.06  # rare errors: this share of the cases is never right, the others nearly always
STATED = np.array([0.55, 0.65, 0.75, 0.85, 0.95])
MISCALIBRATIONS = (0.0, 0.05, 0.1)  # stated confidence minus the true probability
SURE = 0.9  # what a candidate with few errors always states
SAME = 0.7  # probability that a trial repeats the answer that the trials of its question share
GRADES = {"R": 0.8, "A": 0.6, "S": 0.4}
CHAIN = {"IQA": 0.8, "AL": 0.75, "LC": 0.7, "DD": 0.65, "SG": 0.6, "CD": 0.5}

Draw = Callable[[np.random.Generator, int, int, int], pl.DataFrame]  # repeats, clusters, trials


@dataclass(frozen=True)
class KnownTruth:
    """A known figure, and its class, whose limits its coverage has to meet."""

    measure: str
    value: float
    kind: str
    slice: str = "{}"


@dataclass(frozen=True)
class CoverageDesign:
    """One way of drawing marks, its numbers of trials, and its truths for each of them."""

    name: str
    draw: Draw
    truths: Callable[[int], list[KnownTruth]]
    trials: tuple[int, ...] = (1, 5)


def marks_of(right: NDArray[np.bool_], confidence: str = "none") -> pl.DataFrame:
    """The marks of all repeats x clusters x questions x trials; each cluster is a case."""
    axes = ("candidate", "case", "question", "trial")
    indices = (axis.ravel() for axis in np.indices(right.shape, dtype=np.int32))
    frame = pl.DataFrame({**dict(zip(axes, indices, strict=True)), "right": right.ravel()}).with_columns(
        cluster="case",
        condition=pl.lit(Condition(confidence=confidence).json),
        kind=pl.lit("choice"),
        gold=pl.lit(0),
        k=pl.lit(OPTIONS),
        option=pl.when("right").then(0).otherwise(1),
        outcome=pl.when("right").then(pl.lit("right")).otherwise(pl.lit("wrong")),
        parser=pl.lit("simulated"),
    )
    absent = {name: pl.lit(None) for name in MARKS_SCHEMA if name not in frame.columns}
    return frame.with_columns(**absent).select(pl.col(name).cast(kind) for name, kind in MARKS_SCHEMA.items())


def _votes(rng: np.random.Generator, repeats: int, clusters: int, trials: int) -> pl.DataFrame:
    """One question per cluster, trials drawn from its own probability; the wrong options are equally likely."""
    skill = rng.beta(*SKILL, size=(repeats, clusters, 1, 1))
    right = rng.random((repeats, clusters, 1, trials)) < skill
    wrong = rng.integers(1, OPTIONS, size=right.shape)
    marks = marks_of(right, "votes")
    return marks.with_columns(pl.Series("option", np.where(right, 0, wrong).ravel(), dtype=MARKS_SCHEMA["option"]))


def _truths_of_votes(trials: int) -> list[KnownTruth]:
    def over_questions(figure: Callable[[float], float]) -> float:
        return float(quad(lambda p: figure(p) * beta.pdf(p, *SKILL), 0, 1, limit=200)[0])

    def shares(p: float) -> list[float]:
        return [p, *[(1 - p) / (OPTIONS - 1)] * (OPTIONS - 1)]

    accuracy = over_questions(lambda p: p)
    truths = [KnownTruth("accuracy", accuracy, "smooth")]
    if trials == 1:
        return truths
    grid = np.linspace(0.0005, 0.9995, 60)
    c = np.polynomial.Polynomial.fit(grid, [expected_c(shares(p), trials) for p in grid], 12)
    majority = np.polynomial.Polynomial.fit(grid, [majority_right(shares(p), trials) for p in grid], 12)
    certainty = over_questions(c)
    return [
        *truths,
        KnownTruth("majority_accuracy", over_questions(majority), "boundary"),
        KnownTruth("confidence", certainty, "smooth"),
        KnownTruth("calibration_shift", certainty - accuracy, "smooth"),
        KnownTruth("worst@4", over_questions(lambda p: p**4), "smooth"),
    ]


def _correlated(rng: np.random.Generator, repeats: int, clusters: int, trials: int) -> pl.DataFrame:
    skill = rng.beta(*CLUSTER_SKILL, size=(repeats, clusters, 1, 1))
    return marks_of(rng.random((repeats, clusters, QUESTIONS, trials)) < skill)


def _truths_of_correlated(trials: int) -> list[KnownTruth]:
    return [KnownTruth("accuracy", CLUSTER_SKILL[0] / sum(CLUSTER_SKILL), "smooth")]


def _rare(rng: np.random.Generator, repeats: int, clusters: int, trials: int) -> pl.DataFrame:
    """Some cases are wrong in all trials, so that trials tell little; one answer in a hundred is unparsed."""
    skill = np.where(rng.random((repeats, clusters, 1, 1)) < NEVER, 0.0, OFTEN)
    right = rng.random((repeats, clusters, 1, trials)) < skill
    unparsed = pl.Series("unparsed", rng.random(right.shape).ravel() < 0.01)
    return marks_of(right).with_columns(
        outcome=pl.when(unparsed).then(pl.lit("unparsed")).otherwise("outcome"),
        option=pl.when(unparsed).then(None).otherwise("option"),
    )


def _truths_of_rare(trials: int) -> list[KnownTruth]:
    accuracy = (1 - NEVER) * OFTEN * 0.99
    return [KnownTruth("accuracy", accuracy, "boundary"), KnownTruth("unparsed", 0.01, "boundary")]


def _stated(
    rng: np.random.Generator, repeats: int, clusters: int, trials: int, *, miscalibration: float
) -> pl.DataFrame:
    """One question per cluster; its trials state the same confidence and mostly give the same answer."""
    stated = np.repeat(rng.choice(STATED, size=(repeats, clusters, 1, 1)), trials, axis=3)
    is_shared = rng.random(stated.shape) < SAME
    threshold = np.where(is_shared, rng.random((repeats, clusters, 1, 1)), rng.random(stated.shape))
    marks = marks_of(threshold < stated - miscalibration, "verbal")
    return marks.with_columns(pl.Series("confidence", stated.ravel()))


def _truths_of_stated(trials: int, *, miscalibration: float) -> list[KnownTruth]:
    true = STATED - miscalibration
    above = np.greater.outer(STATED, STATED) + 0.5 * np.equal.outer(STATED, STATED)
    pairs = np.outer(true, 1 - true)
    brier = true * (1 - STATED) ** 2 + (1 - true) * STATED**2
    return [
        KnownTruth("confidence_stated", float(STATED.mean()), "smooth"),
        KnownTruth("calibration_shift_stated", miscalibration, "smooth"),
        KnownTruth("brier_stated", float(brier.mean()), "smooth"),
        KnownTruth("auroc_stated", float((above * pairs).sum() / pairs.sum()), "biased"),
        KnownTruth("aurc_stated", _area(1 - true), "biased"),
        KnownTruth("ece_stated", miscalibration, "biased"),
        KnownTruth("ece_debiased_stated", miscalibration, "biased"),
    ]


def _area(wrong: NDArray[np.float64]) -> float:
    """The mean over all coverages of the share wrong, where all confidences are as frequent; the highest is last.

    At coverages from a to b the errors are E + w (x - a), so the risk integrates to (E - w a) log(b / a) + w (b - a).
    """
    area, errors, step = 0.0, 0.0, 1 / len(wrong)
    for place, own in enumerate(wrong[::-1].tolist()):
        before = place * step
        area += (errors - own * before) * math.log((place + 1) / place) if place else 0.0
        area += own * step
        errors += own * step
    return area


def _sure(rng: np.random.Generator, repeats: int, clusters: int, trials: int) -> pl.DataFrame:
    """Right as often as it states; the trials of a cluster are alike, so that few clusters hold the errors."""
    right = np.repeat(rng.random((repeats, clusters, 1, 1)) < SURE, trials, axis=3)
    return marks_of(right, "verbal").with_columns(confidence=pl.lit(SURE))


def _truths_of_sure(trials: int) -> list[KnownTruth]:
    return [
        KnownTruth("calibration_shift_stated", 0.0, "boundary"),
        KnownTruth("brier_stated", SURE * (1 - SURE), "boundary"),
        KnownTruth("ece_stated", 0.0, "biased"),
        KnownTruth("ece_debiased_stated", 0.0, "biased"),
    ]


def _graded(rng: np.random.Generator, repeats: int, clusters: int, trials: int) -> pl.DataFrame:
    right = rng.random((repeats, clusters, len(GRADES), trials)) < np.array([*GRADES.values()])[:, None]
    grades = np.broadcast_to(np.array([*GRADES])[:, None], right.shape)
    return marks_of(right).with_columns(pl.Series("grade", grades.ravel()))


def _truths_of_grades(trials: int) -> list[KnownTruth]:
    mean = sum(GRADES.values()) / len(GRADES)
    return [
        KnownTruth("esa", GRADES["S"], "smooth", '{"grade":"S"}'),
        KnownTruth("esa", mean, "smooth", '{"grade":"mean"}'),
    ]


def _chains(rng: np.random.Generator, repeats: int, clusters: int, trials: int) -> pl.DataFrame:
    right = rng.random((repeats, clusters, len(CHAIN), trials)) < np.array([*CHAIN.values()])[:, None]
    stages = np.broadcast_to(np.array([*CHAIN])[:, None], right.shape)
    chain = pl.concat_str(pl.lit("chain-"), "case").alias("chain")
    return marks_of(right).with_columns(pl.Series("stage", stages.ravel()), chain)


def _truths_of_chains(trials: int) -> list[KnownTruth]:
    mean = sum(CHAIN.values()) / len(CHAIN)
    ccr = math.prod(CHAIN.values())
    return [KnownTruth("swa", mean, "smooth", '{"stage":"mean"}'), KnownTruth("ccr", ccr, "boundary")]


DESIGNS = (
    CoverageDesign("one question per cluster", _votes, _truths_of_votes),
    CoverageDesign("correlated clusters", _correlated, _truths_of_correlated),
    CoverageDesign("rare errors", _rare, _truths_of_rare),
    *(
        CoverageDesign(
            f"stated confidence, {miscalibration:g} too high",
            partial(_stated, miscalibration=miscalibration),
            partial(_truths_of_stated, miscalibration=miscalibration),
        )
        for miscalibration in MISCALIBRATIONS
    ),
    CoverageDesign("stated confidence, few errors", _sure, _truths_of_sure),
    CoverageDesign("grades", _graded, _truths_of_grades, trials=(1,)),
    CoverageDesign("chains", _chains, _truths_of_chains, trials=(1,)),
)
