"""Construction on the desk: a question from a report, point by point, or the report is discarded."""

from __future__ import annotations

import json

import numpy as np
import pytest
from desk_site import DeskSite, once
from PIL import Image

from wardround.cases.conversion import convert
from wardround.cases.set import CaseSet
from wardround.cases.validation import validate
from wardround.desk.tasks.construct import IMAGE_POINTS, TEXT_POINTS

REPORT = "A 40-year-old woman had a swollen toe for two days. Urate was 9 mg/dl. X-ray: a tophus. Diagnosis: gout."
OTHERS = ["Septic arthritis", "Pseudogout", "Cellulitis", "Stress fracture", "Reactive arthritis"]
WRITTEN = {
    "decision": "write",
    "stem": "A 40-year-old woman had a swollen toe for two days. Urate was 9 mg/dl. X-ray showed a chalky deposit.",
    "diagnosis": "Gout.",
    "others": "\n".join(OTHERS),
    "specialty": "Orthopedics",
    "point": [*TEXT_POINTS],
}
SHOWN = {
    "image": ["0"],
    "image_stem": "A 40-year-old woman had a swollen toe for two days. Urate was 9 mg/dl. The X-ray is in Figure 1.",
    "point": [*TEXT_POINTS, *IMAGE_POINTS],
}


@pytest.fixture
def site(tmp_path) -> DeskSite:
    site = DeskSite(tmp_path)
    reports = site.root / "reports"
    (reports / "toe").mkdir(parents=True)
    (reports / "toe.txt").write_text(REPORT)
    Image.fromarray(np.arange(64 * 64, dtype=np.uint8).reshape(64, 64)).save(reports / "toe" / "xray.png")
    (reports / "other.html").write_text("<html><script>x</script><p>No case at all.</p></html>")
    site.student = site.add_person("Stu", "student")
    return site


@pytest.fixture
def task(site):
    return site.make_task("construct", "reports", ["role:student"])


def save(site: DeskSite, task, number: int, form: dict):
    """What the page answers when a student saves this form."""
    visitor = site.student
    address = f"/tasks/{task.id}/items/{number}"
    page = visitor.get(address)
    return visitor.submit(address, {"once": once(page.text), **form}, follow_redirects=False)


def item_number(site: DeskSite, task, name: str) -> int:
    return next(item.number for item in site.desk.tasks.list_items(task) if item.name == name)


def export(site: DeskSite, task, file: str) -> str:
    return site.admin.get(f"/admin/tasks/{task.id}/export/{file}").text


def test_a_written_question_becomes_a_case_with_both_tellings(site, task):
    assert save(site, task, item_number(site, task, "toe"), WRITTEN | SHOWN).status_code == 303
    discarded = {"decision": "discard", "comment": "no patient"}
    assert save(site, task, item_number(site, task, "other"), discarded).status_code == 303
    (site.root / "reports" / "cases.jsonl").write_text(export(site, task, "cases.jsonl"))
    assert not validate(site.root / "reports")
    (case,) = CaseSet.open(site.root / "reports")
    (question,) = case.questions
    assert (case.id, case.specialty, case.patient.age, case.patient.sex) == ("toe", "Orthopedics", 40, "F")
    assert question.gold_text == "Gout"
    assert sorted(question.options) == sorted(["Gout", *OTHERS])
    assert (case.tellings["text"].images, case.tellings["multimodal"].images) == ([], [0])
    assert case.images[0].path == "toe/xray.png"


def test_the_records_are_read_back_as_clinbenchs(site, task):
    save(site, task, item_number(site, task, "toe"), WRITTEN | SHOWN)
    (site.root / "reports" / "records.jsonl").write_text(export(site, task, "clinbench.jsonl"))
    convert(site.root / "reports" / "records.jsonl", site.root / "read", layout="clinbench")
    (case,) = CaseSet.open(site.root / "read")
    assert set(case.tellings) == {"text", "multimodal"}
    assert case.questions[0].gold_text == "Gout"
    assert case.questions[0].prompt == "What is the most likely primary diagnosis for this patient?"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"others": "\n".join(OTHERS[:4])}, "there are 5 options"),
        ({"others": "\n".join([*OTHERS, "Acute gout"])}, "two options overlap"),
        ({"stem": "She had gout of the toe."}, "names the diagnosis"),
        ({"point": [*TEXT_POINTS][1:]}, "not ticked: The stem has the report"),
        ({"image": ["0"]}, "chosen images need that stem"),
        ({"specialty": "Alchemy"}, "a specialty of the list"),
        ({"decision": ""}, "choose whether"),
        ({"decision": "discard", "comment": ""}, "why the report is discarded"),
        ({**SHOWN, "point": [*TEXT_POINTS]}, "not ticked: Each chosen image"),
    ],
)
def test_what_the_instructions_ask_for_is_checked(site, task, change, problem):
    answer = save(site, task, item_number(site, task, "toe"), WRITTEN | change)
    assert answer.status_code == 422
    assert problem in answer.text.lower() or problem in answer.text
    assert export(site, task, "cases.jsonl") == ""


def test_a_report_is_text_whatever_it_is_written_in(site, task):
    page = site.student.get(f"/tasks/{task.id}/items/{item_number(site, task, 'other')}").text
    assert "No case at all." in page
    assert "<script>x" not in page


def test_the_order_of_options_depends_on_the_seed_alone(site, task):
    save(site, task, item_number(site, task, "toe"), WRITTEN)
    first = json.loads(export(site, task, "cases.jsonl"))
    again = json.loads(export(site, task, "cases.jsonl"))
    assert first["questions"][0]["options"] == again["questions"][0]["options"] != ["Gout", *OTHERS]


@pytest.mark.parametrize(
    "change",
    [{"stem": 5}, {"others": "gout"}, {"others": [5] * 5}, {"images": ["0"]}, {"images": [7]}, {"points": None}],
)
def test_a_program_that_sends_something_else_is_refused(site, task, change):
    number = item_number(site, task, "toe")
    site.student.get(f"/tasks/{task.id}/items/{number}")
    written = {"decision": "write", "stem": WRITTEN["stem"], "diagnosis": "Gout", "others": OTHERS, "images": []}
    written |= {"points": [*TEXT_POINTS], "comment": ""}
    address = f"/api/tasks/{task.id}/items/{number}/verdict"
    assert site.student.submit_json(address, {"said": written | change, "once": "once-and-wrong"}).status_code == 422
    accepted = site.student.submit_json(address, {"said": written, "once": "once-and-right"})
    assert accepted.status_code == 200, accepted.text
