"""Rubric criteria on the desk: blind to candidate and points, three states, and labels for `judge criteria`."""

from __future__ import annotations

import csv
import io
import json
import re

import polars as pl
import pytest
from desk_site import SCRIPT, DeskSite, once, read_all, write_set
from exam_study import wardround, write_study
from sklearn.metrics import cohen_kappa_score

from wardround.desk.tasks.criteria import criterion_agreement
from wardround.pipeline import run_study

CRITERIA = [
    {"id": "ecg", "text": "Advises an ECG at once", "points": 6.5, "axis": "accuracy"},
    {"id": "troponin", "text": "Advises to measure troponin", "points": 4},
    {"id": "home", "text": f"Sends the patient home {SCRIPT}", "points": -8},
]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> DeskSite:
    """A desk with a run of rubric questions under two conditions, judged by a simulated judge."""
    site = DeskSite(tmp_path_factory.mktemp("desk"))
    question = {"id": "advice", "kind": "rubric", "prompt": "What do you do first?", "criteria": CRITERIA}
    talk = [{"role": "user", "content": "My chest hurts."}, {"role": "assistant", "content": "Since when?"}]
    scan = [{"path": "images/1.png", "modality": "X-ray"}]
    records = [
        {"id": f"c{number}", "history": f"Pain since noon, {number}.", "images": scan}
        | {"questions": [question | ({"conversation": talk} if number else {})]}
        for number in range(3)
    ]
    write_set(site.root / "cases", records)
    study = write_study(
        site.root,
        top={"name": "rubrics"},
        candidate={"name": "secretive", "provider": "simulated", "extra_body": {"criteria": 0.5, "penalties": 0.5}},
        judge={"provider": "simulated", "extra_body": {"accuracy": 1.0}},
        conditions={"images": ["as-is", "none"]},
    )
    ended = run_study(study, runs=site.root / "runs", quiet=True, note=lambda line: None)
    assert ended.exit_code == 0
    return site


def verdicts_of_judge(site: DeskSite) -> dict[tuple[str, str, str], bool]:
    marks = pl.read_parquet(site.root / "runs/rubrics/marks.parquet").filter(pl.col("criteria").is_not_null())
    return {
        (row["case"], row["condition"], criterion["id"]): criterion["met"]
        for row in marks.iter_rows(named=True)
        for criterion in row["criteria"]
    }


def like_the_judge(site: DeskSite, task, other: str | None = None, skipped: str | None = None):
    """Says what the judge says, but the reverse of it on the criterion `other` and nothing on `skipped`."""
    verdicts = verdicts_of_judge(site)

    def say(number: int, page: str) -> dict[str, str]:
        place = site.desk.tasks.get_item(task, number).hidden["place"]
        met = {
            id: verdicts[place["case"], place["condition"], id] != (id == other) for id in ("ecg", "troponin", "home")
        }
        return {f"is:{id}": "yes" if is_met else "no" for id, is_met in met.items() if id != skipped} | {"comment": ""}

    return say


def test_readers_judge_blind_and_their_labels_go_to_judge_criteria(site, tmp_path):
    task = site.make_task("criteria", "runs/rubrics", ["role:attending"], many="0")
    items = site.desk.tasks.list_items(task)
    verdicts = verdicts_of_judge(site)
    assert len(items) * 3 == len(verdicts)
    one, other = site.add_person("One", "attending"), site.add_person("Other", "attending")
    page = one.get(f"/tasks/{task.id}/next").text
    assert "secretive" not in page
    assert "6.5" not in page
    assert SCRIPT not in page
    assert re.findall(r'value="(\w*)" checked', page) == [""] * 3  # nothing is judged at first
    assert len(read_all(one, task, like_the_judge(site, task))) == len(items)
    read_all(other, task, like_the_judge(site, task, other="ecg", skipped="home"))
    content = site.admin.get(f"/admin/tasks/{task.id}/export/labels.csv").content
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert len(rows) == len(items) * 5
    assert not [row for row in rows if row["reader"] == "Other" and row["criterion"] == "home"]
    file = tmp_path / "labels.csv"
    file.write_bytes(content)
    command = ("judge", "criteria", str(site.root / "runs/rubrics"), "--labels", str(file), "--json")
    ended = wardround(*command, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert (result["labels"], result["unjudged"]) == (len(items) * 5, 0)  # one verdict of one condition each
    assert result["overall"]["agreement"]["value"] == pytest.approx(4 / 5)
    by_criterion = {(entry["case"], entry["criterion"]): entry["agreement"]["value"] for entry in result["criteria"]}
    assert by_criterion["c0", "ecg"] == pytest.approx(0.5)
    assert by_criterion["c0", "home"] == 1
    [agreement] = criterion_agreement(site.desk, task)
    shared = [(met, met != (id == "ecg")) for (_, _, id), met in verdicts.items() if id != "home"]
    assert agreement.items == len(shared)
    assert agreement.value == pytest.approx(cohen_kappa_score(*zip(*shared, strict=True)))
    shown = site.admin.get(f"/admin/tasks/{task.id}").text
    assert f"2 readers agree on 50% of {len(shared)} criteria" in shown
    for name in ("verdicts.csv", "verdicts.jsonl", "fhir.json", "dictionary.csv"):
        assert site.admin.get(f"/admin/tasks/{task.id}/export/{name}").status_code == 200, name
    assert site.admin.get(f"/admin/tasks/{task.id}/items/{items[0].number}").status_code == 200


def test_a_reader_sees_the_images_that_the_candidate_saw(site):
    task = site.make_task("criteria", "runs/rubrics", ["role:radiologist"], many="0", readers="1")
    reader = site.add_person("Rae", "radiologist")
    for item in site.desk.tasks.list_items(task):
        page = reader.get(f"/tasks/{task.id}/items/{item.number}").text
        has_images = json.loads(item.hidden["place"]["condition"])["images"] == "as-is"
        assert bool(re.findall(r'<img src="/images/', page)) == has_images, item.hidden["place"]["condition"]


def test_a_reading_without_a_verdict_needs_a_comment_and_can_be_changed(site):
    task = site.make_task("criteria", "runs/rubrics", ["role:resident"], many="1", readers="1")
    reader = site.add_person("Res", "resident")
    page = reader.get(f"/tasks/{task.id}/next")
    refused = reader.submit(str(page.url), {"once": once(page.text), "is:ecg": "", "comment": ""})
    assert refused.status_code == 422
    assert "Judge at least one criterion, or write why none can be judged." in refused.text
    empty = {"once": once(refused.text), "comment": "The answer is in another language."}
    assert reader.submit(str(page.url), empty, follow_redirects=False).status_code == 303
    assert site.admin.get(f"/admin/tasks/{task.id}/export/labels.csv").text.count("\n") == 1
    again = reader.get(str(page.url)).text
    changed = {"once": once(again), "is:home": "no", "is:unknown": "yes", "comment": ""}
    assert reader.submit(str(page.url), changed, follow_redirects=False).status_code == 303
    rows = list(csv.DictReader(io.StringIO(site.admin.get(f"/admin/tasks/{task.id}/export/labels.csv").text)))
    assert [(row["criterion"], row["met"]) for row in rows] == [("home", "not met")]
    assert 'name="is:home" value="no" checked' in reader.get(str(page.url)).text


def test_a_folder_without_rubric_answers_is_refused_in_one_line(site):
    form = {"kind": "criteria", "project": "P", "name": "N", "source": "cases"}
    answer = site.admin.submit("/admin/tasks/new", form)
    assert answer.status_code == 422
    assert "is not a run with marks" in re.findall(r'role="alert">(.*?)</p>', answer.text)[0]
