"""Marking again makes only what would come out otherwise, and what is kept is what would be made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wardround.marking.run_marks
import wardround.measuring
from wardround.pipeline import mark_run, run_study
from wardround.running.inputs import kept_results

STUDY = """name = "kept"
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
RESULTS = ("marks.parquet", "measures.csv", "comparisons.csv")


def quietly(line: str) -> None:
    """No note is printed."""


def write_cases(folder: Path, gold: int) -> None:
    options = ["Gout", "Measles", "Mumps"]
    questions = [{"id": "q", "kind": "choice", "prompt": "Which?", "options": options, "gold": gold}]
    lines = [json.dumps({"id": f"case-{number}", "history": "Ill.", "questions": questions}) for number in range(12)]
    folder.mkdir(exist_ok=True)
    (folder / "cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    write_cases(tmp_path / "cases", gold=0)
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    return run_study(tmp_path / "study.toml", runs=tmp_path / "runs", quiet=True, note=quietly).folder


@pytest.fixture
def made(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is made after the run was marked once: "marks", "measures"."""
    steps: list[str] = []
    modules = {
        "marks": (wardround.marking.run_marks, "write_run_marks"),
        "measures": (wardround.measuring, "write_measures"),
    }
    for step, (module, name) in modules.items():

        def noted(*arguments: object, step: str = step, function: object = getattr(module, name)) -> None:
            steps.append(step)
            function(*arguments)  # type: ignore[operator]

        monkeypatch.setattr(module, name, noted)
    return steps


def results(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in RESULTS}


def test_nothing_is_made_if_nothing_changed(run_folder: Path, made: list[str]) -> None:
    before = results(run_folder)

    mark_run(run_folder, note=quietly)

    assert made == []
    assert results(run_folder) == before


def test_starting_a_complete_study_again_keeps_its_marks_and_measures(run_folder: Path, made: list[str]) -> None:
    study = run_folder.parent.parent / "study.toml"

    run_study(study, runs=run_folder.parent, quiet=True, note=quietly)

    assert made == []


def test_what_is_kept_is_what_would_be_made(run_folder: Path, made: list[str]) -> None:
    mark_run(run_folder, note=quietly)
    kept = results(run_folder)
    (run_folder / kept_results.FILE).unlink()

    mark_run(run_folder, note=quietly)

    assert made == ["marks", "measures"]
    assert results(run_folder) == kept


def test_a_changed_gold_is_marked_and_measured(run_folder: Path, made: list[str]) -> None:
    before = results(run_folder)
    write_cases(run_folder.parent.parent / "cases", gold=1)

    mark_run(run_folder, accept_changed_cases=True, note=quietly)

    assert made == ["marks", "measures"]
    assert results(run_folder) != before


def test_another_parser_marks_again_and_the_first_one_too(run_folder: Path, made: list[str]) -> None:
    before = results(run_folder)
    mark_run(run_folder, parser="medq-deg-paper", note=quietly)
    other = results(run_folder)

    mark_run(run_folder, note=quietly)

    assert made == ["marks", "measures"] * 2
    assert other != before
    assert results(run_folder) == before


@pytest.mark.parametrize(("name", "expected"), [("marks.parquet", ["marks"]), ("measures.csv", ["measures"])])
def test_a_result_that_was_changed_or_removed_is_made_again(
    run_folder: Path, made: list[str], name: str, expected: list[str]
) -> None:
    before = results(run_folder)
    (run_folder / name).unlink()
    mark_run(run_folder, note=quietly)
    (run_folder / name).write_bytes(b"edited")

    mark_run(run_folder, note=quietly)

    assert made == expected * 2
    assert results(run_folder) == before


def test_changed_code_of_measures_makes_measures_alone(
    run_folder: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = kept_results._code

    def changed(rooms: tuple[str, ...]) -> list[str]:
        return [*code(rooms), "changed"] if "measuring" in rooms else code(rooms)

    monkeypatch.setattr(kept_results, "_code", changed)

    mark_run(run_folder, note=quietly)

    assert made == ["measures"]


def test_with_extensions_all_is_made_again(run_folder: Path, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_results, "installed", lambda: [{"name": "theirs"}])

    mark_run(run_folder, note=quietly)

    assert made == ["marks", "measures"]
