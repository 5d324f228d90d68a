"""Comparisons as plain sentences."""

from __future__ import annotations

from wardround.reporting.numbers import number
from wardround.reporting.run import Comparison
from wardround.reporting.words import measure_title, slice_words

SIGNIFICANT = 0.05


def sentence(compared: Comparison, between: str = "candidate") -> str:
    """What a paired difference says, its direction in words and its interval in points."""
    if compared.value is None:
        return f"{compared.a} and {compared.b} share no cases."
    slice = dict(compared.slice)
    who = slice.pop("candidate", None)
    if between == "candidate":
        first, second = compared.a, compared.b
    else:
        first, second = f"with {between} {compared.a}", f"with {between} {compared.b}"
        first = f"{who}, {first}," if who else f"The answer {first}"
    points = f"{number(100 * abs(compared.value))} points"
    if compared.measure in ("accuracy", "accuracy_parsed", "majority_accuracy"):
        verb = "answers" if between == "candidate" or who else "is"
        direction = "more often right" if compared.value >= 0 else "less often right"
        text = f"{first} {verb} {points} {direction} than {second}"
    else:
        direction = "higher" if compared.value >= 0 else "lower"
        text = f"{measure_title(compared.measure)}: {first} is {points} {direction} than {second}"
    if slice:
        text += f", {slice_words(slice)}"
    return f"{text}{_interval(compared)}.{_chance(compared)}"


def _interval(compared: Comparison) -> str:
    """The interval in the direction of the sentence, so that its numbers fit its words."""
    if compared.value is None or compared.low is None or compared.high is None:
        return " (too few cases for an interval)"
    ends = (compared.low, compared.high) if compared.value >= 0 else (-compared.high, -compared.low)
    return f" (95% interval {number(100 * ends[0])} to {number(100 * ends[1])})"


def _chance(compared: Comparison) -> str:
    p = compared.p_adjusted if compared.p_adjusted is not None else compared.p
    return " This may be chance." if p is not None and p >= SIGNIFICANT else ""
