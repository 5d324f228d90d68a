"""An answer store that wardround 0.1.0 wrote is migrated, verified, read, and still answers its study.

`answers_of_0_1_0.sqlite` was written by the code of 0.1.0 for the study below, with a server of tests/exam_server.py.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from exam_study import examine, write_cases, write_study

from wardround.running.store import AnswerStore, schema
from wardround.running.store.rows import read_rows
from wardround.running.store.verification import find_problems

FILE = Path(__file__).with_name("answers_of_0_1_0.sqlite")
CASES = [
    ("case-1", "A man of 60 with chest pain.", "he", ["myocardial infarction", "pneumonia", "gout", "asthma"]),
    ("case-2", "A woman of 30 with a red, hot toe.", "she", ["gout", "pneumonia", "asthma", "measles"]),
]
SIMULATED = """
[[candidates]]
name = "simulated"
provider = "simulated"
model = "s"
extra_body = {accuracy = 0.8}
"""


@pytest.fixture
def store_file(tmp_path: Path) -> Path:
    return Path(shutil.copy(FILE, tmp_path / "answers.sqlite"))


def dump(file: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(query).fetchall()


def test_it_is_migrated_and_verified_and_no_answer_changes(store_file):
    query = "select ask, trial, turn, body from answers order by ask, trial, turn"
    before = dump(store_file, query)
    with closing(AnswerStore(store_file, must_exist=True)) as store:
        rows = list(read_rows(store.connection))
        problems = list(find_problems(store))
        spent = store.spent("exam", "server")

    assert dump(store_file, query) == before
    assert dump(store_file, "pragma user_version") == [(schema.VERSION,)]
    assert problems == []
    assert len(rows) == len(before) == 8
    assert {(row.origin.run, row.origin.candidate, row.origin.model) for row in rows} == {
        ("exam", "server", "exam-model"),
        ("exam", "simulated", None),
    }
    texts = [json.loads(body)["text"] for *_, body in before]
    assert texts == ["B", "C", "C", "C", "A", "A", "D", "D"]
    assert (spent.calls, spent.answers, spent.tokens_in, spent.tokens_out) == (2, 4, 200, 4)


def test_its_study_is_answered_without_a_new_call(store_file, tmp_path):
    """No server is there: a new Ask would fail. The keys of Asks are those of 0.1.0."""
    questions = [
        {"id": id, "history": history, "questions": [question(subject, options)]}
        for id, history, subject, options in CASES
    ]
    write_cases(tmp_path / "cases", questions)
    manifest = examine(write_study(tmp_path, top={"trials": 2}, more=SIMULATED))

    assert manifest["status"] == "complete"
    assert [(entry["stored"], entry["new"], entry["calls"]) for entry in manifest["candidates"]] == [(4, 0, 2)] * 2


def question(subject: str, options: list[str]) -> dict[str, object]:
    return {"id": "q", "kind": "choice", "prompt": f"What does {subject} have?", "options": options, "gold": 0}
