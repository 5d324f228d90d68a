"""Leakage probes: their prompts, the texts that are scored, and their counterparts."""

from __future__ import annotations

from pathlib import Path

import pytest
from exam_study import case as plain_case
from exam_study import write_cases
from leaked_cases import leaked_case, leaked_set

from wardround.asking.masking import MASK, mask_words, without_words, word_beginnings
from wardround.asking.probes import asks_logprob, halves, other_order, reference_of
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


STUDY = Study.model_validate({"name": "s", "cases": "c", "candidates": [{"name": "x", "provider": "uniform"}]})


def renderer_of(cases):
    return Renderer(STUDY, cases, Prompts(Path()), lambda file: "")


def rendered(cases, probe, number=0):
    case, condition = cases.case(number), Condition(probe=probe)
    assert reason(cases, probe, number) is None
    return renderer_of(cases).render(case, case.questions[0], condition, STUDY.candidates[0], Identity("x"), 0).ask


def reason(cases, probe, number=0, **more):
    case, condition = cases.case(number), Condition(probe=probe, **more)
    return renderer_of(cases).inapplicable_reason(case, case.questions[0], condition)


@pytest.mark.parametrize("probe", [*PROBES, *ORDERS])
def test_a_probe_scores_a_text_or_has_one_written(cases, probe):
    ask = rendered(cases, probe)
    assert asks_logprob(probe) == (ask.scored_text is not None)
    assert [message.role for message in ask.messages] == ["user", "assistant"][: 1 + asks_logprob(probe)]
    assert ask.images == []


def test_the_reference_follows_the_question_and_its_options(cases):
    ask, case = rendered(cases, "reference"), cases.case(0)
    (text,) = ask.messages[0].parts
    assert text.startswith(case.history)
    assert text.endswith("\n\nAnswer:")
    assert all(option in text for option in case.questions[0].choices)
    assert ask.scored_text == case.questions[0].rationale
    assert rendered(cases, "reference-paraphrase").scored_text == case.questions[0].paraphrase


def test_no_prompt_contains_the_rationale(cases):
    for probe in ("none", *PROBES, *ORDERS):
        prompt = "".join(map(str, rendered(cases, probe).messages[0].parts))
        assert cases.case(0).questions[0].rationale not in prompt


def test_a_counterpart_is_of_another_case_and_about_as_long(cases):
    own = {case.questions[0].rationale for case in cases}
    for number in range(len(cases)):
        other = rendered(cases, "reference-other", number).scored_text
        mine = cases.case(number).questions[0].rationale
        assert other in own - {mine}
        assert abs(len(other) - len(mine)) <= max(map(len, own)) - min(map(len, own))


def test_probes_that_differ_only_in_their_comparison_are_asked_once(cases):
    keys = {rendered(cases, probe).key for probe in PROBES if probe.startswith("rationale")}
    assert len(keys) == 1
    assert rendered(cases, "second-half").key == rendered(cases, "second-half-other").key


def test_the_second_half_is_not_shown(cases):
    case = cases.case(0)
    first, second = halves(case, case.questions[0], Condition())
    (prompt,) = rendered(cases, "second-half").messages[0].parts
    assert first in prompt
    assert second not in prompt
    assert f"{first} {second}" == " ".join(case.history.split())


def test_orders_are_all_different_and_the_first_is_the_options_own(cases):
    case = cases.case(3)
    orders = [other_order(case, case.questions[0], number, 0) for number in range(20)]
    assert orders[0] == (0, 1, 2, 3, 4)
    assert len(set(orders)) == 20
    asks = [rendered(cases, f"options@{number}", 3) for number in range(4)]
    assert len({ask.messages[0] for ask in asks}) == 1
    assert asks[0].scored_text.startswith(f"A. {case.questions[0].choices[0]}\nB. ")


def test_a_question_that_cannot_be_probed_says_why(tmp_path, cases):
    poor = CaseSet.open(write_cases(tmp_path / "poor", [plain_case(0), plain_case(0, id="again")]))
    assert reason(poor, "rationale") == "the question has no published rationale"
    assert reason(poor, "reference-paraphrase") == "the question has no paraphrase of its rationale"
    assert reason(poor, "second-half") == "the stem has fewer than 40 words"
    assert reason(poor, "reference-other") == "no other case has such a text"
    assert reason(poor, "options@24") == "so few options have no further order"
    assert reason(cases, "reference", confidence="verbal") == "a probe is put without confidence = verbal"
    assert reason(cases, "reference") is None


def test_the_gold_in_a_sentence_replaces_a_missing_rationale():
    from wardround.core.case import Case

    question = Case.model_validate(plain_case(2)).questions[0]
    assert reference_of(question) == ("The answer is disease 2 gamma.", "gold in a sentence")
    own = Case.model_validate(leaked_case(1)).questions[0]
    assert reference_of(own) == (own.rationale, "published rationale")


def test_conditions_without_a_probe_keep_their_json():
    assert "probe" not in Condition().json
    assert '"probe":"reference"' in Condition(probe="reference").json


def test_a_masked_prompt_shares_no_word_with_the_texts_that_it_is_compared_by(cases):
    masked = [probe for probe in PROBES if probe.startswith("reference-masked")]
    asks = [rendered(cases, probe) for probe in masked]
    (prompt,) = {str(ask.messages[0].parts[0]) for ask in asks}
    texts = [ask.scored_text for ask in asks]
    assert len(set(texts)) == len(masked) == 4
    assert not word_beginnings([prompt.removesuffix("Answer:")]) & word_beginnings(texts)
    assert MASK in prompt
    assert texts[:2] == [rendered(cases, probe).scored_text for probe in ("reference", "reference-paraphrase")]


def test_words_are_masked_with_their_inflections_and_several_in_a_row_as_one():
    words = word_beginnings(["The fevers of a patient with 38.5 degrees"])
    masked = mask_words("There was a Fever of 38 degrees, he said.\nOf what?", words)
    assert masked == f"There was {MASK}, he said.\n{MASK} what?"
    assert without_words("There was a Fever of the spleen", words) == "spleen"
