"""Judge validation and error classes on the desk: blind, with kappa for the administrator, and labels as files."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from desk_site import DeskSite, case, read_all, write_set
from exam_study import write_cases, write_study
from sklearn.metrics import cohen_kappa_score

from wardround.desk.tasks.judge import compare_with_judge
from wardround.desk.tasks.one_choice import balanced_sample
from wardround.marking.judges.judge import read_verdicts
from wardround.measuring.validation.judge_labels import read_labels
from wardround.pipeline import run_study, validate_judge

MANY = 24


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> DeskSite:
    """A desk with a run in it: open questions, the first diagnosis right and the others not, judged by name."""
    site = DeskSite(tmp_path_factory.mktemp("desk"))
    names = [f"{first} {second}" for first in ("acute", "chronic", "familial") for second in "abcd"]
    cases = [
        {"id": f"case-{n}", "questions": [{"id": "open", "kind": "open", "prompt": "What?", "gold": f"{name} fever"}]}
        for n, name in enumerate(names)
    ]
    write_cases(site.root / "cases", cases)
    respondent = {"provider": "simulated", "extra_body": {"hit1": 1.0}}
    study = write_study(site.root, top={"name": "open"}, candidate=respondent, judge={"provider": "lexical"})
    assert run_study(study, runs=site.root / "runs", quiet=True, note=lambda line: None).exit_code == 0
    return site


def by_truth(site: DeskSite, task, slips: set[int] = frozenset()):
    """Says what the judge says, but for the slips."""

    def say(number: int, page: str):
        truth = site.desk.tasks.get_item(task, number).hidden["same"]
        return {"same": "same" if truth != (number in slips) else "not same", "comment": ""}

    return say


def test_pairs_are_judged_blind_and_the_labels_validate_the_judge(site, tmp_path):
    task = site.make_task("judge", "runs/open", ["role:attending"])
    items = site.desk.tasks.list_items(task)
    judged = read_verdicts(site.root / "runs" / "open").unique(["case", "question", "diagnosis"])
    assert len(items) == len(judged)
    one, other = site.add_person("One", "attending"), site.add_person("Other", "attending")
    page = one.get(f"/tasks/{task.id}/next").text
    assert "lexical" not in page
    assert not re.search(r"checked", page)
    slips = {items[0].number, items[1].number}
    assert len(read_all(one, task, by_truth(site, task))) == len(items)
    assert len(read_all(other, task, by_truth(site, task, slips))) == len(items)
    shown = site.admin.get(f"/admin/tasks/{task.id}").text
    labels = {item.number: item.hidden["same"] for item in items}
    second = [value != (number in slips) for number, value in labels.items()]
    assert f"{cohen_kappa_score(list(labels.values()), second):.2f}" in shown
    assert "2 open disagreements" in shown
    site.admin.submit(f"/admin/tasks/{task.id}/arbitrate")
    third = site.add_person("Third", "attending")
    assert len(read_all(third, task, by_truth(site, task))) == 2
    comparison = compare_with_judge(site.desk, task)
    assert comparison["items"] == len(items)
    assert comparison["figures"]["Cohen's kappa"]["value"] == pytest.approx(1.0)
    file = tmp_path / "labels.jsonl"
    file.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/labels.jsonl").content)
    validation = validate_judge(site.root / "runs" / "open", file)
    assert (validation["items"], validation["unmatched"]) == (len(items), [])
    assert validation["kappa"]["value"] == pytest.approx(1.0)


def test_kappa_with_the_judge_is_scikit_learns(site):
    task = site.make_task("judge", "runs/open", ["role:radiologist"], readers="1")
    items = site.desk.tasks.list_items(task)
    slips = {item.number for item in items[::5]}
    read_all(site.add_person("Rae", "radiologist"), task, by_truth(site, task, slips))
    judge = [item.hidden["same"] for item in items]
    people = [item.hidden["same"] != (item.number in slips) for item in items]
    kappa = compare_with_judge(site.desk, task)["figures"]["Cohen's kappa"]
    assert kappa["value"] == pytest.approx(cohen_kappa_score(judge, people))
    assert kappa["low"] < kappa["value"] < kappa["high"]


def test_who_cannot_tell_decides_nothing(site):
    task = site.make_task("judge", "runs/open", ["role:specialist"], readers="1")
    read_all(site.add_person("Spe", "specialist"), task, lambda number, page: {"same": "cannot tell", "comment": "?"})
    assert site.admin.get(f"/admin/tasks/{task.id}/export/labels.jsonl").content == b""
    assert compare_with_judge(site.desk, task)["items"] == 0


def test_pairs_come_as_a_file_too(site, tmp_path):
    (site.root / "pairs.csv").write_text("gold,diagnosis,accept\nGout,podagra,gouty arthritis|podagra\nGout,Lupus,\n")
    task = site.make_task("judge", "pairs.csv", ["role:resident"], readers="1")
    page = site.add_person("Res", "resident")
    assert "also called gouty arthritis; podagra" in page.get(f"/tasks/{task.id}/items/1").text
    read_all(page, task, lambda number, text: {"same": "same" if number == 1 else "not same", "comment": ""})
    file = tmp_path / "labels.jsonl"
    file.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/labels.jsonl").content)
    assert [(label.gold, label.diagnosis, label.same) for label in read_labels(file)] == [
        ("gout", "podagra", True),
        ("gout", "lupus", False),
    ]


@pytest.mark.parametrize("text", ["gold\nx\n", "not json", "[1]\n", '{"gold": "x"}\n'])
def test_bad_pairs_are_one_line(site, text):
    name = "bad.csv" if text.startswith("gold") else "bad.jsonl"
    (site.root / name).write_text(text)
    answer = site.admin.submit("/admin/tasks/new", {"kind": "judge", "project": "P", "name": "N", "source": name})
    assert answer.status_code == 422
    assert name in re.findall(r'role="alert">(.*?)</p>', answer.text)[0]


def test_a_balanced_draw_stands_for_the_whole():
    rows = [("yes", n) for n in range(90)] + [("no", n) for n in range(10)]
    drawn = balanced_sample(rows, lambda row: row[0], 40, 0)
    kinds = [row[0] for row, _ in drawn]
    assert (kinds.count("yes"), kinds.count("no")) == (30, 10)
    assert sum(weight for row, weight in drawn if row[0] == "yes") == pytest.approx(90)
    assert sum(weight for _, weight in drawn) == pytest.approx(100)
    assert drawn == balanced_sample(rows, lambda row: row[0], 40, 0)
    assert drawn != balanced_sample(rows, lambda row: row[0], 40, 1)
    assert balanced_sample(rows, lambda row: row[0], 0, 0) == [(row, 1.0) for row in rows]


@pytest.fixture(scope="module")
def reasoned(tmp_path_factory) -> DeskSite:
    """A desk with a run whose candidate is always wrong and reasons about it."""
    from exam_server import ExamServer

    site = DeskSite(tmp_path_factory.mktemp("desk"))
    write_cases(site.root / "cases", MANY)
    with ExamServer() as server:
        study = write_study(site.root, server.url)
        assert run_study(study, runs=site.root / "runs", quiet=True, note=lambda line: None).exit_code == 0
    return site


def test_error_classes_are_named_blind_to_the_candidate(reasoned, monkeypatch, tmp_path):
    from wardround.desk.tasks import errors
    from wardround.measuring.validation.error_validation import read_error_labels

    site = reasoned
    monkeypatch.setattr(errors, "reasoning_of", lambda answer, question: f"Because of {answer.text}, I think so.")
    task = site.make_task("errors", "runs/exam", ["role:attending"], many="0")
    items = site.desk.tasks.list_items(task)
    assert items
    one, other = site.add_person("One", "attending"), site.add_person("Other", "attending")
    page = one.get(f"/tasks/{task.id}/next").text
    assert "server" not in page
    assert "Because of" in page
    kinds = list(errors.CLASSES)

    def say(shift: int):
        return lambda number, page: {"class": kinds[(number + (shift if number % 4 == 0 else 0)) % 5], "comment": ""}

    read_all(one, task, say(0))
    read_all(other, task, say(1))
    first = [kinds[item.number % 5] for item in items]
    second = [kinds[(item.number + (item.number % 4 == 0)) % 5] for item in items]
    shown = site.admin.get(f"/admin/tasks/{task.id}").text
    assert f"{cohen_kappa_score(first, second):.2f}" in shown
    file = tmp_path / "labels.jsonl"
    file.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/labels.jsonl").content)
    labels = read_error_labels(file)
    assert len(labels) == sum(np.array(first) == np.array(second))
    assert {label.candidate for label in labels} == {"server"}
    assert all(json.loads(line)["class"] in kinds for line in file.read_text().splitlines())


def test_readers_of_an_error_see_the_images_and_may_name_perception(tmp_path):
    """Perception is a class of people only: the export has it, and `judge errors` counts it apart."""
    from exam_server import ExamServer

    from wardround.measuring.validation.error_validation import read_error_labels, validate_errors

    site = DeskSite(tmp_path / "desk")
    scan = [{"path": "images/1.png", "modality": "CT"}]
    write_set(site.root / "cases", [case(number, images=scan) for number in range(2)])
    wrong = "The long course and the many joints led me to think of lupus, so: the answer is B."
    with ExamServer(lambda body, index: wrong) as server:
        study = write_study(site.root, server.url)
        assert run_study(study, runs=site.root / "runs", quiet=True, note=lambda line: None).exit_code == 0
    task = site.make_task("errors", "runs/exam", ["role:radiologist"], many="0", readers="1")
    reader = site.add_person("Rae", "radiologist")
    page = reader.get(f"/tasks/{task.id}/next").text
    image = re.findall(r'<img src="(/images/[^"]+)"', page)[0]
    assert reader.get(image).headers["content-type"] == "image/png"
    assert "Perception" in page
    read_all(reader, task, lambda number, page: {"class": "perception_error", "comment": ""})
    assert "Readers name perception in 2" in site.admin.get(f"/admin/tasks/{task.id}").text
    labels = tmp_path / "labels.jsonl"
    labels.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/labels.jsonl").content)
    assert [label.kind for label in read_error_labels(labels)] == ["perception_error"] * 2
    marks = pl.read_parquet(site.root / "runs/exam/marks.parquet")
    named = marks.with_columns(error_class=pl.lit("medical_knowledge_deficiency"))
    named.write_parquet(site.root / "runs/exam/marks.parquet")
    first = labels.read_text().splitlines()[0].replace("perception_error", "medical_knowledge_deficiency")
    labels.write_text(first + "\n" + labels.read_text().splitlines()[1] + "\n")
    validated = validate_errors(site.root / "runs/exam", labels)
    assert (validated["items"], validated["perception"]) == (1, 1)
