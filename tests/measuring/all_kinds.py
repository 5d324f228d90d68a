"""Marks of which every measure can be taken: votes, stated numbers, open lists, chains, documents, degradations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from made_marks import made_study, mark, votes

from wardround.core.canonical import canonical_json
from wardround.core.condition import DEFAULTS
from wardround.core.study import Study
from wardround.marking.marks import SCHEMA
from wardround.measuring import measure
from wardround.measuring.engine.columns import OPTIONAL

WHOLE_SCHEMA = SCHEMA | {column.name: column.dtype for column in OPTIONAL}
NAMES = ("a", "b", "c", "d")
STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")


def frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=WHOLE_SCHEMA)


def taken(rows: list[dict[str, Any]], trials: int = 1, *names: str) -> pl.DataFrame:
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
    study = made_study(*names, trials=10).model_copy(update={"conditions": {"without": ["none", "OCT"]}})
    return frame(rows), study


def degraded(random: np.random.Generator, name: str, chance: float, cases: int) -> list[dict[str, Any]]:
    """Each case clean and at two levels, ten votes each (MedQ-Deg)."""
    rows = []
    for case in range(cases):
        for level in range(3):
            told = {"severity": f"L{level}", "question": "mcq", "capability": f"c{case % 3}", "modality": ["CT", "MRI"]}
            if level:
                kind = ("blur", "noise")[case % 2]
                told |= {"type": kind, "category": "general", "question": f"deg-{level}", "of": "mcq"}
            words = ballot(random, chance - 0.1 * level)
            rows += votes(case, words, candidate=name, condition=at(confidence="votes"), **told)
    return rows


def chained(random: np.random.Generator, name: str, cases: int) -> list[dict[str, Any]]:
    """Six stages a case, stated confidence, grade and importance (X-PCR)."""
    rows = []
    for case in range(cases):
        for place, stage in enumerate(STAGES):
            right = random.random() < 0.95 - 0.05 * place
            told: dict[str, Any] = {"stage": stage, "chain": "c", "question": stage, "grade": "RAS"[place % 3]}
            stated = None if random.random() < 0.1 else round(float(random.random()), 2)
            told |= {"importance": 1.0 + place, "modality": ["CFP", "OCT"], "confidence": stated}
            for without in ("none", "OCT"):
                seen = right if without == "none" else right and random.random() < 0.8
                how = at(confidence="verbal", without=without)
                rows.append(mark(case, "right" if seen else "wrong", candidate=name, condition=how, **told))
    return rows


def evidenced(random: np.random.Generator, name: str, cases: int) -> list[dict[str, Any]]:
    """Open questions with documents, a judge and a reader, and a reference text (CURE, ClinBench)."""
    rows = []
    for case in range(cases):
        hits = [bool(random.random() < 0.4) for _ in range(3)]
        labels = [hit if random.random() < 0.9 else not hit for hit in hits]
        ranks = sorted({int(rank) for rank in random.integers(1, 30, random.integers(0, 4))})
        told = {"kind": "open", "question": "open", "k": None, "gold": None, "option": None, "judge": "lexical-1"}
        told |= {"hits": hits, "labels": labels, "grounded": bool(random.random() < 0.6), "relevant_ranks": ranks}
        told |= {"relevant": len(ranks) + int(random.integers(0, 3)), "covered": bool(random.random() < 0.7)}
        told |= {"logprob": -float(random.random() * 300), "tokens": int(random.integers(50, 90))}
        told |= {
            "bytes": int(random.integers(200, 400)),
            "rouge_l": float(random.random()),
            "eds": float(random.random()),
        }
        outcome = "right" if hits[0] else "wrong"
        rows.append(mark(case, outcome, candidate=name, condition=at(confidence="none"), **told))
    return rows
