"""A small study for tests of judges: open questions, a server that lists diagnoses, and one that judges them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
from exam_server import text_of
from exam_study import write_cases, write_study

from wardround.pipeline import RunOutcome, run_study

DISEASES = ("Pneumonia", "Gout", "Sarcoidosis", "Acute appendicitis")


def open_case(number: int, **fields: Any) -> dict[str, Any]:
    """A case with one open question; golds go round."""
    question = {"id": "open", "kind": "open", "prompt": f"What does patient {number} have?"}
    gold = DISEASES[number % len(DISEASES)]
    return {"id": f"case-{number}", "history": f"Patient {number}.", "questions": [question | {"gold": gold, **fields}]}


def patient(body: dict[str, Any]) -> int:
    match = re.search(r"patient (\d+)", text_of(body))
    assert match
    return int(match[1])


def list_diagnoses(body: dict[str, Any], index: int) -> str:
    """Right first for even patients, right third for odd ones; two names that all answers share."""
    gold = DISEASES[patient(body) % len(DISEASES)]
    names = [gold, "Lupus", "Tetanus"] if patient(body) % 2 == 0 else ["Lupus", "Tetanus", gold.upper()]
    return "\n".join(f"{place}. {name}" for place, name in enumerate(names, 1))


def judged_pair(body: dict[str, Any]) -> tuple[str, str]:
    """The pair that a judge is asked about."""
    text = text_of(body)
    gold = re.search(r"^Reference diagnosis: (.*)$", text, re.M)
    proposed = re.search(r"^Proposed diagnosis: <data>(.*)</data>$", text, re.M)
    assert gold
    assert proposed
    return gold[1], proposed[1]


def compare_letters(body: dict[str, Any], index: int) -> str:
    """A judge that compares letters only."""
    gold, proposed = judged_pair(body)
    return "A" if gold.lower() == proposed.lower() else "B"


def write_judged_study(folder: Path, server: str, judge: dict[str, Any] | None, cases: int = 8, **more: Any) -> Path:
    """The study of these cases, with this judge."""
    write_cases(folder / "cases", (open_case(number) for number in range(cases)))
    tables = {"judge": {"provider": "openai", "model": "judge", "timeout": 600, **judge}} if judge is not None else {}
    return write_study(folder, server, **tables, **more)


def run(study: Path, **more: Any) -> RunOutcome:
    notes: list[str] = more.pop("notes", [])
    return run_study(study, runs=study.parent / "runs", quiet=True, note=notes.append, **more)


def marks_of(ended: RunOutcome) -> pl.DataFrame:
    return pl.read_parquet(ended.folder / "marks.parquet").sort("case", "trial")
