"""A packed run travels: it is marked, reported and viewed elsewhere, without what it was made from."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exam_server import ExamServer
from exam_study import case, wardround, write_cases, write_study
from PIL import Image

from wardround.api import Run, load_run
from wardround.core.errors import WardroundError
from wardround.degrade.severities import SHIPPED_TABLE
from wardround.pipeline import mark_run, report_runs, run_study

SECRET = "a-key-that-stays-here"


def silent(line: str) -> None:
    """Takes the notes of a run."""


def write_picture(path: Path, seed: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.random.default_rng(seed).integers(0, 255, (48, 48), dtype=np.uint8)).save(path)


def write_workspace(folder: Path, url: str, **tables: Any) -> Path:
    """Six cases with images, one of them for training and two with equal files, and a study with its own files."""
    records = []
    for number in range(6):
        question = {"id": "dx", "kind": "open", "prompt": "What is it?", "gold": "gout"}
        record = case(number, images=[{"path": f"images/{number}/scan.png", "modality": "X-ray"}])
        record["questions"].append(question)
        records.append(record)
        write_picture(folder / "cases" / f"images/{number}/scan.png", max(number, 1))
    records[5]["split"] = "train"
    write_cases(folder / "cases", records)
    for kind in ("choice", "open"):
        prompt = folder / "study" / "prompts" / "ours" / f"{kind}.txt"
        prompt.parent.mkdir(parents=True, exist_ok=True)
        prompt.write_text("Ours.\n\n{history}\n\n{question}\n\n{options}\n")
    shutil.copyfile(SHIPPED_TABLE, folder / "table.toml")
    (folder / "synonyms.csv").write_text("name,same_as\npodagra,gout\n")
    return write_study(
        folder / "study",
        url,
        top={"cases": "../cases", "severities": "../table.toml:clinical-1"},
        candidate={"api_key_env": "EXAM_SECRET"},
        conditions={"prompt": "ours", "degradation": ["none", "gaussian_noise@L2"]},
        judge={"provider": "lexical", "extra_body": {"synonyms": "../synonyms.csv"}},
        **tables,
    )


def examine_packed(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXAM_SECRET", SECRET)
    with ExamServer(lambda body, index: "1. podagra\n\nA") as server:
        study = write_workspace(workspace, server.url)
        return run_study(study, runs=workspace / "runs", pack=True, note=silent, quiet=True).folder


def shown(run: Run) -> list[tuple[str, tuple[bytes, ...], str, str]]:
    return [(answer.prompt, answer.images, answer.reply, answer.outcome) for answer in run.answers()]


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory):
    """What a packed run showed at home, and the run after its home is gone."""
    folder = tmp_path_factory.mktemp("packed")
    with pytest.MonkeyPatch.context() as patch:
        run = examine_packed(folder / "home", patch)
    at_home = (load_run(run).marks, shown(load_run(run)))
    shutil.move(run, folder / "exam")
    shutil.rmtree(folder / "home")
    return at_home, folder / "exam"


@pytest.fixture
def journey(packed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What a packed run showed at home, and the run in another place."""
    at_home, folder = packed
    subprocess.run(["cp", "-a", folder, tmp_path / "exam"], check=True)  # equal files stay one file
    monkeypatch.chdir(tmp_path)
    return at_home, tmp_path / "exam"


def test_a_packed_run_is_marked_and_viewed_where_nothing_else_is(journey):
    (marks, views), folder = journey

    outcome = mark_run(folder, note=silent)

    assert (outcome.exit_code, outcome.manifest["status"]) == (0, "complete")
    assert outcome.manifest["changed_inputs"] is None
    assert load_run(folder).marks.equals(marks)
    assert set(marks["outcome"]) == {"right", "wrong"}  # by the table of synonyms
    assert shown(load_run(folder)) == views
    assert any(images for _, images, _, _ in views)
    assert all(prompt.startswith("Ours.") for prompt, _, _, _ in views)


def test_a_packed_run_is_reported_with_its_cases_where_nothing_else_is(journey):
    _, folder = journey

    ended = wardround("report", folder, "--with-cases", cwd=folder.parent)

    assert ended.returncode == 0, ended.stderr
    page = next((folder / "cases").glob("*case-1*.html")).read_text()
    image = page.partition('<img src="')[2].partition('"')[0]
    assert (folder / "cases" / image).read_bytes().startswith(b"\x89PNG")
    assert "1. podagra" in page


def test_a_packed_run_holds_used_cases_alone_and_equal_images_once(journey):
    _, folder = journey

    lines = (folder / "packed" / "cases" / "cases.jsonl").read_text().splitlines()

    assert [json.loads(line)["id"] for line in lines] == [f"case-{number}" for number in range(5)]
    images = sorted((folder / "packed" / "cases").rglob("*.png"))
    assert len(images) == 5
    assert len({os.stat(image).st_ino for image in images}) == 4


def test_a_packed_run_holds_no_secret(journey):
    _, folder = journey

    holders = [file for file in folder.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]

    assert holders == []


def test_a_changed_case_of_a_packed_run_is_refused(journey):
    _, folder = journey
    file = folder / "packed" / "cases" / "cases.jsonl"
    file.write_text(file.read_text().replace("History of patient 2.", "History."))

    with pytest.raises(WardroundError, match=r"1 case changed: case-2 \(other fields\)"):
        mark_run(folder)


def test_a_packed_run_that_goes_on_is_packed_again(tmp_path, monkeypatch):
    monkeypatch.setenv("EXAM_SECRET", SECRET)
    with ExamServer() as server:
        study = write_workspace(tmp_path, server.url)
        run_study(study, runs=tmp_path / "runs", pack=True, note=silent, quiet=True)
        file = tmp_path / "cases" / "cases.jsonl"
        file.write_text(file.read_text().replace("History of patient 2.", "History."))
        folder = run_study(study, runs=tmp_path / "runs", amend=True, note=silent, quiet=True).folder
    shutil.rmtree(tmp_path / "cases")
    (tmp_path / "answers.sqlite").unlink()

    assert mark_run(folder, note=silent).exit_code == 0
    assert '"History."' in (folder / "packed" / "cases" / "cases.jsonl").read_text()


def test_swapped_images_of_a_packed_run_are_those_that_were_shown(tmp_path):
    records = [case(number, images=[{"path": f"{number}.png", "modality": "CT"}]) for number in range(5)]
    records[3]["split"] = "train"  # not examined, but its image may be shown
    for number in range(5):
        write_picture(tmp_path / "home" / "cases" / f"{number}.png", number)
    write_cases(tmp_path / "home" / "cases", records)
    with ExamServer() as server:
        study = write_study(tmp_path / "home", server.url, conditions={"images": "swapped"})
        folder = run_study(study, runs=tmp_path / "home" / "runs", pack=True, note=silent, quiet=True).folder
    views = shown(load_run(folder))
    shutil.move(folder, tmp_path / "exam")
    shutil.rmtree(tmp_path / "home")

    assert shown(load_run(tmp_path / "exam")) == views
    assert all(len(images) == 1 for _, images, _, _ in views)


def test_answers_of_a_model_judge_and_its_prompt_are_packed(tmp_path, monkeypatch):
    question = {"id": "dx", "kind": "open", "prompt": "What is it?", "gold": "gout"}
    write_cases(tmp_path / "home" / "cases", [case(number, questions=[question]) for number in range(3)])
    with ExamServer(lambda body, index: "1. podagra") as server, ExamServer(lambda body, index: "Yes") as judge:
        settings = {"provider": "openai", "base_url": judge.url, "model": "judge"}
        study = write_study(tmp_path / "home", server.url, judge=settings)
        outcome = run_study(study, runs=tmp_path / "home" / "runs", pack=True, note=silent, quiet=True)
    shutil.move(outcome.folder, tmp_path / "exam")
    shutil.rmtree(tmp_path / "home")

    again = mark_run(tmp_path / "exam", note=silent)

    assert again.exit_code == 0
    assert set(load_run(tmp_path / "exam").marks["outcome"]) == {"right"}
    assert list((tmp_path / "exam" / "packed" / "prompts").rglob("same.txt"))
    spending = ("calls", "tokens_in", "tokens_out", "cost")
    assert [again.manifest["judge"][name] for name in spending] == [
        outcome.manifest["judge"][name] for name in spending
    ]


def unpacked_run(workspace: Path, **top: str) -> Path:
    write_cases(workspace / "cases", 4)
    with ExamServer() as server:
        study = write_study(workspace / "studies", server.url, top={"cases": "../cases", **top})
        return run_study(study, runs=workspace / "runs", note=silent, quiet=True).folder


def test_a_workspace_that_was_moved_as_a_whole_is_opened_as_before(tmp_path):
    folder = unpacked_run(tmp_path / "old")
    shutil.move(tmp_path / "old", tmp_path / "new")

    assert mark_run(tmp_path / "new" / "runs" / folder.name, note=silent).exit_code == 0


def test_a_case_set_near_the_run_is_known_by_its_hash(tmp_path, monkeypatch):
    """Of two case sets of the same name the one with the run's hash is taken."""
    folder = unpacked_run(tmp_path / "old")
    elsewhere = tmp_path / "elsewhere"
    shutil.move(tmp_path / "old" / "cases", elsewhere / "cases")
    write_cases(tmp_path / "old" / "cases", 2)
    monkeypatch.chdir(elsewhere)

    assert mark_run(folder, note=silent).exit_code == 0


def test_a_case_set_that_is_nowhere_near_must_be_named(tmp_path, monkeypatch):
    folder = unpacked_run(tmp_path / "old")
    shutil.move(tmp_path / "old" / "cases", tmp_path / "far" / "away")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(WardroundError, match=r"its case set is not at .* or near the run; name it by --cases PATH"):
        mark_run(folder)
    report_runs([folder])  # shows no case
    ended = [
        wardround(*command, folder, "--cases", tmp_path / "far" / "away", cwd=tmp_path)
        for command in (["mark"], ["report", "--with-cases"])
    ]

    assert [process.returncode for process in ended] == [0, 0]
    assert len(load_run(folder, cases=tmp_path / "far" / "away").answers()[:]) == 4
