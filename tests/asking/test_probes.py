"""Probes of leakage: what is said, which text is to be foretold, and which other one it is held against."""

from __future__ import annotations

from pathlib import Path

import pytest
from exam_study import case as plain_case
from exam_study import write_cases
from leaked_cases import leaked_case, leaked_set

from wardround.asking.probes import Probes, foretells, halves, other_order, reference_of
from wardround.asking.prompts import Prompts
from wardround.asking.render import Renderer
from wardround.cases.set import CaseSet
from wardround.core.ask import Identity
from wardround.core.condition import PROBES, Condition
from wardround.core.study import Study

ORDERS = [f"options@{number}" for number in range(4)]


@pytest.fixture
def cases(tmp_path):
    return CaseSet.open(write_cases(tmp_path / "cases", leaked_set(12)))


def rendered(cases, probe, number=0, trial=0, **more):
    study = Study.model_validate({"name": "s", "cases": "c", "candidates": [{"name": "x", "provider": "uniform"}]})
    renderer, case = Renderer(study, cases, Prompts(Path()), lambda file: ""), cases.case(number)
    condition = Condition(probe=probe, **more)
    settings = study.candidates[0]
    assert renderer.why_not(case, case.questions[0], condition) is None
    return renderer.render(case, case.questions[0], condition, settings, Identity("x"), trial).ask


def reason(cases, probe, number=0, **more):
    case = cases.case(number)
    return Probes(cases, 0).why_not(case, case.questions[0], Condition(probe=probe, **more))


@pytest.mark.parametrize("probe", [*PROBES, *ORDERS])
def test_a_text_is_foretold_or_written(cases, probe):
    ask = rendered(cases, probe)
    assert foretells(probe) == (ask.foretold is not None)
    assert [message.role for message in ask.messages] == ["user", "assistant"][: 1 + foretells(probe)]
    assert ask.images == []


def test_the_reference_stands_after_the_question_and_answer(cases):
    ask, case = rendered(cases, "reference"), cases.case(0)
    (text,) = ask.messages[0].parts
    assert text.startswith(case.history)
    assert text.endswith("\n\nAnswer:")
    assert all(option in text for option in case.questions[0].choices)
    assert ask.foretold == case.questions[0].rationale
    assert rendered(cases, "reference-paraphrase").foretold == case.questions[0].paraphrase


def test_no_rationale_stands_in_any_prompt(cases):
    for probe in ("none", *PROBES, *ORDERS):
        said = "".join(map(str, rendered(cases, probe).messages[0].parts))
        assert cases.case(0).questions[0].rationale not in said


def test_another_text_is_of_another_case_and_about_as_long(cases):
    own = {case.questions[0].rationale for case in cases}
    for number in range(len(cases)):
        other = rendered(cases, "reference-other", number).foretold
        mine = cases.case(number).questions[0].rationale
        assert other in own - {mine}
        assert abs(len(other) - len(mine)) <= max(map(len, own)) - min(map(len, own))


def test_written_texts_that_differ_only_in_what_they_are_held_against_are_asked_once(cases):
    keys = {rendered(cases, probe).key for probe in PROBES if probe.startswith("rationale")}
    assert len(keys) == 1
    assert rendered(cases, "second-half").key == rendered(cases, "second-half-other").key


def test_the_second_half_is_not_shown(cases):
    case = cases.case(0)
    first, second = halves(case, case.questions[0], Condition())
    (said,) = rendered(cases, "second-half").messages[0].parts
    assert first in said
    assert second not in said
    assert f"{first} {second}" == " ".join(case.history.split())


def test_orders_are_all_different_and_the_first_is_the_options_own(cases):
    case = cases.case(3)
    orders = [other_order(case, case.questions[0], number, 0) for number in range(20)]
    assert orders[0] == (0, 1, 2, 3, 4)
    assert len(set(orders)) == 20
    asks = [rendered(cases, f"options@{number}", 3) for number in range(4)]
    assert len({ask.messages[0] for ask in asks}) == 1
    assert asks[0].foretold.startswith(f"A. {case.questions[0].choices[0]}\nB. ")


def test_what_cannot_be_probed(tmp_path, cases):
    poor = CaseSet.open(write_cases(tmp_path / "poor", [plain_case(0), plain_case(0, id="again")]))
    assert reason(poor, "rationale") == "the question has no published rationale"
    assert reason(poor, "reference-paraphrase") == "the question has no paraphrase of its rationale"
    assert reason(poor, "second-half") == "the stem has fewer than 40 words"
    assert reason(poor, "reference-other") == "no other case has such a text"
    assert reason(poor, "options@24") == "so few options have no further order"
    assert reason(cases, "reference", confidence="verbal") == "a probe is put without confidence = verbal"
    assert reason(cases, "reference") is None


def test_the_gold_in_a_sentence_stands_in_for_a_rationale():
    from wardround.core.case import Case

    question = Case.model_validate(plain_case(2)).questions[0]
    assert reference_of(question) == ("The answer is disease 2 gamma.", "gold in a sentence")
    own = Case.model_validate(leaked_case(1)).questions[0]
    assert reference_of(own) == (own.rationale, "published rationale")


def test_other_conditions_are_told_as_before():
    assert "probe" not in Condition().json
    assert '"probe":"reference"' in Condition(probe="reference").json
