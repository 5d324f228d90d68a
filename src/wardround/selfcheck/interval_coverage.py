"""Coverage: how often 95% intervals hold a truth that is known, by class of measure.

Each repeat is a candidate of one large study: its answers are drawn anew from the same known truth, about the
same number of clusters. All truths are in closed form or by numerical integration; nothing of measuring is used.
"""

from __future__ import annotations

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
from wardround.marking.marks import SCHEMA
from wardround.measuring import measure
from wardround.selfcheck.planted import expected_c, majority_right

REPEATS, CLUSTERS, TRIALS, OPTIONS = 2000, 200, 10, 4
TOGETHER = 100  # repeats measured at once
SKILL = (7.0, 3.0)  # how likely the right option is varies between questions by this Beta distribution
STATED = np.array([0.55, 0.65, 0.75, 0.85, 0.95])
TOO_SURE = 0.1  # stated confidence is above the truth by this
GRADES = {"R": 0.8, "A": 0.6, "S": 0.4}
CHAIN = (0.8, 0.75, 0.7, 0.65, 0.6, 0.5)
CLASSES = {"smooth": (0.93, 0.97), "boundary": (0.93, 1.0), "biased": (0.0, 1.0)}


@dataclass(frozen=True)
class Truth:
    """A figure that is known, and the class whose bar its coverage has to meet."""

    measure: str
    value: float
    kind: str
    slice: str = "{}"
    version: str = ""


@dataclass(frozen=True)
class Covered:
    """How often the interval held the truth."""

    truth: Truth
    repeats: int
    coverage: float

    @property
    def met(self) -> bool:
        low, high = CLASSES[self.truth.kind]
        noise = 3 * math.sqrt(0.95 * 0.05 / max(1, self.repeats)) if self.repeats < REPEATS else 0.0
        return low - noise <= self.coverage <= high + noise


def coverage(repeats: int = REPEATS, seed: int = 0, note: Callable[[str], None] = print) -> list[Covered]:
    """The coverage of every truth, over so many repeats of 200 clusters."""
    random = np.random.default_rng(seed)
    rows: list[Covered] = []
    for name, (draw, trials, truths) in {
        "votes": (_votes, TRIALS, _truths_of_votes()),
        "stated confidence": (_verbal, 1, _truths_of_words()),
        "grades": (_graded, 1, _truths_of_grades()),
        "chains": (_chains, 1, _truths_of_chains()),
        "rare outcomes": (_rare, 1, _truths_of_rare()),
    }.items():
        note(f"{name}: {repeats:,} repeats")
        held = [0] * len(truths)
        for first in range(0, repeats, TOGETHER):
            many = min(TOGETHER, repeats - first)
            found = measure(draw(random, many), _study(many, trials, seed=first))
            held = [before + _held(truth, found) for before, truth in zip(held, truths, strict=True)]
        rows += [Covered(truth, repeats, count / repeats) for truth, count in zip(truths, held, strict=True)]
    return rows


def _held(truth: Truth, found: pl.DataFrame) -> int:
    """In how many repeats the interval holds the truth."""
    lines = found.filter(
        pl.col("measure") == truth.measure,
        pl.col("slice") == truth.slice,
        pl.col("version").fill_null("").str.starts_with(truth.version),
    ).unique("candidate", keep="first", maintain_order=True)
    return int(((lines["low"] <= truth.value) & (truth.value <= lines["high"])).fill_null(False).sum())


def _study(repeats: int, trials: int, seed: int) -> Study:
    candidates = [{"name": str(n), "provider": "simulated", "revision": str(n)} for n in range(repeats)]
    none = {"none": {"measure": "accuracy", "between": "prompt"}}
    told = {"name": "coverage", "cases": "none", "trials": trials, "seed": seed, "comparisons": none}
    return Study.model_validate(told | {"candidates": candidates})


def _marks(
    repeats: int, questions: int, trials: int, right: NDArray[np.bool_], confidence: str = "none"
) -> pl.DataFrame:
    """Marks of all repeats x clusters x questions x trials; `right` says which are."""
    shape = (repeats, CLUSTERS, questions, trials)
    repeat, cluster, question, trial = (axis.ravel() for axis in np.indices(shape, dtype=np.int32))
    frame = pl.DataFrame(
        {
            "candidate": repeat,
            "case": cluster,
            "question": question,
            "trial": trial,
            "outcome": right.ravel().astype(np.int8),
        }
    ).with_columns(
        pl.col("candidate").cast(pl.String),
        pl.col("case").cast(pl.String),
        pl.col("case").cast(pl.String).alias("cluster"),
        pl.col("question").cast(pl.String),
        pl.lit(Condition(confidence=confidence).json).alias("condition"),
        pl.lit("choice").alias("kind"),
        pl.lit(0).alias("gold"),
        pl.lit(OPTIONS).alias("k"),
        pl.when(pl.col("outcome") == 1).then(0).otherwise(1).alias("option"),
        pl.when(pl.col("outcome") == 1).then(pl.lit("right")).otherwise(pl.lit("wrong")).alias("outcome"),
        pl.lit("simulated").alias("parser"),
    )
    absent = [pl.lit(None, dtype=kind).alias(name) for name, kind in SCHEMA.items() if name not in frame.columns]
    return frame.with_columns(absent).select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())


def _votes(random: np.random.Generator, repeats: int) -> pl.DataFrame:
    """Ten votes a question; the wrong options share what the right one leaves."""
    skill = random.beta(*SKILL, size=(repeats, CLUSTERS, 1, 1))
    right = random.random((repeats, CLUSTERS, 1, TRIALS)) < skill
    wrong = random.integers(1, OPTIONS, size=right.shape)
    marks = _marks(repeats, 1, TRIALS, right, "votes")
    return marks.with_columns(pl.Series("option", np.where(right, 0, wrong).ravel(), dtype=SCHEMA["option"]))


def _truths_of_votes() -> list[Truth]:
    def over_questions(figure: Callable[[float], float]) -> float:
        return float(quad(lambda p: figure(p) * beta.pdf(p, *SKILL), 0, 1, limit=200)[0])

    def shares(p: float) -> list[float]:
        return [p, *[(1 - p) / (OPTIONS - 1)] * (OPTIONS - 1)]

    grid = np.linspace(0.0005, 0.9995, 60)
    c = np.polynomial.Polynomial.fit(grid, [expected_c(shares(p), TRIALS) for p in grid], 12)
    most = np.polynomial.Polynomial.fit(grid, [majority_right(shares(p), TRIALS) for p in grid], 12)
    accuracy, certainty = over_questions(lambda p: p), over_questions(c)
    return [
        Truth("accuracy", accuracy, "smooth"),
        Truth("majority_accuracy", over_questions(most), "boundary", version="T="),
        Truth("confidence", certainty, "smooth", version="T="),
        Truth("calibration_shift", certainty - accuracy, "smooth", version="T="),
        Truth("worst@4", over_questions(lambda p: p**4), "smooth"),
    ]


def _verbal(random: np.random.Generator, repeats: int) -> pl.DataFrame:
    stated = random.choice(STATED, size=(repeats, CLUSTERS, 1, 1))
    right = random.random(stated.shape) < stated - TOO_SURE
    return _marks(repeats, 1, 1, right, "verbal").with_columns(pl.Series("confidence", stated.ravel()))


def _truths_of_words() -> list[Truth]:
    true = STATED - TOO_SURE
    above = np.greater.outer(STATED, STATED) + 0.5 * np.equal.outer(STATED, STATED)
    pairs = np.outer(true, 1 - true)
    return [
        Truth("confidence", float(STATED.mean()), "smooth", version="verbal"),
        Truth("calibration_shift", TOO_SURE, "smooth", version="verbal"),
        Truth("brier", float((true * (1 - STATED) ** 2 + (1 - true) * STATED**2).mean()), "smooth", version="verbal"),
        Truth("auroc", float((above * pairs).sum() / pairs.sum()), "biased", version="verbal"),
        Truth("ece", TOO_SURE, "biased", version="plug-in, "),
        Truth("ece", TOO_SURE, "biased", version="debiased"),
    ]


def _graded(random: np.random.Generator, repeats: int) -> pl.DataFrame:
    grades = np.array(list(GRADES))
    right = random.random((repeats, CLUSTERS, len(grades), 1)) < np.array(list(GRADES.values()))[:, None]
    return _marks(repeats, len(grades), 1, right).with_columns(
        pl.Series("grade", np.broadcast_to(grades[:, None], right.shape).ravel())
    )


def _truths_of_grades() -> list[Truth]:
    mean = sum(GRADES.values()) / len(GRADES)
    return [Truth("esa", GRADES["S"], "smooth", '{"grade":"S"}'), Truth("esa", mean, "smooth", '{"grade":"mean"}')]


def _chains(random: np.random.Generator, repeats: int) -> pl.DataFrame:
    stages = np.array(["IQA", "AL", "LC", "DD", "SG", "CD"])
    right = random.random((repeats, CLUSTERS, len(stages), 1)) < np.array(CHAIN)[:, None]
    return _marks(repeats, len(stages), 1, right).with_columns(
        pl.Series("stage", np.broadcast_to(stages[:, None], right.shape).ravel()),
        pl.concat_str(pl.lit("chain-"), "case").alias("chain"),
    )


def _truths_of_chains() -> list[Truth]:
    mean = sum(CHAIN) / len(CHAIN)
    return [Truth("swa", mean, "smooth", '{"stage":"mean"}'), Truth("ccr", math.prod(CHAIN), "boundary")]


def _rare(random: np.random.Generator, repeats: int) -> pl.DataFrame:
    """Two wrong of a hundred, and one of a hundred that cannot be read."""
    right = random.random((repeats, CLUSTERS, 1, 1)) < 0.98
    unread = random.random(right.shape).ravel() < 0.01
    marks = _marks(repeats, 1, 1, right)
    lost = pl.Series("lost", unread)
    return marks.with_columns(
        pl.when(lost).then(pl.lit("unparsed")).otherwise("outcome").alias("outcome"),
        pl.when(lost).then(None).otherwise("option").alias("option"),
    )


def _truths_of_rare() -> list[Truth]:
    return [Truth("accuracy", 0.98 * 0.99, "boundary"), Truth("unparsed", 0.01, "boundary")]
