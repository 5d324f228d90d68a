"""What people's confidence is worth: how sure they are, how far that is from how often they are right.

Nobody answers enough to bin their answers alone, so ECE is of the answers of all, each person counting alike. Its
plug-in is biased upward and has no interval. The debiased one takes from each bin what noise adds to it, with the
variance over people and cases; its interval is that of the gaps, each with the sign of its bin.
"""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import polars as pl

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import NO_INTERVAL
from wardround.measuring.engine.sums import Whole
from wardround.measuring.measures.confidence import BINS, bin_of
from wardround.measuring.measures.formulas import folded_mean
from wardround.measuring.people.variance import Figure, numbered, spread, student_interval

STATED = "verbal"
SHARE, SIGNED = (0.0, 1.0), (-1.0, 1.0)


def of_confidence(marks: pl.DataFrame) -> list[Figure]:
    """Of answers that state a confidence: its mean, confidence less accuracy, ECE and Brier."""
    person, cluster = numbered(marks)
    stated, right = marks["confidence"].to_numpy(), marks["value"].to_numpy()

    def mean(measure: str, value: Floats, within: tuple[float, float]) -> Figure:
        found = spread(person, cluster, value)
        low, high, method = student_interval(found, within)
        return Figure(measure, found.mean, low, high, _told(method, found.who), STATED)

    return [
        mean("confidence", stated, SHARE),
        mean("calibration_shift", stated - right, SIGNED),
        *_ece(person, cluster, stated, right),
        mean("brier", (stated - right) ** 2, SHARE),
    ]


def _ece(person: Whole, cluster: Whole, stated: Floats, right: Floats) -> list[Figure]:
    gap, at = stated - right, bin_of(stated)
    by_bin = [spread(person, cluster, np.where(at == number, gap, 0.0)) for number in range(BINS)]
    means, variance = (np.array([getattr(each, name) for each in by_bin]) for name in ("mean", "variance"))
    signed = spread(person, cluster, np.sign(means)[at] * gap)  # its mean is the plug-in
    debiased = max(float((2 * np.abs(means) - folded_mean(np.abs(means), variance)).sum()), 0.0)
    low, high, method = student_interval(signed._replace(mean=debiased), SHARE)
    weight = 1 / (np.bincount(person)[person] * signed.people)
    noise = np.bincount(at, weight**2 * stated * (1 - stated), minlength=BINS)
    calibrated = float(np.sqrt(noise).sum()) * sqrt(2 / pi)

    def ece(how: str, value: float, low: float | None, high: float | None, method: str) -> Figure:
        return Figure("ece", value, low, high, _told(method, signed.who), f"{how}, {BINS} bins, {STATED}")

    return [
        ece("plug-in", signed.mean, None, None, NO_INTERVAL),
        ece("debiased", debiased, low, high, method),
        ece("plug-in if calibrated", calibrated, None, None, NO_INTERVAL),
    ]


def _told(method: str, who: str) -> str:
    return f"mean over {who}; {method}"
