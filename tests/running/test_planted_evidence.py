"""A respondent who believes its evidence: the planned shares of CURE's outcomes are measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from planted_library import PLAN, SHARES, planted_study

from wardround.pipeline import run_study


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("believer")
    file = planted_study(folder)
    ended = run_study(file, runs=folder / "runs", quiet=True, note=lambda line: None)
    assert ended.exit_code == 0
    return ended.folder


def measured(folder: Path, **slice: str) -> dict[str, Any]:
    rows = pl.read_csv(folder / "measures.csv").filter(pl.col("slice") == json.dumps(slice, separators=(",", ":")))
    return dict(rows.select("measure", "value").iter_rows())


@pytest.mark.parametrize("evidence", SHARES)
def test_the_planted_shares_are_measured(ran, evidence):
    measures = measured(ran, evidence=evidence)
    assert {name: measures[name] for name in SHARES[evidence]} == pytest.approx(SHARES[evidence], abs=1e-9)


@pytest.mark.parametrize("question", ["mcq", "open"])
@pytest.mark.parametrize("evidence", SHARES)
def test_every_question_has_its_planted_outcome(ran, evidence, question):
    marks = pl.read_parquet(ran / "marks.parquet").filter(
        pl.col("question") == question, pl.col("condition").str.json_path_match("$.evidence") == evidence
    )
    assert len(marks) == len(PLAN)
    right, grounded = pl.col("outcome") == "right", pl.col("grounded")
    shares = marks.select(
        coverage=pl.col("covered").mean(),
        evidence_based_correct=(right & grounded).mean(),
        evidence_misled=(~right & grounded).mean(),
        knowledge_based_correct=(right & ~grounded).mean(),
        hallucination=(~right & ~grounded).mean(),
        grounded=grounded.mean(),
    ).row(0, named=True)
    assert shares == pytest.approx(SHARES[evidence], abs=1e-9)


def test_without_evidence_only_known_questions_are_right(ran):
    measures = measured(ran, evidence="none")
    assert measures["accuracy"] == measures["hit@1"] == pytest.approx(4 / 20)
    assert measures.get("grounded") is None


def test_the_agent_searched_once_and_finished(ran):
    evidence = pl.read_parquet(ran / "evidence.parquet").filter(pl.col("condition").str.contains('"agent"'))
    assert set(evidence["ended"]) == {"finished"}
    assert set(evidence["queries"].list.len()) == {1}
    hits = {row["case"]: row["found"] for row in evidence.iter_rows(named=True)}
    assert hits == {f"case-{number:02}": [str(3000 + number)] for number in range(len(PLAN))}
