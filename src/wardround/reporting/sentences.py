"""Comparisons as plain sentences."""

from __future__ import annotations

from wardround.reporting.labels import measure_title, slice_words
from wardround.reporting.numbers import number
from wardround.reporting.run_files import Comparison

SIGNIFICANT = 0.05


def sentence(compared: Comparison, between: str = "candidate") -> str:
    """What a paired difference says, its direction in words."""
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
        how = (
            f"{points} {'more' if compared.value > 0 else 'less'} often right than"
            if compared.value
            else "as often right as"
        )
        text = f"{first} {verb} {how} {second}"
    else:
        direction = "higher" if compared.value >= 0 else "lower"
        text = f"{measure_title(compared.measure)}: {first} is {points} {direction} than {second}"
    if slice:
        text += f", {slice_words(slice)}"
    return f"{text}. This may be chance." if compared.value and _may_be_chance(compared) else f"{text}."


def is_significant(compared: Comparison) -> bool:
    p = _p(compared)
    return p is not None and p < SIGNIFICANT


def _may_be_chance(compared: Comparison) -> bool:
    return _p(compared) is not None and not is_significant(compared)


def _p(compared: Comparison) -> float | None:
    return compared.p_adjusted if compared.p_adjusted is not None else compared.p
