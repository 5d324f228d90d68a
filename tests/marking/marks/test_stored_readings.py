"""Marking again parses only what changed, and gives the marks of marking afresh."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from wardround.marking import stored_readings
from wardround.marking.parser.choice import parse_choice
from wardround.marking.stored_readings import LONG, READINGS_FILE, StoredReadings
from wardround.pipeline import mark_run, run_study
from wardround.running.inputs import kept_results

OPTIONS = ["Gout", "Measles"]
STUDY = """name = "again"
cases = "cases"
trials = 2
offline = true
[[candidates]]
name = "one"
provider = "simulated"
[candidates.extra_body]
accuracy = 0.5
mode = "independent"
"""


def quietly(line: str) -> None:
    """No note is printed."""


def write_cases(folder: Path, gold: int = 0) -> None:
    lines = []
    for number in range(6):
        options = [f"{name} {number}" for name in OPTIONS]
        choice = {"id": "choice", "kind": "choice", "prompt": "Which?", "options": options, "gold": gold}
        free = {"id": "free", "kind": "open", "prompt": "Name it.", "gold": "Gout"}
        lines.append(json.dumps({"id": f"case-{number}", "history": "Ill.", "questions": [choice, free]}) + "\n")
    folder.mkdir(exist_ok=True)
    (folder / "cases.jsonl").write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The replies that are parsed; every reply counts as long."""
    replies: list[str] = []

    def parse(reply: str, options: list[str], mode: str = "strict") -> Any:
        replies.append(reply)
        return parse_choice(reply, options, mode)

    monkeypatch.setattr(stored_readings, "parse_choice", parse)
    monkeypatch.setattr(stored_readings, "LONG", 0)
    return replies


@pytest.fixture
def run_folder(tmp_path: Path, parsed: list[str]) -> Path:
    write_cases(tmp_path / "cases")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    folder = run_study(tmp_path / "study.toml", runs=tmp_path / "runs", quiet=True, note=quietly).folder
    assert parsed
    parsed.clear()
    return folder


def check_like_fresh(folder: Path, mark: Callable[[], Any]) -> None:
    """The marks of `mark` with the stored readings are those without them."""
    mark()
    again = pl.read_parquet(folder / "marks.parquet")
    (folder / READINGS_FILE).unlink()
    mark()
    assert_frame_equal(again, pl.read_parquet(folder / "marks.parquet"))


def test_nothing_is_parsed_if_nothing_changed(run_folder: Path, parsed: list[str]) -> None:
    before = pl.read_parquet(run_folder / "marks.parquet")

    mark_run(run_folder, note=quietly)

    assert parsed == []
    assert_frame_equal(pl.read_parquet(run_folder / "marks.parquet"), before)


def test_another_parser_parses_all(run_folder: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_readings, "parser_files_hash", lambda: "changed")
    monkeypatch.setattr(kept_results, "_code", lambda rooms: ["changed"])

    check_like_fresh(run_folder, lambda: mark_run(run_folder, note=quietly))

    assert len(parsed) == 2 * len(pl.read_parquet(run_folder / READINGS_FILE))  # with the old readings, without any


def test_another_mode_is_another_reading(run_folder: Path, parsed: list[str]) -> None:
    mark_run(run_folder, parser="medq-deg-paper", note=quietly)

    assert parsed
    check_like_fresh(run_folder, lambda: mark_run(run_folder, parser="medq-deg-paper", note=quietly))


def test_changed_gold_changes_marks_without_parsing(run_folder: Path, parsed: list[str]) -> None:
    before = pl.read_parquet(run_folder / "marks.parquet").filter(kind="choice")
    write_cases(run_folder.parent.parent / "cases", gold=1)

    mark_run(run_folder, accept_changed_cases=True, note=quietly)

    assert parsed == []
    after = pl.read_parquet(run_folder / "marks.parquet").filter(kind="choice")
    assert (before["outcome"] == "right").to_list() == (after["outcome"] == "wrong").to_list()
    check_like_fresh(run_folder, lambda: mark_run(run_folder, accept_changed_cases=True, note=quietly))


def test_new_answers_are_parsed_alone(run_folder: Path, parsed: list[str]) -> None:
    study = run_folder.parent.parent / "study.toml"
    study.write_text(STUDY.replace("trials = 2", "trials = 4"), encoding="utf-8")
    replies = len(pl.read_parquet(run_folder / READINGS_FILE))

    run_study(study, runs=run_folder.parent, amend=True, quiet=True, note=quietly)

    assert len(parsed) == len(pl.read_parquet(run_folder / READINGS_FILE)) - replies
    check_like_fresh(run_folder, lambda: mark_run(run_folder, note=quietly))


def test_another_judge_changes_open_answers_alone(run_folder: Path, parsed: list[str], tmp_path: Path) -> None:
    judge = tmp_path / "judge.toml"
    judge.write_text('[judge]\nprovider = "lexical"\n', encoding="utf-8")

    mark_run(run_folder, judge=judge, note=quietly)

    assert parsed == []
    assert set(pl.read_parquet(run_folder / "marks.parquet").filter(kind="open")["judge"]) != {None}
    check_like_fresh(run_folder, lambda: mark_run(run_folder, judge=judge, note=quietly))


def test_short_replies_are_not_stored_and_damaged_readings_are_made_again(tmp_path: Path) -> None:
    (tmp_path / READINGS_FILE).write_bytes(b"damaged")
    readings = StoredReadings(tmp_path)
    long_reply = "The joint is red. " * LONG + "\nThe answer is B."

    assert readings.parse("A", OPTIONS) == parse_choice("A", OPTIONS)
    readings.save()
    assert not (tmp_path / READINGS_FILE).exists()
    assert readings.parse(long_reply, OPTIONS) == parse_choice(long_reply, OPTIONS)
    readings.save()
    assert len(pl.read_parquet(tmp_path / READINGS_FILE)) == 1
    assert StoredReadings(tmp_path).parse(long_reply, OPTIONS).option == 1
