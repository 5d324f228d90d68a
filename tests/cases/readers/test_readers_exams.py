"""MedQA, MMLU-Pro, PubMedQA and the text part of MedXpertQA in the layouts in which they are published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from wardround.cases.conversion import convert
from wardround.cases.readers import READERS
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput, WardroundError
from wardround.literature.ingest.article_rows import read_jsonl

MEDQA = {
    "question": "A 23-year-old woman has a fever. Which drug is best?",
    "answer": "Nitrofurantoin",
    "options": {"A": "Ampicillin", "B": "Ceftriaxone", "C": "Doxycycline", "D": "Nitrofurantoin", "E": "Rest"},
    "meta_info": "step2&3",
    "answer_idx": "D",
    "metamap_phrases": ["fever"],
}
MMLU = {
    "question_id": 70,
    "question": "What is the most common cause?",
    "options": ["A virus", "A fall", "N/A", "A drug"],
    "answer": "D",
    "answer_index": 3,
    "cot_content": "",
    "category": "health",
    "src": "ori_mmlu-clinical",
}
PUBMEDQA = {
    "QUESTION": "Does it help?",
    "CONTEXTS": ["Nobody knew.", "Forty were treated."],
    "LABELS": ["BACKGROUND", "METHODS"],
    "YEAR": "2011",
    "final_decision": "maybe",
    "LONG_ANSWER": "Perhaps it helps.",
}
XPERT = {
    "id": "Text-1",
    "question": "A man coughs. What next?\nAnswer Choices: (A) Wait (B) CT",
    "options": {"A": "Wait", "B": "CT"},
    "label": "B",
    "medical_task": "Diagnosis",
    "body_system": "Respiratory",
    "question_type": "Reasoning",
}


def lines(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(record if isinstance(record, str) else json.dumps(record) for record in records))
    return path


def problem_rows(problems: list[Any]) -> list[tuple[int | None, str | None, str]]:
    return [(problem.line, problem.field, problem.message) for problem in problems]


def test_medqa(tmp_path: Path) -> None:
    lines(tmp_path / "US" / "test.jsonl", MEDQA, MEDQA)
    first, second = READERS["medqa"](tmp_path)
    assert (first.id, second.id, first.split, first.tags) == ("medqa-test-1", "medqa-test-2", "test", ["step2&3"])
    question = first.questions[0]
    assert (question.prompt, question.gold) == (MEDQA["question"], 3)
    assert question.options == ["Ampicillin", "Ceftriaxone", "Doxycycline", "Nitrofurantoin", "Rest"]
    assert question.model_extra == {"metamap_phrases": ["fever"]}


def test_medqa_says_what_is_wrong_with_a_line(tmp_path: Path) -> None:
    bad: list[dict[str, Any]] = [
        {"question": " "},
        {"options": None},
        {"answer_idx": "F"},
        {"answer": "Ampicillin"},
        {"options": {"A": "Rest"}, "answer_idx": "A", "answer": "Rest"},
    ]
    file = lines(tmp_path / "test.jsonl", MEDQA, "{", "3", *(MEDQA | fields for fields in bad))
    read = READERS["medqa"](file)
    assert len(list(read)) == 1
    problems = problem_rows(read.problems)
    assert [(line, field) for line, field, _ in problems] == [
        *((2, None), (3, None), (4, "question"), (5, "options")),
        *((6, "answer_idx"), (7, "answer"), (8, "options")),
    ]
    assert problems[5][2] == "is 'Ampicillin', but answer_idx names 'Nitrofurantoin'"


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_mmlu_pro(tmp_path: Path, suffix: str) -> None:
    rows = [MMLU, MMLU | {"question_id": 71, "category": "law"}, MMLU | {"question_id": 72, "answer": "C"}]
    file = tmp_path / "data" / f"test-00000-of-00001.{suffix}"
    file.parent.mkdir()
    pl.DataFrame(rows).write_parquet(file) if suffix == "parquet" else lines(file, *rows)
    read = READERS["mmlu-pro"](tmp_path)
    first, second = read
    assert (first.id, first.specialty, second.specialty, first.split) == ("mmlu-pro-70", "health", "law", "test")
    assert (first.questions[0].options, first.questions[0].gold) == (["A virus", "A fall", "A drug"], 2)
    place = (None, "[2].answer") if suffix == "parquet" else (3, "answer")
    assert problem_rows(read.problems) == [(*place, "is 'C'; the options are A, B, D")]
    convert(tmp_path, tmp_path / "set", layout="mmlu-pro", specialties=["health"])
    assert [case.id for case in CaseSet.open(tmp_path / "set")] == ["mmlu-pro-70"]
    with pytest.raises(BadInput, match="has no case with specialty dance"):
        convert(tmp_path, tmp_path / "none", layout="mmlu-pro", specialties=["dance"])


def test_mmlu_pro_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BadInput, match="cannot be read as Parquet"):
        READERS["mmlu-pro"](tmp_path)
    pl.DataFrame([MMLU]).drop("answer").write_parquet(tmp_path / "a.parquet")
    with pytest.raises(BadInput, match="there is no column 'answer'"):
        READERS["mmlu-pro"](tmp_path)
    with pytest.raises(BadInput, match=r"is 'D'|answer_index is 1"):
        READERS["mmlu-pro"](lines(tmp_path / "b.jsonl", MMLU | {"answer_index": 1}))
    with pytest.raises(BadInput, match=r"is not a \.parquet or \.jsonl file"):
        READERS["mmlu-pro"](lines(tmp_path / "b.csv", MMLU))


def test_pubmedqa_is_asked_with_its_abstract_to_look_up(tmp_path: Path) -> None:
    records = {"11": PUBMEDQA, "12": PUBMEDQA | {"final_decision": "no"}, "x": PUBMEDQA, "13": 3}
    records |= {"14": PUBMEDQA | {"final_decision": "often"}, "15": PUBMEDQA | {"CONTEXTS": []}}
    (tmp_path / "ori_pqal.json").write_text(json.dumps(records))
    (tmp_path / "pubmedqa_test_ground_truth.json").write_text('{"12": "no"}')
    count, problems = convert(tmp_path, tmp_path / "set", layout="pubmedqa")
    assert (count, [problem.field for problem in problems]) == (2, ["x", "13", "14.final_decision", "15.CONTEXTS"])
    first, second = CaseSet.open(tmp_path / "set")
    assert (first.split, second.split, first.questions[0].gold, second.questions[0].gold) == ("dev", "test", 2, 1)
    written = (tmp_path / "set" / "cases.jsonl").read_bytes()
    shown = [(case.history, case.references, case.questions[0].prompt) for case in (first, second)]
    assert "Perhaps it helps" not in str(shown)  # the conclusion tells the answer
    articles = list(read_jsonl(tmp_path, written.splitlines()))
    assert [(article.pmid, article.abstract) for article in articles] == [
        (pmid, "BACKGROUND: Nobody knew.\nMETHODS: Forty were treated.") for pmid in ("11", "12")
    ]


@pytest.mark.parametrize("content", ["[", "[]", "{}"])
def test_pubmedqa_files_that_cannot_be_read(tmp_path: Path, content: str) -> None:
    (tmp_path / "ori_pqal.json").write_text(content)
    with pytest.raises(WardroundError) as refused:
        READERS["pubmedqa"](tmp_path)
    assert "\n" not in str(refused.value)


def test_the_text_part_of_medxpertqa(tmp_path: Path) -> None:
    lines(tmp_path / "Text" / "test.jsonl", XPERT, XPERT | {"id": "Text-2", "options": {"A": 3}})
    read = READERS["medxpertqa"](tmp_path / "Text")
    (case,) = read
    assert (case.id, case.split, case.images) == ("test-Text-1", "test", [])
    assert (case.questions[0].prompt, case.questions[0].gold) == ("A man coughs. What next?", 1)
    assert problem_rows(read.problems) == [(2, "options", "should be the options by letter")]
