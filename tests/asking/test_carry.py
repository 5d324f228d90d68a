"""What is carried to a stage from the stages before it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from exam_server import ExamServer, text_of
from exam_study import examine, stored, write_cases, write_study

from wardround.asking.applicable import inapplicable_reason
from wardround.asking.carry import wrong_text
from wardround.asking.units import question_units
from wardround.candidates.candidate import Reply, Request
from wardround.candidates.simulated.respondent import Simulated
from wardround.core.case import Case
from wardround.core.condition import AXES, Condition
from wardround.marking.marks import MARKS_FILE as MARKS
from wardround.pipeline import mark_run, run_study
from wardround.reporting.case_views import CaseViews
from wardround.running.stored_run import StoredRun
from wardround.running.used_answers import read_used

GIVEN = {"IQA": [], "AL": ["iqa"], "LC": ["al"], "DD": ["lc"], "SG": ["dd"], "CD": ["dd", "sg"]}


def chain(number: int) -> dict[str, Any]:
    """The six stages of one eye, each with options that no other stage has."""
    questions = [
        {
            "id": stage.lower(),
            "kind": "choice",
            "stage": stage,
            "chain": "c",
            "given": given,
            "prompt": f"{stage} of eye {number}?",
            "options": [f"{stage.lower()} {number} {kind}" for kind in ("alpha", "beta", "gamma", "delta")],
            "gold": (number + place) % 4,
        }
        for place, (stage, given) in enumerate(GIVEN.items())
    ]
    return {"id": f"eye-{number}", "history": f"Eye {number}.", "questions": questions}


def asked_of(folder: Path, carry: str, letter: str = "C", **top: Any) -> list[str]:
    """What a server that always says the same letter was asked about three eyes."""
    write_cases(folder / "cases", map(chain, range(3)))
    with ExamServer(lambda body, index: letter) as server:
        examine(write_study(folder, server.url, top=top, conditions={"carry": carry}))
    return list(dict.fromkeys(map(text_of, server.bodies)))  # one is asked again at the end of a run


def slot(text: str) -> list[str]:
    return text.partition("Established so far:\n")[2].partition("\n\nQuestion:")[0].splitlines()


def question_of(texts: list[str], question: str) -> str:
    (match,) = (text for text in texts if f"Question: {question}?" in text)
    return match


@pytest.mark.parametrize(
    ("carry", "kind"), [("own", lambda place, eye: 2), ("gold", lambda place, eye: (eye + place) % 4)]
)
def test_own_and_gold_answers_are_carried_as_text(tmp_path, carry, kind):
    texts = asked_of(tmp_path, carry)
    kinds = ("alpha", "beta", "gamma", "delta")
    for eye in range(3):
        cd = question_of(texts, f"CD of eye {eye}")
        assert slot(cd) == [
            f"Diagnosis: dd {eye} {kinds[kind(3, eye)]}",
            f"Severity: sg {eye} {kinds[kind(4, eye)]}",
        ]
        assert slot(question_of(texts, f"AL of eye {eye}")) == [f"Image quality: iqa {eye} {kinds[kind(0, eye)]}"]
        assert "Established" not in question_of(texts, f"IQA of eye {eye}")


def test_nothing_is_carried_under_none(tmp_path):
    texts = asked_of(tmp_path, "none")
    assert len(texts) == 18
    assert not any("Established" in text for text in texts)


def test_a_carried_wrong_option_is_never_the_gold_and_always_the_same(tmp_path):
    first = asked_of(tmp_path / "first", "wrong", letter="A", trials=2)
    again = asked_of(tmp_path / "again", "wrong", letter="D", trials=2)
    assert sorted(first) == sorted(again)
    cases = [Case.model_validate(chain(number)) for number in range(200)]
    drawn = [wrong_text(case, question, 0) for case in cases for question in case.questions]
    right = [question.gold_text for case in cases for question in case.questions]
    assert all(a is not None and a != b for a, b in zip(drawn, right, strict=True))
    assert drawn != [wrong_text(case, question, 1) for case in cases for question in case.questions]
    kinds = pl.Series(drawn).str.split(" ").list.last().value_counts()
    assert kinds["count"].min() > 200  # of 1,200: all options are drawn


def test_an_unparsed_answer_is_carried_as_such_and_the_chain_continues(tmp_path):
    texts = asked_of(tmp_path, "own", letter="I would rather not say")
    assert len(texts) == 18
    assert slot(question_of(texts, "CD of eye 1")) == ["Diagnosis: not determined", "Severity: not determined"]


@pytest.mark.parametrize(("carry", "asked"), [("own", 5), ("gold", 1), ("wrong", 1), ("none", 1)])
def test_only_carry_own_asks_the_stages_before_a_selected_one(tmp_path, carry, asked):
    assert len(asked_of(tmp_path, carry, questions=["SG"])) == 3 * asked


def test_a_candidate_that_is_always_wrong_is_carried_its_own_wrong_options(tmp_path, monkeypatch):
    """Every Ask whose answer is stored, with a simulated candidate that never takes the right option."""
    texts: dict[str, str] = {}
    answer = Simulated.answer

    async def overheard(self: Simulated, request: Request) -> Reply:
        texts[request.ask.key.hex()] = "".join(str(part) for part in request.ask.messages[0].parts)
        return await answer(self, request)

    monkeypatch.setattr(Simulated, "answer", overheard)
    cases = [chain(number) for number in range(20)]
    write_cases(tmp_path / "cases", cases)
    examine(write_study(tmp_path, candidate={"provider": "simulated", "extra_body": {"accuracy": 0.0}}))
    answered = {row[0].hex(): json.loads(row[3])["text"] for row in stored(tmp_path / "answers.sqlite")}
    assert answered.keys() == texts.keys()
    assert len(texts) == 120
    for case in cases:
        own: dict[str, str] = {}
        for question in case["questions"]:
            (key,) = (key for key, text in texts.items() if f"Question: {question['prompt']}\n" in text)
            expected = [own[id] for id in question["given"]]
            assert [line.partition(": ")[2] for line in slot(texts[key])] == expected
            own[question["id"]] = question["options"]["ABCD".index(answered[key])]
            assert own[question["id"]] != question["options"][question["gold"]]
            before = case["questions"][: list(GIVEN).index(question["stage"])]
            assert not any(earlier["options"][earlier["gold"]] in texts[key] for earlier in before)


def test_a_candidate_that_follows_carried_texts_repeats_carried_errors(tmp_path):
    """With gold texts it is always right, with wrong ones never."""
    write_cases(tmp_path / "cases", map(chain, range(20)))
    planted = {"accuracy": 1.0, "after_wrong": 0.0}
    study = write_study(
        tmp_path,
        candidate={"provider": "simulated", "extra_body": planted},
        conditions={"carry": list(AXES["carry"].values)},
    )
    marks = pl.read_parquet(run_study(study, runs=tmp_path / "runs", quiet=True, note=lambda _: None).folder / MARKS)
    right = (
        marks.filter(pl.col("stage") != "IQA")
        .group_by(pl.col("condition").str.json_path_match("$.carry"))
        .agg((pl.col("outcome") == "right").mean())
    )
    assert dict(right.iter_rows()) == {"own": 1.0, "gold": 1.0, "wrong": 0.0, "none": 1.0}


@pytest.mark.parametrize("carry", ["own", "gold", "wrong", "none"])
def test_the_page_of_a_case_shows_what_was_carried(tmp_path, carry):
    """The prompt on the page is the one that was sent, letter by letter."""
    sent = asked_of(tmp_path, carry, letter="B")
    folder = tmp_path / "runs/exam"
    mark_run(folder, answers=tmp_path / "answers.sqlite", note=lambda _: None)
    ran = StoredRun.open(folder, tmp_path / "answers.sqlite")
    try:
        views = CaseViews(ran)
        turns = read_used(folder).select("candidate", "case", "question", "condition", "trial", "ask", "turn")
        shown = [
            part.text
            for case in views.make_views(pl.read_parquet(folder / MARKS), turns)
            for ask in case.asks
            for part in ask.prompt
        ]
    finally:
        ran.store.close()
    assert sorted(shown) == sorted(sent)


def why(question: dict[str, Any], **condition: str) -> str | None:
    case = Case.model_validate({"id": "c", "questions": [*chain(0)["questions"], question]})
    return inapplicable_reason(case, case.questions[-1], Condition(**condition))


def test_a_question_to_which_nothing_can_be_carried_has_its_reason():
    alone = {"id": "q", "kind": "choice", "prompt": "?", "options": ["x", "y"], "gold": 0}
    assert why(alone) is None
    assert why(alone, carry="gold") == "it stands alone: nothing is carried to it"
    assert why(alone | {"given": ["dd"]}, carry="wrong") is None
    assert (
        why(alone | {"chain": "c"}, carry="none", stem="options-only") == "options alone show nothing that is carried"
    )
    same = Case.model_validate(
        {"id": "c", "questions": [alone | {"options": ["x", "X "]}, alone | {"id": "r", "given": ["q"]}]}
    )
    reason = inapplicable_reason(same, same.questions[1], Condition(carry="wrong"))
    assert reason == "an earlier question has no wrong option that could be carried"


def test_a_question_is_asked_after_those_in_given_even_outside_a_chain():
    alone = {"id": "q", "kind": "choice", "prompt": "?", "options": ["x", "y"], "gold": 0}
    case = Case.model_validate({"id": "c", "questions": [alone | {"id": "r", "given": ["q"]}, alone]})
    assert [[question.id for question in unit] for unit in question_units(case, case.questions)] == [["q"], ["q", "r"]]
