"""The table that the browser filters: every cell equals a count of marks by hand."""

from __future__ import annotations

import json
from base64 import b64decode
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from wardround.core.errors import WardroundError
from wardround.view.run_list import find_runs
from wardround.view.table import read_table


def test_every_cell_counts_the_marks_of_its_question_candidate_and_condition(explored: Path) -> None:
    table = read_table(find_runs([explored]))
    counted = Counter(
        (mark["case"], mark["question"], mark["candidate"], mark["condition"], mark["outcome"])
        for mark in pl.read_parquet(explored / "marks.parquet").iter_rows(named=True)
    )
    places = table.rows.select("row", "case", "question").rows()
    for number, series in enumerate(table.series):
        for outcome, counts in zip(
            ("right", "wrong", "unparsed", "refused", "unscored", "graded"), table.counts, strict=True
        ):
            for row, case, question in places:
                key = (case, question, series.candidate, table.conditions[series.condition], outcome)
                assert counts[number, row] == counted[key]
    assert sum(counts.sum() for counts in table.counts) == counted.total()


def test_a_degraded_question_leads_to_its_clean_one_and_a_condition_to_the_clean_condition(explored: Path) -> None:
    table = read_table(find_runs([explored]))
    document = table.to_json()
    of = np.frombuffer(b64decode(document["of"]), "<i4")
    rows = {(case, question): row for row, case, question in table.rows.select("row", "case", "question").rows()}
    assert of[rows["case-001", "mcq-deg"]] == rows["case-001", "mcq"]
    assert of[rows["case-001", "mcq"]] == -1
    degradations = [json.loads(condition)["degradation"] for condition in table.conditions]
    clean = [condition["clean"] for condition in document["conditions"]]
    assert clean == [-1 if name == "none" else degradations.index("none") for name in degradations]


def test_the_rows_of_a_chain_are_in_the_order_in_which_they_were_asked(explored: Path) -> None:
    table = read_table(find_runs([explored]))
    questions = table.rows["question"].to_list()
    assert [questions[row] for row in table.to_json()["chains"][0]] == ["iqa", "al", "dd"]


def test_two_runs_stand_side_by_side_on_the_same_questions(explored: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("manifest.json", "study.toml"):
        (other / name).write_bytes((explored / name).read_bytes())
    marks = pl.read_parquet(explored / "marks.parquet")
    marks.filter(candidate="coin").with_columns(candidate=pl.lit("dice")).write_parquet(other / "marks.parquet")
    table = read_table(find_runs([explored, other]))
    assert table.columns == ((0, "resident-8b"), (0, "student-2b"), (0, "coin"), (1, "dice"))
    assert len(table) == len(read_table(find_runs([explored])))
    pairs = [(s.condition, number) for number, s in enumerate(table.series) if s.candidate == "dice"]
    for condition, number in pairs:
        coin = next(n for n, s in enumerate(table.series) if (s.candidate, s.condition) == ("coin", condition))
        assert all((counts[coin] == counts[number]).all() for counts in table.counts)


def test_a_folder_without_runs_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="holds no runs"):
        find_runs([tmp_path])
