"""Worlds with a planted truth, and worlds in which there is nothing to find.

A planted world is a study of simulated respondents, run from asking to reporting. A null world is drawn as marks, which
is the same for the summary and many times faster: all candidates guess, under every condition and in every group.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import tomli_w
from PIL import Image

from wardround.cases.set import write_case_set
from wardround.core.canonical import canonical_json
from wardround.core.case import Case
from wardround.core.condition import DEFAULTS
from wardround.core.study import parse_study
from wardround.marking.marks import MARKS_SCHEMA, write_marks
from wardround.measuring import write_measures
from wardround.pipeline import run_study
from wardround.reporting import RunFiles, read_run

CASES, NULL_CASES = 240, 80
STAGES = ("IQA", "AL", "DD")
CHANCE = 0.25


def planted_run(folder: Path, candidates: dict[str, dict[str, Any]], **study: Any) -> RunFiles:
    """A run of simulated respondents with these parameters."""
    (folder / "cases" / "images").mkdir(parents=True)
    write_case_set(_cases(folder / "cases"), folder / "cases")
    named = [{"name": name, "provider": "simulated", "extra_body": body} for name, body in candidates.items()]
    fields = {"name": "world", "cases": "cases", "offline": True, "questions": ["mcq"], "candidates": named, **study}
    (folder / "world.toml").write_text(tomli_w.dumps(fields), encoding="utf-8")
    return read_run(run_study(folder / "world.toml", runs=folder / "runs", quiet=True, note=lambda line: None).folder)


def _cases(folder: Path) -> Iterator[Case]:
    pixels = np.random.default_rng(0)
    for number in range(CASES):
        path = f"images/{number}.png"
        Image.fromarray(pixels.integers(0, 255, (16, 16), dtype=np.uint8)).save(folder / path)
        questions, earlier = [_question(number, "mcq")], []
        for stage in STAGES:
            questions.append(_question(number, stage, stage=stage, chain=f"chain-{number}", given=earlier))
            earlier = [stage]
        yield Case.model_validate(
            {
                "id": f"case-{number}",
                "history": f"Patient {number}.",
                "patient": {"age": (10, 30, 50, 70)[number % 4], "sex": "FM"[number // 4 % 2]},
                "tags": ["rare"] if number % 3 == 0 else [],
                "images": [{"path": path, "modality": "CT"}],
                "questions": questions,
            }
        )


def _question(number: int, name: str, **fields: Any) -> dict[str, Any]:
    options = [f"{name} {number} {letter}" for letter in "klmn"]
    question = {"id": name, "kind": "choice", "prompt": f"{name} of patient {number}?", "options": options}
    return {**question, "gold": (number * 7 + len(name)) % 4, **fields}


NULL_CONDITIONS = {"images": ["as-is", "swapped", "none"], "stem": ["full", "options-only"], "confidence": ["verbal"]}
NULL_STUDY = {
    "name": "null",
    "cases": "null",
    "questions": ["mcq", *STAGES],
    "conditions": NULL_CONDITIONS | {"degradation": ["none", "gaussian_noise@L1", "gaussian_noise@L2"]},
    "candidates": [{"name": name, "provider": "simulated", "model": name} for name in ("a", "b", "c")],
}


def null_run(folder: Path, seed: int) -> RunFiles:
    """Three candidates that guess; their stated confidence is right on average and unrelated to the answer."""
    random = np.random.default_rng([seed, 5])
    folder.mkdir(parents=True)
    study = parse_study({**NULL_STUDY, "seed": seed}, folder / "study.toml")
    (folder / "study.toml").write_text(tomli_w.dumps({**NULL_STUDY, "seed": seed}), encoding="utf-8")
    (folder / "manifest.json").write_text(
        '{"status": "complete", "chance": 0.25, "reference": {}, "study": {"name": "null"}, "candidates": []}'
    )
    rows = []
    for axes in ({}, {"images": "swapped"}, {"images": "none"}, {"stem": "options-only"},
                 {"degradation": "gaussian_noise@L1"}, {"degradation": "gaussian_noise@L2"}):  # fmt: skip
        condition = canonical_json({**DEFAULTS, "confidence": "verbal", **axes})
        for name in ("a", "b", "c"):
            for case in range(NULL_CASES):
                rows += [_null_mark(random, name, case, stage, condition) for stage in (None, *STAGES)]
    write_marks(folder, pl.DataFrame(rows, schema=MARKS_SCHEMA))
    write_measures(folder, pl.scan_parquet(folder / "marks.parquet"), study)
    return read_run(folder)


def _null_mark(random: np.random.Generator, name: str, case: int, stage: str | None, condition: str) -> dict[str, Any]:
    option, gold = int(random.integers(4)), case % 4
    return {
        "candidate": name,
        "case": f"case-{case}",
        "cluster": f"case-{case}",
        "condition": condition,
        "trial": 0,
        "question": stage or "mcq",
        "kind": "choice",
        "stage": stage,
        "gold": gold,
        "k": 4,
        "option": option,
        "outcome": "right" if option == gold else "wrong",
        "rule": "letter alone",
        "parser": "strict-2",
        "ask": "0" * 64,
        "confidence": float(random.choice([0.1, 0.2, 0.3, 0.4])),
        "sex": "FM"[case % 2],
        "age_band": ("18 to 39", "40 to 64", "65 and over")[case % 3],
        "tag": ["rare"] if case % 4 == 1 else [],
    }
