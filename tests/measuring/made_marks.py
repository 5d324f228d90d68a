"""Marks and studies made by hand, one line per mark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from wardround.core.condition import Condition
from wardround.core.study import Study
from wardround.marking.marks import SCHEMA


def made_study(*candidates: str, trials: int = 1, **keys: Any) -> Study:
    named = [{"name": name, "provider": "simulated", "model": name} for name in candidates or ("one",)]
    return Study.model_validate({"name": "made", "cases": "made", "trials": trials, "candidates": named, **keys})


def made_marks(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA)


def mark(case: int | str, outcome: str = "right", trial: int = 0, **told: Any) -> dict[str, Any]:
    """One mark; axes of the condition are keywords that begin with `at_`."""
    axes = {name[3:]: told.pop(name) for name in list(told) if name.startswith("at_")}
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
        **told,
    }


def votes(case: int | str, options: str, **told: Any) -> list[dict[str, Any]]:
    """One mark per trial: a digit is the option that was chosen (0 is right), a dash is unparsed."""
    return [
        mark(
            case,
            "unparsed" if chosen == "-" else "right" if chosen == "0" else "wrong",
            trial,
            option=None if chosen == "-" else int(chosen),
            **told,
        )
        for trial, chosen in enumerate(options)
    ]


def random_marks(seed: int, candidates: dict[str, float], cases: int, trials: int = 1, **told: Any) -> pl.DataFrame:
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
                rows.append(mark(f"{case:04}", outcome, trial, candidate=name, option=chosen, **told))
    return made_marks(rows)


def row(table: pl.DataFrame, measure: str, slice: str = "{}", **told: str) -> dict[str, Any]:
    """The one line that is meant."""
    chosen = {"measure": measure, "slice": slice, **told}
    found = table.filter(*(pl.col(key) == value for key, value in chosen.items())).to_dicts()
    assert len(found) == 1, f"{len(found)} lines for {chosen}"
    return found[0]
