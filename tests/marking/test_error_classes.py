"""ClinBench's error classes: named by a judge for every answer that is not right."""

from __future__ import annotations

import pytest
from exam_server import ExamServer, text_of
from exam_study import case, write_cases, write_study
from judged_study import marks_of, run

from wardround.core.ask import Answer
from wardround.core.case import Question
from wardround.core.errors import WardroundError
from wardround.marking.judges.error_classes import CLASSES, parse_error_class, reasoning_of
from wardround.pipeline import mark_run

READ = {
    "Error Category: Key Information Omission\nJustification: The fever was passed over.": 0,
    "**Error Category:** Clinical Context Misunderstanding\n**Justification:** x": 1,
    "Error Category: [Medical Knowledge Deficiency]\nJustification: the answer is wrong": 2,
    "Error Category: 3. Medical Knowledge Deficiency": 2,
    "error category: priority judgement error.": 3,
    "Error Category: 5\nJustification: acute for chronic": 4,
    "<think>Error Category: Priority Judgment Error</think>Error Category: Temporal Sequence Confusion": 4,
    '{"error_category": "Temporal Sequence Confusion", "justification": "x"}': None,
    '{"Error Category": "Temporal Sequence Confusion", "Justification": "x"}': 4,
}
UNREADABLE = [
    "",
    "Error Category: Key Information Omission or Priority Judgment Error",
    "Error Category: Key Information Omission\nError Category: Priority Judgment Error",
    "Error Category: Bad luck",
    "Error Category: 6",
    "Error Category: one of the five categories\nJustification: x",
    "The model showed a Medical Knowledge Deficiency and a Priority Judgment Error.",
]


@pytest.mark.parametrize("reply", READ)
def test_the_class_that_a_judge_names(reply):
    expected = READ[reply]
    assert parse_error_class(Answer(reply)) == ("unscored: unreadable" if expected is None else CLASSES[expected])


@pytest.mark.parametrize("reply", UNREADABLE)
def test_no_class_where_a_judge_names_none_or_several(reply):
    assert parse_error_class(Answer(reply)) == "unscored: unreadable"


def test_no_verdict():
    assert parse_error_class(None) == "unscored: no verdict"


CHOICE = Question(id="q", kind="choice", prompt="?", gold=0, options=["a very long option of its own", "gout"])
OPEN = Question(id="q", kind="open", prompt="?", gold="gout")
THOUGHTS = "The pain came at night, the toe is red, and so urate crystals are to be expected here. B"


@pytest.mark.parametrize(
    ("answer", "question", "expected"),
    [
        (Answer("B"), CHOICE, None),
        (Answer("The answer is A. a very long option of its own"), CHOICE, None),
        (Answer("B", reasoning="because"), CHOICE, "because"),
        (Answer("B", reasoning="  "), CHOICE, None),
        (Answer("<think>night pain</think>B"), CHOICE, "night pain"),
        (Answer("<unused94>thought\nnight pain<unused95>B"), CHOICE, "thought\nnight pain"),
        (Answer("<seed:think>night pain</seed:think>B"), CHOICE, "night pain"),
        (Answer("<think></think>B"), CHOICE, None),
        (Answer(THOUGHTS), CHOICE, THOUGHTS),
        (Answer("1. Acute septic arthritis of the knee\n2. Pseudogout\n3. Lupus"), OPEN, None),
    ],
)
def test_what_counts_as_reasoning(answer, question, expected):
    assert reasoning_of(answer, question) == expected


def answering(body, index):
    """Patients 0 to 3 get a reasoned B, the others a bare one. Golds go round."""
    text = text_of(body)
    reasoned = any(f"patient {number} " in text for number in range(4))
    return "The fever and the cough of many days led me to think of this one, so: the answer is B." if reasoned else "B"


def test_wrong_answers_of_a_run_get_their_class_one_call_each(tmp_path):
    write_cases(tmp_path / "cases", [case(number) for number in range(8)])
    reply = "Error Category: Priority Judgment Error\nJustification: It is rare."
    with ExamServer(answering) as candidate, ExamServer(lambda body, index: reply) as judge:
        settings = {"provider": "openai", "model": "judge", "base_url": judge.url}
        ended = run(write_study(tmp_path, candidate.url, judge=settings))
        assert judge.calls == 0
        assert marks_of(ended)["error_class"].null_count() == 8
        again = mark_run(ended.folder, errors=True, note=lambda line: None)
        marks = marks_of(again)
        assert judge.calls == 6
        wrong = [n % 4 != 1 for n in range(8)]  # option B is right for every fourth patient
        assert marks["error_class"].to_list() == ["priority_judgment_error" if is_wrong else None for is_wrong in wrong]
        assert marks["has_reasoning"].to_list() == [n < 4 if is_wrong else None for n, is_wrong in enumerate(wrong)]
        text = next(text_of(body) for body in judge.bodies if "patient 2 " in text_of(body))
        for part in ("History of patient 2.", "A. disease 2 alpha", "Correct answer: disease 2 gamma"):
            assert part in text
        assert "Answer given: <data>disease 2 beta</data>" in text
        assert "led me to think" in text
        assert {body["max_tokens"] for body in judge.bodies} == {512}
        bare = next(text_of(body) for body in judge.bodies if "patient 6 " in text_of(body))
        assert "Reasoning given:\n<data>\n(none)\n</data>" in bare
        mark_run(ended.folder, errors=True, note=lambda line: None)
        assert judge.calls == 6
    assert again.manifest["judge"]["asked"] == 6


def test_a_judge_that_names_no_class_is_asked_once_more(tmp_path):
    """Of two wrong answers the judge names a class of the first when asked again, and none of the second."""
    write_cases(tmp_path / "cases", [case(0), case(2)])

    def judging(body, index):
        text = text_of(body)
        return "Category: 3" if "patient 0 " in text and "named no single kind: <data>Hm.</data>" in text else "Hm."

    with ExamServer(answering) as candidate, ExamServer(judging) as judge:
        settings = {"provider": "openai", "model": "judge", "base_url": judge.url}
        ended = run(write_study(tmp_path, candidate.url, judge=settings))
        marks = marks_of(mark_run(ended.folder, errors=True, note=lambda line: None))
        assert judge.calls == 4
    assert marks["error_class"].to_list() == ["medical_knowledge_deficiency", "unscored: unreadable"]


@pytest.mark.parametrize("judge", [None, {"provider": "lexical"}])
def test_a_rule_cannot_name_errors(tmp_path, judge):
    write_cases(tmp_path / "cases", 2)
    respondent = {"provider": "simulated"}
    ended = run(write_study(tmp_path, candidate=respondent, **({"judge": judge} if judge else {})))
    with pytest.raises(WardroundError, match="error classes need a judge"):
        mark_run(ended.folder, errors=True)
