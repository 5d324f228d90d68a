"""Confidence of people: its mean, its distance from accuracy, ECE, Brier score and UAS.

Nobody answers enough questions for bins of their own, so ECE is over the answers of all, each person with the same
weight. ECE itself is biased upward and has no interval. `ece_debiased` subtracts from each bin what noise adds,
with the variance over people and cases; its interval is that of the gaps, each with the sign of its bin.
"""

from collections.abc import Callable
from math import pi, sqrt

import numpy as np
import polars as pl

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import NO_INTERVAL
from wardround.measuring.engine.measure import STATED, measure_name
from wardround.measuring.engine.sums import Integers
from wardround.measuring.measures.confidence import (
    BINS,
    UAS,
    confidence_bins,
    mean_importance,
    uas_score,
    uas_weights,
)
from wardround.measuring.measures.formulas import folded_mean
from wardround.measuring.people.variance import PeopleEstimate, mean_over_people, numbered, student_interval

SHARE, SIGNED = (0.0, 1.0), (-1.0, 1.0)


def confidence_estimates(marks: pl.DataFrame) -> list[PeopleEstimate]:
    """Over answers that state a confidence: its mean, confidence minus accuracy, ECE and Brier score."""
    person, cluster = numbered(marks)
    stated, right = marks["confidence"].to_numpy(), marks["value"].to_numpy()

    def mean(measure: str, value: Floats, bounds: tuple[float, float]) -> PeopleEstimate:
        over_people = mean_over_people(person, cluster, value)
        low, high, method = student_interval(over_people, bounds)
        name = measure_name(measure, STATED)
        return PeopleEstimate(name, over_people.mean, low, high, _method(method, over_people.who))

    return [
        mean("confidence", stated, SHARE),
        mean("calibration_shift", stated - right, SIGNED),
        *_ece(person, cluster, stated, right),
        mean("brier", (stated - right) ** 2, SHARE),
    ]


def uas_estimates(marks: pl.LazyFrame) -> Callable[[pl.DataFrame], list[PeopleEstimate]]:
    """UAS as models have it: the weights and thresholds of all questions in the run; no confidence counts as 1.

    A person's UAS is a weighted mean. Each answer has that mean plus its weighted distance from it as its value, which
    gives the mean over people and its variance.
    """
    questions = marks.select("case", "question", "grade", "importance").unique(("case", "question")).collect()
    weights, importance = uas_weights(questions)
    weighted = questions.select("case", "question").with_columns(
        weight=pl.Series(weights), scaled=pl.Series(importance)
    )
    mean = mean_importance(questions)
    version = UAS if mean is None else f"{UAS}, importance / {mean:.6g}"

    def estimates(answers: pl.DataFrame) -> list[PeopleEstimate]:
        answers = answers.join(weighted, on=("case", "question"), maintain_order="left").filter(pl.col("weight") > 0)
        if answers.is_empty():
            return []
        stated, weight = answers["confidence"].fill_null(1.0).to_numpy(), answers["weight"].to_numpy()
        score = uas_score(stated, answers["value"].to_numpy(), answers["scaled"].to_numpy())
        person, cluster = numbered(answers)
        own_weight = np.bincount(person, weight)[person]
        own_mean = np.bincount(person, weight * score)[person] / own_weight
        value = own_mean + weight * (score - own_mean) * np.bincount(person)[person] / own_weight
        over_people = mean_over_people(person, cluster, value)
        low, high, method = student_interval(over_people, SIGNED)
        name = measure_name("uas", STATED)
        return [PeopleEstimate(name, over_people.mean, low, high, _method(method, over_people.who), version)]

    return estimates


def _ece(person: Integers, cluster: Integers, stated: Floats, right: Floats) -> list[PeopleEstimate]:
    gap, bin = stated - right, confidence_bins(stated)
    by_bin = [mean_over_people(person, cluster, np.where(bin == number, gap, 0.0)) for number in range(BINS)]
    means, variance = (np.array([getattr(mean, name) for mean in by_bin]) for name in ("mean", "variance"))
    signed = mean_over_people(person, cluster, np.sign(means)[bin] * gap)  # its mean is the plug-in
    debiased = max(float((2 * np.abs(means) - folded_mean(np.abs(means), variance)).sum()), 0.0)
    low, high, method = student_interval(signed._replace(mean=debiased), SHARE)
    weight = 1 / (np.bincount(person)[person] * signed.people)
    noise = np.bincount(bin, weight**2 * stated * (1 - stated), minlength=BINS)
    calibrated = float(np.sqrt(noise).sum()) * sqrt(2 / pi)

    def ece(variant: str, value: float, low: float | None, high: float | None, method: str) -> PeopleEstimate:
        name = measure_name("ece", variant, STATED)
        return PeopleEstimate(name, value, low, high, _method(method, signed.who), f"{BINS} bins")

    return [
        ece("", signed.mean, None, None, NO_INTERVAL),
        ece("debiased", debiased, low, high, method),
        ece("if_calibrated", calibrated, None, None, NO_INTERVAL),
    ]


def _method(method: str, who: str) -> str:
    return f"mean over {who}; {method}"
