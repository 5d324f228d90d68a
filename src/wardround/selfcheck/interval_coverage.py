"""Interval coverage: the share of 95% intervals that contain a known truth, by class of measure.

Each repeat is a candidate of one large study, whose answers are sampled from the same known truth on the same number
of clusters. All truths are in closed form or by numerical integration, without any code of measuring.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import beta

from wardround.core.condition import Condition
from wardround.core.study import Study
from wardround.marking.marks import MARKS_SCHEMA
from wardround.measuring import measure
from wardround.selfcheck.planted import expected_c, majority_right

REPEATS, CLUSTERS, TRIALS, OPTIONS = 2000, 200, 10, 4
BATCH = 100  # repeats measured at once
SKILL = (7.0, 3.0)  # Beta distribution over questions of the probability of the right option
STATED = np.array([0.55, 0.65, 0.75, 0.85, 0.95])
OVERCONFIDENCE = 0.1  # stated confidence minus the true probability
GRADES = {"R": 0.8, "A": 0.6, "S": 0.4}
CHAIN = (0.8, 0.75, 0.7, 0.65, 0.6, 0.5)
COVERAGE_LIMITS = {"smooth": (0.93, 0.97), "boundary": (0.93, 1.0), "biased": (0.0, 1.0)}


@dataclass(frozen=True)
class KnownTruth:
    """A known figure, and its class, whose limits its coverage has to meet."""

    measure: str
    value: float
    kind: str
    slice: str = "{}"


@dataclass(frozen=True)
class TruthCoverage:
    """The share of repeats whose interval contains the truth."""

    truth: KnownTruth
    repeats: int
    coverage: float

    @property
    def is_met(self) -> bool:
        low, high = COVERAGE_LIMITS[self.truth.kind]
        noise = 3 * math.sqrt(0.95 * 0.05 / max(1, self.repeats)) if self.repeats < REPEATS else 0.0
        return low - noise <= self.coverage <= high + noise


def measure_coverage(repeats: int = REPEATS, seed: int = 0, note: Callable[[str], None] = print) -> list[TruthCoverage]:
    """The coverage of every truth over this many repeats of 200 clusters."""
    rng = np.random.default_rng(seed)
    rows: list[TruthCoverage] = []
    for name, (draw, trials, truths) in {
        "votes": (_votes, TRIALS, _truths_of_votes()),
        "stated confidence": (_verbal, 1, _truths_of_stated()),
        "grades": (_graded, 1, _truths_of_grades()),
        "chains": (_chains, 1, _truths_of_chains()),
        "rare outcomes": (_rare, 1, _truths_of_rare()),
    }.items():
        note(f"{name}: {repeats:,} repeats")
        counts = [0] * len(truths)
        for first in range(0, repeats, BATCH):
            size = min(BATCH, repeats - first)
            measures = measure(draw(rng, size), _study(size, trials, seed=first))
            counts = [count + _count_covered(truth, measures) for count, truth in zip(counts, truths, strict=True)]
        rows += [TruthCoverage(truth, repeats, count / repeats) for truth, count in zip(truths, counts, strict=True)]
    return rows


def _count_covered(truth: KnownTruth, measures: pl.DataFrame) -> int:
    """The number of repeats whose interval contains the truth."""
    lines = measures.filter(measure=truth.measure, slice=truth.slice)
    return int(((lines["low"] <= truth.value) & (truth.value <= lines["high"])).fill_null(False).sum())


def _study(repeats: int, trials: int, seed: int) -> Study:
    candidates = [{"name": str(n), "provider": "simulated", "revision": str(n)} for n in range(repeats)]
    no_comparison = {"none": {"measure": "accuracy", "between": "prompt"}}
    fields = {"name": "coverage", "cases": "none", "trials": trials, "seed": seed, "comparisons": no_comparison}
    return Study.model_validate(fields | {"candidates": candidates})


def _marks(right: NDArray[np.bool_], confidence: str = "none") -> pl.DataFrame:
    """The marks of all repeats x clusters x questions x trials."""
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


def _votes(rng: np.random.Generator, repeats: int) -> pl.DataFrame:
    """Ten votes a question; the wrong options are equally likely."""
    skill = rng.beta(*SKILL, size=(repeats, CLUSTERS, 1, 1))
    right = rng.random((repeats, CLUSTERS, 1, TRIALS)) < skill
    wrong = rng.integers(1, OPTIONS, size=right.shape)
    marks = _marks(right, "votes")
    return marks.with_columns(pl.Series("option", np.where(right, 0, wrong).ravel(), dtype=MARKS_SCHEMA["option"]))


def _truths_of_votes() -> list[KnownTruth]:
    def over_questions(figure: Callable[[float], float]) -> float:
        return float(quad(lambda p: figure(p) * beta.pdf(p, *SKILL), 0, 1, limit=200)[0])

    def shares(p: float) -> list[float]:
        return [p, *[(1 - p) / (OPTIONS - 1)] * (OPTIONS - 1)]

    grid = np.linspace(0.0005, 0.9995, 60)
    c = np.polynomial.Polynomial.fit(grid, [expected_c(shares(p), TRIALS) for p in grid], 12)
    majority = np.polynomial.Polynomial.fit(grid, [majority_right(shares(p), TRIALS) for p in grid], 12)
    accuracy, certainty = over_questions(lambda p: p), over_questions(c)
    return [
        KnownTruth("accuracy", accuracy, "smooth"),
        KnownTruth("majority_accuracy", over_questions(majority), "boundary"),
        KnownTruth("confidence", certainty, "smooth"),
        KnownTruth("calibration_shift", certainty - accuracy, "smooth"),
        KnownTruth("worst@4", over_questions(lambda p: p**4), "smooth"),
    ]


def _verbal(rng: np.random.Generator, repeats: int) -> pl.DataFrame:
    stated = rng.choice(STATED, size=(repeats, CLUSTERS, 1, 1))
    right = rng.random(stated.shape) < stated - OVERCONFIDENCE
    return _marks(right, "verbal").with_columns(pl.Series("confidence", stated.ravel()))


def _truths_of_stated() -> list[KnownTruth]:
    true = STATED - OVERCONFIDENCE
    above = np.greater.outer(STATED, STATED) + 0.5 * np.equal.outer(STATED, STATED)
    pairs = np.outer(true, 1 - true)
    brier = true * (1 - STATED) ** 2 + (1 - true) * STATED**2
    return [
        KnownTruth("confidence_stated", float(STATED.mean()), "smooth"),
        KnownTruth("calibration_shift_stated", OVERCONFIDENCE, "smooth"),
        KnownTruth("brier_stated", float(brier.mean()), "smooth"),
        KnownTruth("auroc_stated", float((above * pairs).sum() / pairs.sum()), "biased"),
        KnownTruth("ece_stated", OVERCONFIDENCE, "biased"),
        KnownTruth("ece_debiased_stated", OVERCONFIDENCE, "biased"),
    ]


def _graded(rng: np.random.Generator, repeats: int) -> pl.DataFrame:
    grades = np.array(list(GRADES))
    right = rng.random((repeats, CLUSTERS, len(grades), 1)) < np.array(list(GRADES.values()))[:, None]
    return _marks(right).with_columns(pl.Series("grade", np.broadcast_to(grades[:, None], right.shape).ravel()))


def _truths_of_grades() -> list[KnownTruth]:
    mean = sum(GRADES.values()) / len(GRADES)
    return [
        KnownTruth("esa", GRADES["S"], "smooth", '{"grade":"S"}'),
        KnownTruth("esa", mean, "smooth", '{"grade":"mean"}'),
    ]


def _chains(rng: np.random.Generator, repeats: int) -> pl.DataFrame:
    stages = np.array(["IQA", "AL", "LC", "DD", "SG", "CD"])
    right = rng.random((repeats, CLUSTERS, len(stages), 1)) < np.array(CHAIN)[:, None]
    return _marks(right).with_columns(
        pl.Series("stage", np.broadcast_to(stages[:, None], right.shape).ravel()),
        pl.concat_str(pl.lit("chain-"), "case").alias("chain"),
    )


def _truths_of_chains() -> list[KnownTruth]:
    mean = sum(CHAIN) / len(CHAIN)
    return [KnownTruth("swa", mean, "smooth", '{"stage":"mean"}'), KnownTruth("ccr", math.prod(CHAIN), "boundary")]


def _rare(rng: np.random.Generator, repeats: int) -> pl.DataFrame:
    """Two percent wrong, and one percent unparsed."""
    right = rng.random((repeats, CLUSTERS, 1, 1)) < 0.98
    is_unparsed = rng.random(right.shape).ravel() < 0.01
    unparsed = pl.Series("unparsed", is_unparsed)
    return _marks(right).with_columns(
        outcome=pl.when(unparsed).then(pl.lit("unparsed")).otherwise("outcome"),
        option=pl.when(unparsed).then(None).otherwise("option"),
    )


def _truths_of_rare() -> list[KnownTruth]:
    return [KnownTruth("accuracy", 0.98 * 0.99, "boundary"), KnownTruth("unparsed", 0.01, "boundary")]
