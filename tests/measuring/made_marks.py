"""Marks and studies made by hand, and marks that have every measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.condition import DEFAULTS, Condition
from wardround.core.study import Study
from wardround.marking.marks import MARKS_SCHEMA
from wardround.measuring import measure
from wardround.measuring.engine.encode import OPTIONAL

WHOLE_SCHEMA = MARKS_SCHEMA | OPTIONAL
NAMES = ("a", "b", "c", "d")
STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")


def made_study(*candidates: str, trials: int = 1, **keys: Any) -> Study:
    named = [{"name": name, "provider": "simulated", "model": name} for name in candidates or ("one",)]
    return Study.model_validate({"name": "made", "cases": "made", "trials": trials, "candidates": named, **keys})


def made_marks(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=MARKS_SCHEMA)


def mark(case: int | str, outcome: str = "right", trial: int = 0, **fields: Any) -> dict[str, Any]:
    """One mark; axes of the condition are keywords that begin with `at_`."""
    axes = {name[3:]: fields.pop(name) for name in list(fields) if name.startswith("at_")}
    return {
        "candidate": "one",
        "case": f"case-{case}",
        "cluster": f"case-{case}",
        "question": "q",
        "condition": Condition(**axes).json,
        "trial": trial,
        "ask": "00",
        "outcome": outcome,
        "rule": "letter",
        "parser": "strict-1",
        "kind": "choice",
        "gold": 0,
        "k": 4,
        "option": {"right": 0, "wrong": 1}.get(outcome),
        **fields,
    }


def votes(case: int | str, options: str, **fields: Any) -> list[dict[str, Any]]:
    """One mark per trial: a digit is the option that was chosen (0 is right), a dash is unparsed, an x refused."""
    outcomes = {"-": "unparsed", "x": "refused", "0": "right"}
    return [
        mark(
            case,
            outcomes.get(chosen, "wrong"),
            trial,
            option=int(chosen) if chosen.isdigit() else None,
            **fields,
        )
        for trial, chosen in enumerate(options)
    ]


def random_marks(seed: int, candidates: dict[str, float], cases: int, trials: int = 1, **fields: Any) -> pl.DataFrame:
    """Marks of candidates with planted accuracies; every case has its own difficulty, shared by all of them."""
    random = np.random.default_rng(seed)
    harder = random.normal(0, 0.15, cases)
    rows = []
    for name, chance in candidates.items():
        for case in range(cases):
            drawn = random.random((trials, 2))
            for trial in range(trials):
                unparsed = drawn[trial, 0] < 0.05
                right = drawn[trial, 1] < chance + harder[case]
                chosen = None if unparsed else 0 if right else int(random.integers(1, 4))
                outcome = "unparsed" if unparsed else "right" if right else "wrong"
                rows.append(mark(f"{case:04}", outcome, trial, candidate=name, option=chosen, **fields))
    return made_marks(rows)


def row(table: pl.DataFrame, measure: str, slice: str = "{}", **fields: str) -> dict[str, Any]:
    """The one line that is meant."""
    chosen = {"measure": measure, "slice": slice, **fields}
    lines = table.filter(*(pl.col(key) == value for key, value in chosen.items())).to_dicts()
    assert len(lines) == 1, f"{len(lines)} lines for {chosen}"
    return lines[0]


def frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=WHOLE_SCHEMA)


def measure_rows(rows: list[dict[str, Any]], trials: int = 1, *names: str) -> pl.DataFrame:
    """The measures of these marks alone."""
    return measure(frame(rows), made_study(*(names or ("one",)), trials=trials))


def at(**axes: str) -> str:
    """A condition as marks carry it."""
    return canonical_json({**DEFAULTS, **axes})


def ballot(random: np.random.Generator, chance: float, trials: int = 10) -> str:
    """Votes as digits: 0 is right, a dash is unparsed."""
    drawn = random.random((trials, 2))
    return "".join("-" if u < 0.04 else "0" if r < chance else str(random.integers(1, 4)) for u, r in drawn)


def all_kinds(names: Sequence[str], cases: int = 45, seed: int = 12) -> tuple[pl.DataFrame, Study]:
    """Marks of all kinds by some candidates, and the study that they are of."""
    random = np.random.default_rng(seed)
    rows = []
    for place, name in enumerate(names):
        rows += degraded(random, name, 0.5 + 0.08 * place, cases)
        rows += chained(random, name, cases)
        rows += evidenced(random, name, cases)
        rows += graded(random, name, cases)
    study = made_study(*names, trials=10).model_copy(update={"conditions": {"without": ["none", "OCT"]}})
    return frame(rows), study


def degraded(random: np.random.Generator, name: str, chance: float, cases: int) -> list[dict[str, Any]]:
    """Each case clean and at two levels, ten votes each (MedQ-Deg)."""
    rows = []
    for case in range(cases):
        for level in range(3):
            fields = {
                "severity": f"L{level}",
                "question": "mcq",
                "capability": f"c{case % 3}",
                "modality": ["CT", "MRI"],
            }
            if level:
                kind = ("blur", "noise")[case % 2]
                fields |= {"type": kind, "category": "general", "question": f"deg-{level}", "of": "mcq"}
            words = ballot(random, chance - 0.1 * level)
            rows += votes(case, words, candidate=name, condition=at(confidence="votes"), **fields)
    return rows


def chained(random: np.random.Generator, name: str, cases: int) -> list[dict[str, Any]]:
    """Six stages a case, stated confidence, grade and importance (X-PCR)."""
    rows = []
    for case in range(cases):
        for place, stage in enumerate(STAGES):
            right = random.random() < 0.95 - 0.05 * place
            fields: dict[str, Any] = {"stage": stage, "chain": "c", "question": stage, "grade": "RAS"[place % 3]}
            stated = None if random.random() < 0.1 else round(float(random.random()), 2)
            fields |= {"importance": 1.0 + place, "modality": ["CFP", "OCT"], "confidence": stated, "strict_option": 0}
            for without in ("none", "OCT"):
                result = right if without == "none" else right and random.random() < 0.8
                how = at(confidence="verbal", without=without)
                rows.append(mark(case, "right" if result else "wrong", candidate=name, condition=how, **fields))
    return rows


def graded(random: np.random.Generator, name: str, cases: int) -> list[dict[str, Any]]:
    """A rubric of three criteria a case (HealthBench)."""
    rows = []
    for case in range(cases):
        met = [bool(random.random() < share) for share in (0.8, 0.5, 0.2)]
        rows.append(rubric_mark(case, [(5.0, met[0]), (3.0, met[1]), (-2.0, met[2])], candidate=name))
    return rows


def rubric_mark(case: int, verdicts: Sequence[tuple[float, bool]], axes: str = "aab", **fields: Any) -> dict[str, Any]:
    """The mark of a rubric answer with these points and verdicts."""
    possible = sum(points for points, _ in verdicts if points > 0)
    criteria = [
        {"id": str(place), "points": points, "axis": axis, "met": met}
        for place, ((points, met), axis) in enumerate(zip(verdicts, axes, strict=False))
    ]
    values = {"kind": "rubric", "question": "rubric", "gold": None, "k": None, "criteria": criteria, "judge": "j"}
    score = sum(points for points, met in verdicts if met) / possible
    return mark(case, "graded", **(values | {"score": score} | fields))


def evidenced(random: np.random.Generator, name: str, cases: int) -> list[dict[str, Any]]:
    """Open questions with documents, a judge and a reader, and a reference text (CURE, ClinBench)."""
    rows = []
    for case in range(cases):
        hits = [bool(random.random() < 0.4) for _ in range(3)]
        labels = [hit if random.random() < 0.9 else not hit for hit in hits]
        ranks = sorted({int(rank) for rank in random.integers(1, 30, random.integers(0, 4))})
        fields = {"kind": "open", "question": "open", "k": None, "gold": None, "option": None, "judge": "lexical-1"}
        fields |= {"hits": hits, "labels": labels, "grounded": bool(random.random() < 0.6), "relevant_ranks": ranks}
        fields |= {"relevant": len(ranks) + int(random.integers(0, 3)), "covered": bool(random.random() < 0.7)}
        fields |= {"logprob": -float(random.random() * 300), "tokens": int(random.integers(50, 90))}
        fields |= {
            "bytes": int(random.integers(200, 400)),
            "rouge_l": float(random.random()),
            "eds": float(random.random()),
        }
        outcome = "right" if hits[0] else "wrong"
        rows.append(mark(case, outcome, candidate=name, condition=at(confidence="none"), **fields))
    return rows
