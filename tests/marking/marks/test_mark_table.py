"""The table of marks is that of marking answer by answer, whatever it shares between equal answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from wardround.marking.judges.judge import scored_answers
from wardround.marking.mark_table import mark_answers
from wardround.marking.marks import MARK_KEY, MARKS_SCHEMA, AnswerMarker
from wardround.marking.slice_values import slice_values
from wardround.pipeline import mark_run, run_study
from wardround.running.stored_run import StoredRun
from wardround.running.used_answers import scan_used

STUDY = """name = "table"
cases = "cases"
trials = 3
offline = true
parser = "medq-deg-paper"
[conditions]
confidence = ["votes", "verbal"]
options = ["as-given", "rotated"]
[[candidates]]
name = "one"
provider = "simulated"
[candidates.extra_body]
accuracy = 0.6
unparsed = 0.2
confidence = { right = 0.9, wrong = 0.6 }
"""


def case(number: int) -> dict[str, Any]:
    """Cases of two kinds of options, so that equal replies mean equal and other options; some are in chains."""
    options = ["Gout", "Measles", "Mumps"] if number % 2 else ["Angina", "Asthma"]
    first = {"id": "first", "kind": "choice", "prompt": "Which?", "options": options, "gold": number % 2, "stage": "AL"}
    then = {"id": "then", "kind": "choice", "prompt": "And now?", "options": options, "gold": 0, "given": ["first"]}
    free = {"id": "free", "kind": "open", "prompt": "Name it.", "gold": "Gout"}
    patient = {"age": 30 + number, "sex": "F"} if number % 3 else None
    about = {"patient": patient, "tags": ["rare"]} if patient else {"cluster": "shared"}
    return {"id": f"case-{number}", "history": "Ill.", "questions": [first, then, free], **about}


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("table")
    (place / "cases").mkdir()
    lines = "".join(json.dumps(case(number)) + "\n" for number in range(8))
    (place / "cases" / "cases.jsonl").write_text(lines, encoding="utf-8")
    (place / "study.toml").write_text(STUDY, encoding="utf-8")
    return run_study(place / "study.toml", runs=place / "runs", quiet=True, note=lambda line: None).folder


def marks_one_by_one(run: StoredRun, parser: str) -> pl.DataFrame:
    marker = AnswerMarker(run.cases, run.store, run.study, parser)
    rows = []
    for row, own_case, question in scored_answers(scan_used(run.folder), run.cases):
        marked = marker.mark(row, own_case, question)
        assert marked is not None
        mark = {name: row[name] for name in MARK_KEY} | {"cluster": own_case.cluster_id}
        rows.append(mark | marked[1] | slice_values(own_case, question))
    return pl.DataFrame(rows, schema=MARKS_SCHEMA)


@pytest.mark.parametrize("parser", ["medq-deg-paper", "strict"])
def test_it_is_that_of_single_answers(run_folder: Path, parser: str) -> None:
    with StoredRun.open(run_folder) as run:
        expected = marks_one_by_one(run, parser)
        table = pl.concat(mark_answers(scan_used(run_folder), run.cases, run.store, run.study, parser=parser))

    assert expected["outcome"].n_unique() > 2
    assert_frame_equal(table, expected)


def test_the_size_of_parts_changes_nothing(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = pl.read_parquet(run_folder / "marks.parquet")
    monkeypatch.setattr("wardround.running.parquet.ROWS", 7)
    with StoredRun.open(run_folder) as run:
        used = scan_used(run_folder)
        parts = list(mark_answers(used, run.cases, run.store, run.study, parser="medq-deg-paper"))

    assert len(parts) > 20
    assert_frame_equal(pl.concat(parts), marks)


def test_equal_replies_to_equal_options_are_read_once(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[str, tuple[str, ...]]] = []
    monkeypatch.setattr("wardround.marking.marks.parse_choice", _listing(read))

    mark_run(run_folder, parser="strict", note=lambda line: None)

    marks = pl.read_parquet(run_folder / "marks.parquet").filter(kind="choice")
    assert len(read) < len(marks) / 2
    mark_run(run_folder, note=lambda line: None)


def _listing(read: list[tuple[str, tuple[str, ...]]]) -> Any:
    from wardround.marking.parser.choice import parse_choice

    def parse(reply: str, options: list[str], mode: str = "strict") -> Any:
        read.append((reply, tuple(options)))
        return parse_choice(reply, options, mode)

    return parse
