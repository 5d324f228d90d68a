"""Twins: the same question by the same candidate, once changed and once not."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.core.canonical import canonical_json
from wardround.marking.slice_values import CLEAN
from wardround.measuring.engine.encode import Coded
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.sums import Whole

WORN = "L2"


def twin_sums(index: pl.DataFrame, told: dict[str, Floats], numbers: Coded) -> dict[str, Floats]:
    """Differences between items and their unchanged twins: MCS, and both conditions of intra-model DKE."""
    return _modality_sums(index, told, numbers) | _degradation_sums(index, told, numbers)


def _modality_sums(index: pl.DataFrame, told: dict[str, Floats], numbers: Coded) -> dict[str, Floats]:
    """MCS(m): accuracy with all modalities minus accuracy without m, of questions whose case has two or more."""
    if all(axes["without"] == "none" for axes in numbers.conditions):
        return {}
    several = numbers.subjects["modality"].list.len().fill_null(0).to_numpy() > 1
    changed = np.array([axes["without"] != "none" for axes in numbers.conditions])
    condition, subject = (index[name].to_numpy() for name in ("condition", "subject"))
    at = changed[condition] & several[subject]
    twin = _twins(index, subject, _undone(numbers, "without")[condition])
    scored = told["scored_choice"] > 0
    paired = at & (twin >= 0) & scored & scored[twin]
    accuracy = _share(told["right_choice"], told["scored_choice"])
    return {"mcs": paired * (accuracy[twin] - accuracy), "mcs_of": paired.astype(float)}


def _degradation_sums(index: pl.DataFrame, told: dict[str, Floats], numbers: Coded) -> dict[str, Floats]:
    """At L2, against each record's own L0: how far accuracy falls and how far the calibration shift rises."""
    if WORN not in numbers.strata.get("severity", ()):
        return {}
    twin = originals(index, numbers)
    scored = told["scored_choice"] > 0
    fall = _at(index, numbers, WORN) & (twin >= 0) & scored & scored[twin]
    accuracy = _share(told["right_choice"], told["scored_choice"])
    found = {"fall": fall * (accuracy[twin] - accuracy), "fall_of": fall.astype(float)}
    for version in ("", "_inf"):
        certain = told.get(f"certain{version}", np.zeros(len(index)))
        shift = _share(told.get(f"shift{version}", certain), certain)
        rise = fall & (certain > 0) & (certain[twin] > 0)
        found |= {f"rise{version}": rise * (shift - shift[twin]), f"rise_of{version}": rise.astype(float)}
    return found


def originals(index: pl.DataFrame, numbers: Coded) -> Whole:
    """For each degraded item the one of its own L0, by number; -1 where there is none, and for what is clean.

    That is the question which it is `of`, under the same condition; else the same question undegraded; else the
    question which it is `of`, undegraded.
    """
    subject, condition = (index[name].to_numpy() for name in ("subject", "condition"))
    clean, undone = _clean_questions(numbers)[subject], _undone(numbers, "degradation")[condition]
    is_clean = _at(index, numbers, CLEAN)
    found = np.full(len(index), -1)
    for question, how in ((clean, condition), (subject, undone), (clean, undone)):
        twin = _twins(index, question, how)
        found = np.where((found < 0) & (twin >= 0) & is_clean[twin], twin, found)
    return np.where(is_clean | index["severity"].is_null().to_numpy(), -1, found)


def _at(index: pl.DataFrame, numbers: Coded, severity: str) -> NDArray[np.bool_]:
    """Which items are at this severity."""
    there = numbers.strata["severity"]
    if severity not in there:
        return np.zeros(len(index), bool)
    found: NDArray[np.bool_] = (index["severity"] == there.index(severity)).fill_null(False).to_numpy()
    return found


def _share(part: Floats, whole: Floats) -> Floats:
    return exact(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0))


def _undone(numbers: Coded, axis: str) -> Whole:
    """For each condition the one that differs only in having `none` on this axis; -1 where it was not asked."""
    place = {canonical_json(axes): number for number, axes in enumerate(numbers.conditions)}
    return np.array([place.get(canonical_json({**axes, axis: "none"}), -1) for axes in numbers.conditions])


def _clean_questions(numbers: Coded) -> Whole:
    """For each question the number of its clean twin, or its own."""
    named = numbers.subjects.select("subject", "case", question="of")
    there = numbers.subjects.select("case", "question", twin="subject")
    found = named.join(there, on=("case", "question"), how="left", maintain_order="left")
    twins: Whole = found["twin"].fill_null(found["subject"]).cast(pl.Int64).to_numpy()
    return twins


def _twins(index: pl.DataFrame, subject: Whole, condition: Whole) -> Whole:
    """The item of the same candidate with this question and condition, by number; -1 where there is none."""
    sought = pl.DataFrame(
        {"candidate": index["candidate"], "subject": pl.Series(subject), "condition": pl.Series(condition)}
    ).with_columns(pl.col("subject", "condition").cast(pl.Int64))
    there = index.select("candidate", pl.col("subject", "condition").cast(pl.Int64)).with_row_index("item")
    found = sought.join(there, on=("candidate", "subject", "condition"), how="left", maintain_order="left")
    items: Whole = found["item"].cast(pl.Int64).fill_null(-1).to_numpy()
    return items
