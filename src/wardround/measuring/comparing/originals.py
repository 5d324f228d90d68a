"""Originals: the unchanged item that belongs to a changed one, and differences between the two."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.asking.degradation import CLEAN_LEVEL
from wardround.core.canonical import canonical_json
from wardround.measuring.engine.encode import EncodedMarks
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.sums import Integers
from wardround.measuring.measures.formulas import ratio_or_zero

WORST_SEVERITY = "L2"


def original_sums(index: pl.DataFrame, sums: dict[str, Floats], encoded: EncodedMarks) -> dict[str, Floats]:
    """Differences between items and their originals: MCS, and both conditions of intra-model DKE."""
    return _modality_sums(index, sums, encoded) | _degradation_sums(index, sums, encoded)


def _modality_sums(index: pl.DataFrame, sums: dict[str, Floats], encoded: EncodedMarks) -> dict[str, Floats]:
    """MCS(m): accuracy with all modalities minus accuracy without m, of questions whose case has two or more."""
    if all(axes["without"] == "none" for axes in encoded.conditions):
        return {}
    several = encoded.subjects["modality"].list.len().fill_null(0).to_numpy() > 1
    changed = np.array([axes["without"] != "none" for axes in encoded.conditions])
    condition, subject = (index[name].to_numpy() for name in ("condition", "subject"))
    original = _find_items(index, subject, _undone(encoded, "without")[condition])
    scored = sums["scored_choice"] > 0
    paired = changed[condition] & several[subject] & (original >= 0) & scored & scored[original]
    accuracy = exact(ratio_or_zero(sums["right_choice"], sums["scored_choice"]))
    return {"mcs": paired * (accuracy[original] - accuracy), "mcs_of": paired.astype(float)}


def _degradation_sums(index: pl.DataFrame, sums: dict[str, Floats], encoded: EncodedMarks) -> dict[str, Floats]:
    """At L2, against each record's own L0: how far accuracy falls and how far the calibration shift rises."""
    if WORST_SEVERITY not in encoded.strata.get("severity", ()):
        return {}
    original = originals(index, encoded)
    scored = sums["scored_choice"] > 0
    fall = _has_severity(index, encoded, WORST_SEVERITY) & (original >= 0) & scored & scored[original]
    accuracy = exact(ratio_or_zero(sums["right_choice"], sums["scored_choice"]))
    differences = {"fall": fall * (accuracy[original] - accuracy), "fall_of": fall.astype(float)}
    for version in ("", "_inf"):
        certain = sums.get(f"certain{version}", np.zeros(len(index)))
        shift = exact(ratio_or_zero(sums.get(f"shift{version}", certain), certain))
        rise = fall & (certain > 0) & (certain[original] > 0)
        differences |= {f"rise{version}": rise * (shift - shift[original]), f"rise_of{version}": rise.astype(float)}
    return differences


def originals(index: pl.DataFrame, encoded: EncodedMarks) -> Integers:
    """For each degraded item the number of its own L0; -1 if there is none, and for clean items.

    That is the question named in `of`, under the same condition; else the same question undegraded; else the
    question named in `of`, undegraded.
    """
    subject, condition = (index[name].to_numpy() for name in ("subject", "condition"))
    clean, undone = _clean_questions(encoded)[subject], _undone(encoded, "degradation")[condition]
    is_clean = _has_severity(index, encoded, CLEAN_LEVEL)
    original = np.full(len(index), -1)
    for question, other_condition in ((clean, condition), (subject, undone), (clean, undone)):
        item = _find_items(index, question, other_condition)
        original = np.where((original < 0) & (item >= 0) & is_clean[item], item, original)
    return np.where(is_clean | index["severity"].is_null().to_numpy(), -1, original)


def _has_severity(index: pl.DataFrame, encoded: EncodedMarks, severity: str) -> NDArray[np.bool_]:
    """Whether each item has this severity."""
    severities = encoded.strata["severity"]
    if severity not in severities:
        return np.zeros(len(index), bool)
    flags: NDArray[np.bool_] = (index["severity"] == severities.index(severity)).fill_null(False).to_numpy()
    return flags


def _undone(encoded: EncodedMarks, axis: str) -> Integers:
    """For each condition the one that has `none` on this axis and is otherwise equal; -1 if it was not asked."""
    place = {canonical_json(axes): number for number, axes in enumerate(encoded.conditions)}
    return np.array([place.get(canonical_json({**axes, axis: "none"}), -1) for axes in encoded.conditions])


def _clean_questions(encoded: EncodedMarks) -> Integers:
    """For each question the number of its clean version, or its own."""
    references = encoded.subjects.select("subject", "case", question="of")
    questions = encoded.subjects.select("case", "question", clean="subject")
    matched = references.join(questions, on=("case", "question"), how="left", maintain_order="left")
    numbers: Integers = matched["clean"].fill_null(matched["subject"]).cast(pl.Int64).to_numpy()
    return numbers


def _find_items(index: pl.DataFrame, subject: Integers, condition: Integers) -> Integers:
    """The number of the same candidate's item with this question and condition; -1 if there is none."""
    own = [index[name].cast(pl.Int64).to_numpy() for name in ("candidate", "subject", "condition")]
    sizes = [
        int(max(a.max(initial=0), b.max(initial=0))) + 1 for a, b in zip(own[1:], (subject, condition), strict=True)
    ]

    def code(subjects: Integers, conditions: Integers) -> Integers:
        return (own[0] * sizes[0] + subjects) * sizes[1] + conditions

    known, sought = code(own[1], own[2]), code(subject, condition)
    order = np.argsort(known, kind="stable")
    place = np.minimum(np.searchsorted(known, sought, sorter=order), len(known) - 1)
    item = order[place]
    return np.where((known[item] == sought) & (subject >= 0) & (condition >= 0), item, -1)
