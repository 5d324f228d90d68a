"""A run is bound to its cases, images and prompts: changed ones are refused, or accepted and recorded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from exam_server import ExamServer
from exam_study import case, start, wardround, write_cases, write_study
from PIL import Image

from wardround.api import check, load_run
from wardround.cases.set import CaseSet
from wardround.core.errors import WardroundError
from wardround.pipeline import mark_run, report_runs, run_study

Record = dict[str, Any]


def silent(line: str) -> None:
    """Takes the notes of a run."""


def write_picture(path: Path, seed: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.random.default_rng(seed).integers(0, 255, (24, 24), dtype=np.uint8)).save(path)


class ExamRun:
    """A study of six cases, the first three with an image, that was run."""

    def __init__(self, folder: Path, server: ExamServer) -> None:
        self.workspace, self.server, self.folder = folder, server, folder / "runs" / "exam"
        self.study, self.prompt = folder / "study.toml", folder / "prompts" / "ours" / "choice.txt"
        self.cases: list[Record] = [case(number) for number in range(6)]
        for number in range(3):
            self.cases[number]["images"] = [{"path": f"images/{number}.png"}]

    def make(self) -> None:
        for number in range(3):
            write_picture(self.workspace / "cases" / "images" / f"{number}.png", number)
        self.prompt.parent.mkdir(parents=True)
        self.prompt.write_text("{history}\n\n{question}\n\n{options}\n")
        write_study(self.workspace, self.server.url, conditions={"prompt": "ours"}, candidate={"price_out": 1e6})
        self.write_cases()
        self.run()

    def write_cases(self) -> None:
        write_cases(self.workspace / "cases", self.cases)

    def run(self, **options: Any) -> Record:
        return run_study(self.study, runs=self.workspace / "runs", note=silent, quiet=True, **options).manifest

    def files(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in self.folder.iterdir() if file.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory):
    """The run, made once and moved away, so that a copy cannot find the first case set."""
    folder = tmp_path_factory.mktemp("made")
    with ExamServer(lambda body, index: "A") as server:
        ExamRun(folder / "first", server).make()
        yield shutil.move(folder / "first", folder / "copied"), server


@pytest.fixture
def exam(made: tuple[Path, ExamServer], tmp_path: Path) -> ExamRun:
    workspace, server = made
    shutil.copytree(workspace, tmp_path, dirs_exist_ok=True)
    return ExamRun(tmp_path, server)


def change_gold(exam: ExamRun) -> str:
    exam.cases[1]["questions"][0]["gold"] = 3
    return r"1 case changed: case-1 \(questions\)"


def change_option(exam: ExamRun) -> str:
    exam.cases[2]["questions"][0]["options"][0] = "something else"
    return r"1 case changed: case-2 \(questions\)"


def change_history(exam: ExamRun) -> str:
    exam.cases[4]["history"] = "Another history."
    return r"1 case changed: case-4 \(other fields\)"


def change_image(exam: ExamRun) -> str:
    write_picture(exam.workspace / "cases" / "images" / "0.png", 99)
    return r"1 case changed: case-0 \(images\)"


def remove_image(exam: ExamRun) -> str:
    (exam.workspace / "cases" / "images" / "0.png").unlink()
    return r"1 case changed: case-0 \(images\)"


def change_prompt(exam: ExamRun) -> str:
    exam.prompt.write_text("{question}\n\n{history}\n\n{options}\n")
    return "changed: prompt ours/choice"


def change_many(exam: ExamRun) -> str:
    for record in exam.cases:
        record["history"] += " More."
    return r"6 cases changed: case-0 \(other fields\), .*case-4 \(other fields\) and 1 more"


CHANGES = (change_gold, change_option, change_history, change_image, remove_image, change_prompt, change_many)


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_after_the_run_is_refused_by_name_and_no_file_changes(exam, change):
    before, expected = exam.files(), change(exam)
    exam.write_cases()

    for act in (mark_run, lambda folder: report_runs([folder]), lambda folder: load_run(folder).answers()):
        with pytest.raises(WardroundError, match=f"differs from when it was run: {expected}"):
            act(exam.folder)

    assert exam.files() == before


@pytest.mark.parametrize("change", CHANGES)
def test_accepted_changes_are_marked_and_listed_in_manifest_and_report(exam, change):
    change(exam)
    exam.write_cases()

    outcome = mark_run(exam.folder, accept_changed_cases=True, note=silent)

    summary = outcome.manifest["changed_inputs"]["summary"]
    assert "changed: " in summary
    assert "changed after the run, and used as it is now" in (exam.folder / "report.html").read_text()
    report_runs([exam.folder], with_cases=True)  # needs no second consent
    assert len(load_run(exam.folder).answers()[:]) == 6


def test_an_accepted_gold_is_the_one_that_is_marked(exam):
    before = load_run(exam.folder).marks
    change_gold(exam)
    exam.write_cases()

    ended = wardround("mark", exam.folder, "--accept-changed-cases", cwd=exam.workspace)

    after = load_run(exam.folder).marks
    assert ended.returncode == 0
    assert "warning: changed after the run, and used as it is now: 1 case changed: case-1 (questions)" in ended.stderr
    assert before.filter(case="case-1")["gold"].to_list() == [1]
    assert after.filter(case="case-1")["gold"].to_list() == [3]
    assert after.filter(pl.col("case") != "case-1").equals(before.filter(pl.col("case") != "case-1"))


def test_a_case_set_that_was_put_back_is_marked_without_a_warning(exam):
    change_gold(exam)
    exam.write_cases()
    mark_run(exam.folder, accept_changed_cases=True, note=silent)
    exam.cases[1]["questions"][0]["gold"] = 1
    exam.write_cases()

    outcome = mark_run(exam.folder, note=silent)

    assert outcome.manifest["changed_inputs"] is None
    assert "changed after the run" not in (exam.folder / "report.html").read_text()


def test_changes_after_those_that_were_accepted_are_refused_again(exam):
    change_gold(exam)
    exam.write_cases()
    mark_run(exam.folder, accept_changed_cases=True, note=silent)
    exam.cases[1]["questions"][0]["gold"] = 2
    exam.write_cases()

    with pytest.raises(WardroundError, match="1 case changed"):
        report_runs([exam.folder])


def test_spaces_order_of_keys_and_further_cases_do_not_matter_to_marks(exam):
    before = load_run(exam.folder).marks
    lines = [json.dumps(dict(reversed(record.items())), indent=None, separators=(" ,", " : ")) for record in exam.cases]
    lines.append(json.dumps(case(77)))
    (exam.workspace / "cases" / "cases.jsonl").write_text("\n".join(reversed(lines)) + "\n")

    mark_run(exam.folder, note=silent)

    assert load_run(exam.folder).marks.equals(before)


@pytest.mark.parametrize("lost", ["case", "question"])
def test_a_question_that_is_not_there_any_more_cannot_be_accepted(exam, lost):
    before = exam.files()
    if lost == "case":
        del exam.cases[3]
    else:
        exam.cases[3]["questions"][0]["id"] = "renamed"
    exam.write_cases()

    name = "case case-3" if lost == "case" else "question mcq of case case-3"
    with pytest.raises(WardroundError, match=f"lacks {name}, which .* asked; name the run's own case set by --cases"):
        mark_run(exam.folder, accept_changed_cases=True)

    assert exam.files() == before


def test_a_run_without_a_hash_of_each_case_is_compared_as_a_whole(exam):
    (exam.folder / "case_hashes.parquet").unlink()
    (exam.folder / "image_hashes.parquet").unlink()
    mark_run(exam.folder, note=silent)
    change_gold(exam)
    exam.write_cases()

    with pytest.raises(WardroundError, match="the case set changed; which cases cannot be said"):
        mark_run(exam.folder)
    with pytest.raises(WardroundError, match="the case set changed"):
        exam.run()
    assert mark_run(exam.folder, accept_changed_cases=True, note=silent).manifest["changed_inputs"]["unlisted"]


def test_a_new_start_on_changed_cases_says_what_it_would_buy_and_needs_amend(exam):
    calls, before = exam.server.calls, exam.files()
    change_history(exam)
    exam.cases.append(case(6))
    exam.cases.append(case(7))
    exam.write_cases()

    ended = wardround("run", exam.study, cwd=exam.workspace)

    assert ended.returncode == 1
    (line,) = [line for line in ended.stderr.splitlines() if "differs" in line]
    assert "1 case changed: case-4 (other fields); 2 cases added: case-6, case-7; stored 5 of 8; 3 new, about" in line
    assert "--amend" in line
    assert exam.server.calls == calls
    assert exam.files() == before
    manifest = exam.run(amend=True)
    (amendment,) = manifest["amendments"]
    assert amendment["cases"] == {"case-4": ["other fields"]}
    assert amendment["added"] == ["case-6", "case-7"]
    assert exam.run()["amendments"] == [amendment]  # bound to what it was amended to
    mark_run(exam.folder, note=silent)


@pytest.mark.parametrize("change", [change_image, change_prompt])
def test_a_new_start_with_changed_images_or_prompts_needs_amend(exam, change):
    expected = change(exam)

    with pytest.raises(WardroundError, match=f"{expected}; stored . of 6; . new, about .* USD"):
        exam.run()

    assert exam.run(amend=True)["amendments"][0]["summary"]
    mark_run(exam.folder, note=silent)


def test_a_new_start_on_a_set_that_lost_cases_needs_amend(exam):
    del exam.cases[5]
    exam.write_cases()

    with pytest.raises(WardroundError, match="1 case missing: case-5; stored 5 of 5; 0 new"):
        exam.run()

    assert exam.run(amend=True)["amendments"][0]["removed"] == ["case-5"]


def test_check_says_what_changed(exam, capsys):
    options = {"runs": exam.workspace / "runs", "note": silent}
    assert check(exam.study, **options).summary["amend"] is None
    change_gold(exam)
    exam.write_cases()

    ended = wardround("check", exam.study, cwd=exam.workspace)

    assert "1 case changed: case-1 (questions)" in check(exam.study, **options).summary["amend"]
    assert "1 case changed: case-1 (questions); stored" in ended.stderr  # before the first Ask


def test_an_amended_run_that_was_killed_is_not_marked_with_the_new_cases(exam):
    """Its used answers are still those to the earlier cases."""
    change_history(exam)
    exam.write_cases()
    calls = exam.server.calls
    exam.server.hold()
    process = start("run", exam.study, "--amend", cwd=exam.workspace)
    exam.server.wait_for(lambda: exam.server.calls > calls, process)
    process.kill()
    process.communicate()
    exam.server.release()

    with pytest.raises(WardroundError, match="was amended and stopped before its end; continue it by `wardround run`"):
        mark_run(exam.folder)

    assert len(exam.run()["amendments"]) == 1
    mark_run(exam.folder, note=silent)


def test_the_cases_of_a_run_are_read_once(exam, monkeypatch):
    read: list[Path] = []
    read_set = CaseSet.read
    monkeypatch.setattr(CaseSet, "read", lambda folder, **options: read.append(folder) or read_set(folder, **options))

    assert exam.run()["status"] == "complete"

    assert read == [exam.workspace / "cases"]


def test_a_file_that_changed_while_it_was_asked_about_is_read_again_and_refused(exam, monkeypatch):
    def mark_later(*arguments: Any, **options: Any) -> Any:
        change_gold(exam)
        exam.write_cases()
        return mark_run(*arguments, **options)

    monkeypatch.setattr("wardround.pipeline.mark_run", mark_later)

    with pytest.raises(WardroundError, match="differs from when it was run: 1 case changed"):
        exam.run()


def test_with_swapped_images_every_case_of_the_set_matters(tmp_path):
    records = [case(number, images=[{"path": f"{number}.png", "modality": "CT"}]) for number in range(4)]
    for number in range(5):
        write_picture(tmp_path / "cases" / f"{number}.png", number)
    write_cases(tmp_path / "cases", records)
    with ExamServer() as server:
        study = write_study(tmp_path, server.url, conditions={"images": "swapped"})
        folder = run_study(study, runs=tmp_path / "runs", note=silent, quiet=True).folder
    write_cases(tmp_path / "cases", [*records, case(4, images=[{"path": "4.png", "modality": "CT"}])])

    with pytest.raises(WardroundError, match="1 case added: case-4"):
        mark_run(folder)
