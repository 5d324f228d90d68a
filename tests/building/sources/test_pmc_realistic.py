"""Realistic case reports in the layouts of different journals: how many pass, and that no gold is wrong unread."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jats_articles import picture
from realistic_reports import as_jats, read_reports, save_reports

from wardround.building.review.review import review
from wardround.building.sources.pmc.build import build_pmc
from wardround.building.sources.pmc.jats import read_jats
from wardround.cases.set import CaseSet
from wardround.cases.validation import validate
from wardround.core.names import content_words

MIN_YIELD = 0.6
JOURNALS = Path(__file__).parent / "reports" / "journals.toml"
NO_DISEASES = (
    "dialysis",
    "recipient",
    "alternatives",
    "d-dimer",
    "sinus rhythm",
    "lupus anticoagulant",
    "hyponatremia",
)
JUNK = ("patient", "case", "biopsy", "autism", "bite", "these", "our")


@pytest.fixture(scope="module")
def reports() -> list[dict[str, Any]]:
    return [*read_reports("first"), *read_reports("later")]


@pytest.fixture(scope="module")
def built_set(reports: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("realistic")
    save_reports(folder / "in", reports)
    return build_pmc(folder / "in", folder / "set").folder


def is_right(name: str, report: dict[str, Any]) -> bool:
    words = set(content_words(name))
    return any(set(content_words(gold)) <= words or words <= set(content_words(gold)) for gold in report["gold"])


def report_of(case_id: str, reports: list[dict[str, Any]]) -> dict[str, Any]:
    return next(report for report in reports if case_id == f"pmc-{8_000_000 + report['number']}")


def test_most_reports_become_cases_and_every_gold_is_right(built_set, reports):
    cases = list(CaseSet.open(built_set))
    assert not validate(built_set)
    assert len(cases) >= MIN_YIELD * len(reports)
    for case in cases:
        question = case.questions[0]
        report = report_of(case.id, reports)
        assert is_right(question.choices[int(question.gold)], report), report["title"]
        for option in question.choices:
            assert not set(JUNK) & set(option.lower().split()), option


def test_a_rival_diagnosis_goes_to_people(built_set, reports):
    items = [json.loads(line) for line in (built_set / "review" / "diagnosis.jsonl").read_text().splitlines()]
    titles = {report_of(item["id"], reports)["title"]: item for item in items}
    vasculitis = titles["Fever of Unknown Origin and Dementia: the Diagnosis Came Too Late"]
    assert vasculitis["reason"] == "the diagnosis is in doubt: 'Central nervous system vasculitis' is stated too"
    assert vasculitis["diagnosis"] == "Intravascular large B-cell lymphoma"
    assert [candidate["diagnosis"] for candidate in vasculitis["candidates"]][:2] == [
        "Intravascular large B-cell lymphoma",
        "Central nervous system vasculitis",
    ]
    assert any(line.startswith("keywords: intravascular") for line in vasculitis["candidates"][0]["evidence"])
    assert "methylprednisolone was given" in vasculitis["case_text"]
    assert "Takotsubo cardiomyopathy triggered by an unsuspected pheochromocytoma" in titles
    assert all("case" in item for item in items)


def test_no_past_or_family_diagnosis_is_ever_offered_as_gold(built_set, reports):
    past = {"psoriasis", "hodgkin lymphoma", "prostate cancer", "colon cancer", "panic disorder", "hypertension"}
    for case in CaseSet.open(built_set):
        question = case.questions[0]
        assert question.choices[int(question.gold)].lower() not in past


def test_a_stem_says_neither_the_diagnosis_nor_its_treatment(built_set):
    histories = {case.id: str(case.history) for case in CaseSet.open(built_set)}
    scurvy = histories["pmc-8000008"]
    assert "corkscrew hairs" in scurvy
    assert "ascorbic acid" not in scurvy
    held = map(json.loads, (built_set / "review" / "diagnosis.jsonl").read_text(encoding="utf-8").splitlines())
    [jejunum] = [item["case"]["history"] for item in held if item["id"] == "pmc-8000001"]
    assert "extraluminal gas" in jejunum
    assert "diverticulitis" not in jejunum
    assert "piperacillin" not in jejunum


def test_keywords_are_read(reports, tmp_path):
    (tmp_path / "one.nxml").write_text(as_jats(reports[1]), encoding="utf-8")
    assert read_jats(tmp_path / "one.nxml")["keywords"] == reports[1]["keywords"]


@pytest.fixture(scope="module")
def reports_by_id() -> dict[str, dict[str, Any]]:
    reports = tomllib.loads(JOURNALS.read_text(encoding="utf-8"))["report"]
    return {f"pmc-{9_100_000 + number}": report for number, report in enumerate(reports, start=1)}


@pytest.fixture(scope="module")
def journal_set(reports_by_id: dict[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("journals")
    for number, report in enumerate(reports_by_id.values()):
        place = folder / "in" / report["name"]
        place.mkdir(parents=True)
        (place / "main.nxml").write_text(report["xml"].strip(), encoding="utf-8")
        for index, file in enumerate(report["files"]):
            picture(5_000 + number * 10 + index).save(place / file)
    return build_pmc(folder / "in", folder / "set").folder


def has_gold(name: str, report: dict[str, Any]) -> bool:
    words, gold = set(content_words(name)), set(content_words(report["gold"]))
    return bool(gold) and gold <= words


def test_every_gold_without_review_has_gold(journal_set, reports_by_id):
    for case in CaseSet.open(journal_set):
        question = case.questions[0]
        assert has_gold(question.choices[int(question.gold)], reports_by_id[case.id]), reports_by_id[case.id]["name"]
    assert not validate(journal_set)


def proposed_diagnoses(folder: Path) -> dict[str, list[str]]:
    """What a reader of each held case can choose: the option marked right, and the candidates."""
    proposed: dict[str, list[str]] = {}
    file = folder / "review" / "diagnosis.jsonl"
    for item in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        assert item["case"]["questions"][0]["options"]
        assert all(candidate["evidence"] for candidate in item["candidates"])
        proposed[item["id"]] = [item["diagnosis"], *(candidate["diagnosis"] for candidate in item["candidates"])]
    return proposed


def test_what_is_not_in_the_set_is_held_with_its_diagnosis_among_the_candidates(journal_set, reports_by_id):
    ids, proposed = {case.id for case in CaseSet.open(journal_set)}, proposed_diagnoses(journal_set)
    for id, report in reports_by_id.items():
        if report["gold"] and id not in ids:
            assert any(has_gold(name, report) for name in proposed[id]), report["name"]


@pytest.fixture(scope="module")
def unseen_reports() -> list[dict[str, Any]]:
    return read_reports("unseen")


@pytest.fixture(scope="module")
def unseen_set(unseen_reports: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unseen")
    save_reports(folder / "in", unseen_reports)
    return build_pmc(folder / "in", folder / "set").folder


def test_the_seventh_round_has_no_wrong_gold_and_every_diagnosis_in_review(unseen_set, unseen_reports):
    cases, proposed = list(CaseSet.open(unseen_set)), proposed_diagnoses(unseen_set)
    for case in cases:
        assert is_right(str(case.questions[0].gold_text), report_of(case.id, unseen_reports)), case.id
    names = {case.id for case in cases}
    for report in unseen_reports:
        id = f"pmc-{8_000_000 + report['number']}"
        assert id in names or any(is_right(name, report) for name in proposed[id]), report["title"]
    assert not validate(unseen_set)


def test_a_provisional_diagnosis_is_not_the_gold(unseen_set):
    lines = map(json.loads, (unseen_set / "review" / "diagnosis.jsonl").read_text(encoding="utf-8").splitlines())
    [item] = [line for line in lines if line["id"] == "pmc-8000216"]
    names = [candidate["diagnosis"] for candidate in item["candidates"]]
    assert "Odontogenic keratocyst" in names


def test_a_reader_brings_a_held_case_into_the_set_with_another_diagnosis(unseen_set, tmp_path):
    """Hypertrophic cardiomyopathy is proposed, its changed diagnosis is the second candidate and an option."""
    lines = map(json.loads, (unseen_set / "review" / "diagnosis.jsonl").read_text(encoding="utf-8").splitlines())
    [item] = [line for line in lines if line["id"] == "pmc-8000211"]
    options = item["case"]["questions"][0]["options"]
    verdict = {"item": "diagnosis/pmc-8000211", "reviewer": "doe", "level": "physician", "verdict": "edit"}
    verdict |= {"edits": {"questions.mcq.gold": options.index("Wild-type transthyretin amyloid cardiomyopathy")}}
    (tmp_path / "verdicts.jsonl").write_text(json.dumps(verdict | {"time": "2026-03-01T14:05:00Z"}))

    review(unseen_set, [tmp_path / "verdicts.jsonl"], tmp_path / "reviewed", share=0)

    cases = CaseSet.open(tmp_path / "reviewed")
    case = cases.case(cases.index_of("pmc-8000211"))
    assert case.questions[0].gold_text == "Wild-type transthyretin amyloid cardiomyopathy"


def test_what_is_not_one_patient_is_rejected(journal_set, reports_by_id):
    lines = map(json.loads, (journal_set / "rejected.jsonl").read_text(encoding="utf-8").splitlines())
    rejected = {line["record"]: line["reason"] for line in lines}
    expected = {id for id, report in reports_by_id.items() if not report["gold"]}
    assert expected <= set(rejected)
    assert {rejected[id] for id in expected} == {"not a case report", "more than one patient"}


def test_a_wrong_diagnosis_of_the_case_goes_to_people_if_the_article_is_about_another(journal_set, reports_by_id):
    lines = map(json.loads, (journal_set / "review" / "diagnosis.jsonl").read_text(encoding="utf-8").splitlines())
    held = {reports_by_id[line["id"]]["name"]: line for line in lines}
    assert held["e7"]["reason"] == "the diagnosis is in doubt: the rest of the article is about 'Hepatic syphilis'"


def test_no_option_is_junk(journal_set):
    for case in CaseSet.open(journal_set):
        for option in case.questions[0].choices:
            assert not any(word in option.lower() for word in NO_DISEASES), option


def test_a_power_of_ten_keeps_its_exponent(tmp_path, reports_by_id):
    file = tmp_path / "a.nxml"
    file.write_text(next(iter(reports_by_id.values()))["xml"].strip().replace("48 mg/L", "48 × 10<sup>9</sup>/L"))
    texts = [text for section in read_jats(file)["sections"] for text in section["paragraphs"]]
    assert any("48 × 10^9/L" in text for text in texts)
