"""FHIR: every task's Bundle is valid R4B (Questionnaires as in R4), and says what the verdicts say."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from desk_site import DeskSite, case, opinion, read_all, write_set
from test_exam import exam_case

pytest.importorskip("fhir.resources", reason="fhir.resources is not installed")

from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.questionnaire import Questionnaire
from fhir.resources.R4B.questionnaireresponse import QuestionnaireResponse

ID = re.compile(r"[A-Za-z0-9\-.]{1,64}")


def export(site: DeskSite, task) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The Questionnaire and the responses of a task, validated."""
    answer = site.admin.get(f"/admin/tasks/{task.id}/export/fhir.json")
    assert answer.headers["content-type"] == "application/fhir+json"
    bundle = json.loads(answer.content)
    Bundle.model_validate(bundle)
    resources = [entry["resource"] for entry in bundle["entry"]]
    Questionnaire.model_validate(resources[0])
    for response in resources[1:]:
        QuestionnaireResponse.model_validate(response)
        assert response["questionnaire"] == resources[0]["url"]
        check_links(resources[0].get("item", []), response.get("item", []))
    assert all(ID.fullmatch(resource["id"]) for resource in resources)
    urls = [entry["fullUrl"] for entry in bundle["entry"]]
    assert len(urls) == len(set(urls))
    return resources[0], resources[1:]


def check_links(defined: list[dict[str, Any]], answered: list[dict[str, Any]]) -> None:
    """Each answer has a question of its type (R4: QuestionnaireResponse.item.linkId)."""
    values = {"boolean": "valueBoolean", "decimal": "valueDecimal", "string": "valueString", "text": "valueString"}
    values["choice"] = "valueCoding"
    by_link = {item["linkId"]: item for item in defined}
    assert len(by_link) == len(defined)
    for item in answered:
        question = by_link[item["linkId"]]
        for answer in item.get("answer", []):
            assert values[question["type"]] in answer
            check_links(question.get("item", []), answer.get("item", []))
        check_links(question.get("item", []), item.get("item", []))


@pytest.fixture
def site(tmp_path) -> DeskSite:
    return DeskSite(tmp_path)


def test_a_review_with_edits_and_states(site):
    write_set(site.root / "set", [case(number) for number in range(3)])
    task = site.make_task("review", "set", ["role:student"], share="0")
    assert export(site, task)[1] == []
    edits = {"edit:history": "Another.", "edit:questions.mcq.options": "gout\nsepsis\nangina"}
    forms = {1: opinion("keep"), 2: opinion("edit", **edits), 3: opinion("discard", comment="Not medical.")}
    forms[3] |= {"is:images": ""}
    student = site.add_person("Stu", "student")
    read_all(student, task, lambda number, page: forms[number])
    questionnaire, responses = export(site, task)
    assert {item["linkId"]: item["type"] for item in questionnaire["item"]} == {
        "verdict": "string",
        "criteria": "group",
        "comment": "string",
        "edits": "text",
    }
    by_subject = {response["subject"]["display"]: response for response in responses}
    discarded = {item["linkId"]: item for item in by_subject["cases/c2"]["item"]}
    states = {item["linkId"]: item["answer"][0]["valueBoolean"] for item in discarded["criteria"]["item"]}
    assert states == {"criteria.complete": False, "criteria.distinct": True, "criteria.answer": True}
    assert discarded["comment"]["answer"] == [{"valueString": "Not medical."}]
    edited = {item["linkId"]: item for item in by_subject["cases/c1"]["item"]}
    assert json.loads(edited["edits"]["answer"][0]["valueString"])["history"] == "Another."
    assert by_subject["cases/c0"]["author"]["display"] == "Stu (student)"


def test_an_exam_is_one_response_for_each_person(site):
    write_set(site.root / "set", [exam_case(number, "Surgery") for number in range(2)])
    task = site.make_task("exam", "set", ["role:student"], cases="2", confidence="yes")
    student = site.add_person("Stu", "student")

    def answer(number: int, page: str) -> dict[str, str]:
        item = site.desk.tasks.get_item(task, number)
        if item.shown["page"] != "question":
            return {"agreed": "yes"} if item.shown["page"] == "rules" else {"ai": "no"}
        return {"option": "1", "confidence": "70"}

    student.get("/")
    read_all(student, task, answer)
    questionnaire, (response,) = export(site, task)
    assert [item["type"] for item in questionnaire["item"]] == ["choice", "choice"]
    assert len(questionnaire["item"][0]["answerOption"]) == 5
    assert response["status"] == "completed"
    for item in response["item"]:
        (chosen,) = item["answer"]
        assert chosen["valueCoding"]["code"] == "B"
        assert chosen["item"][0]["answer"] == [{"valueDecimal": 0.7}]


def test_other_kinds_are_valid_too(site):
    (site.root / "pairs.csv").write_text("gold,diagnosis\ngout,podagra\n")
    judge = site.make_task("judge", "pairs.csv", ["role:radiologist"])
    write_set(site.root / "scans", [case(1, images=[{"path": "images/1.png", "modality": "CT"}])])
    severity = site.make_task("severity", "scans", ["role:radiologist"], types="gaussian_blur", images="1")
    reader = site.add_person("Rae", "radiologist")
    read_all(reader, judge, lambda number, page: {"same": "same", "comment": ""})
    read_all(reader, severity, lambda number, page: {"l1": "0.5", "l2": "1.0", "l1_window": "40 400"})
    assert len(export(site, judge)[1]) == 1
    questionnaire, (marks,) = export(site, severity)
    assert {item["linkId"]: item["type"] for item in questionnaire["item"]}["l1"] == "decimal"
    assert marks["item"][0]["answer"] == [{"valueDecimal": 0.5}]


@pytest.mark.parametrize("kind", ["exam", "judge"])
def test_the_dictionary_describes_every_column(site, kind):
    write_set(site.root / "set", [exam_case(1, "Surgery")])
    (site.root / "pairs.csv").write_text("gold,diagnosis\ngout,podagra\n")
    task = site.make_task(kind, "set" if kind == "exam" else "pairs.csv", ["role:student"])
    folder = f"/admin/tasks/{task.id}/export"
    rows = list(csv.DictReader(io.StringIO(site.admin.get(f"{folder}/dictionary.csv").text)))
    for file in sorted({row["file"] for row in rows}):
        header = site.admin.get(f"{folder}/{file}").text.splitlines()[0].split(",")
        assert [row["column"] for row in rows if row["file"] == file] == header
    assert all(row["type"] and row["meaning"] for row in rows)
    assert ("answers.csv" in {row["file"] for row in rows}) == (kind == "exam")
