"""Twins: the same question by the same candidate, once changed and once not."""

from __future__ import annotations

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.measuring.coded import CLEAN, Coded
from wardround.measuring.exact import Floats, exact
from wardround.measuring.sums import Whole

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
    if "severity" not in index.columns or WORN not in numbers.strata["severity"]:
        return {}
    subject, condition = (index[name].to_numpy() for name in ("subject", "condition"))
    worn = (index["severity"] == numbers.strata["severity"].index(WORN)).fill_null(False).to_numpy()
    clean = _clean_questions(numbers)
    own = clean[subject] == subject  # no clean question of its own: the same one, asked undegraded
    twin = np.where(
        own,
        _twins(index, subject, _undone(numbers, "degradation")[condition]),
        _twins(index, clean[subject], condition),
    )
    if CLEAN in numbers.strata["severity"]:
        is_clean = (index["severity"] == numbers.strata["severity"].index(CLEAN)).fill_null(True).to_numpy()
        twin = np.where(is_clean[twin], twin, -1)
    scored = told["scored_choice"] > 0
    fall = worn & (twin >= 0) & scored & scored[twin]
    accuracy = _share(told["right_choice"], told["scored_choice"])
    found = {"fall": fall * (accuracy[twin] - accuracy), "fall_of": fall.astype(float)}
    for version in ("", "_inf"):
        certain = told.get(f"certain{version}", np.zeros(len(index)))
        shift = _share(told.get(f"shift{version}", certain), certain)
        rise = fall & (certain > 0) & (certain[twin] > 0)
        found |= {f"rise{version}": rise * (shift - shift[twin]), f"rise_of{version}": rise.astype(float)}
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
