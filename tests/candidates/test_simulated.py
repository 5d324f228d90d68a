"""A simulated respondent answers as its parameters say."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import pytest
from direct_questions import VERBAL, candidate, choice, letters, open_case, query
from scipy.stats import binom, chisquare

from wardround.candidates.simulated.respondent import INVENTED
from wardround.core.ask import Answer, Sampling
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.marking.judges.lexical_judge import LexicalJudge
from wardround.marking.parser.choice import parse_choice
from wardround.marking.parser.distribution import first_token_distribution
from wardround.marking.parser.open import ranked_diagnoses

MANY = range(600)
FIRST_LETTER = Sampling(temperature=1.0, top_p=1.0, top_k=-1, max_tokens=1, logprobs=20)


def lexical_hits(answer: Answer, case: Case) -> list[bool | None]:
    """For each diagnosis of an answer, whether it is the case's."""
    return [LexicalJudge().same(case.questions[0], diagnosis) for diagnosis in ranked_diagnoses(answer.text)]


def plausible(count: int, n: int, share: float) -> bool:
    """Whether a count is within what a binomial gives all but one time in ten thousand."""
    low, high = binom.interval(1 - 1e-4, n, share)
    return bool(low <= count <= high)


def chosen(answer: Answer, case: Case, order: tuple[int, ...] | None = None) -> int | None:
    options = case.questions[0].choices
    shown = order or tuple(range(len(options)))
    option = parse_choice(answer.text, [options[index] for index in shown]).option
    return None if option is None else shown[option]


def right(answer: Answer, case: Case) -> bool:
    return chosen(answer, case) == case.questions[0].gold


@pytest.mark.parametrize("accuracy", [0.0, 1.0])
@pytest.mark.parametrize("mode", ["favourite", "independent"])
def test_certain_respondents_are_exact(accuracy: float, mode: str) -> None:
    to = candidate("simulated", {"accuracy": accuracy, "mode": mode})
    cases = [choice(number, options=2 + number % 9) for number in range(40)]
    assert {right(answer, case) for case in cases for answer in query(to, case, range(5))} == {accuracy == 1.0}


def test_favourites_are_right_as_often_as_planted_and_votes_stay_with_them() -> None:
    to = candidate("simulated", {"accuracy": 0.7})
    votes = [[chosen(answer, choice(n)) for answer in query(to, choice(n), range(3))] for n in MANY]
    assert all(len(set(item)) == 1 for item in votes)
    assert plausible(sum(item[0] == n % 4 for n, item in zip(MANY, votes, strict=True)), len(MANY), 0.7)
    wrong = Counter((item[0] - n) % 4 for n, item in zip(MANY, votes, strict=True) if item[0] != n % 4)
    assert set(wrong) == {1, 2, 3}
    assert chisquare(list(wrong.values())).pvalue > 1e-4


def test_votes_leave_the_favourite_as_planted() -> None:
    to = candidate("simulated", {"accuracy": 1.0, "sharpness": 0.6})
    votes = Counter(
        (chosen(answer, choice(n)) - n) % 4 for n in range(100) for answer in query(to, choice(n), range(20))
    )
    expected = {0: 0.6, 1: 0.4 / 3, 2: 0.4 / 3, 3: 0.4 / 3}
    assert all(plausible(votes[place], 2000, share) for place, share in expected.items())


@pytest.mark.parametrize(
    ("planted", "options", "mode", "expected"),
    [
        ({"accuracy": 0.7, "sharpness": 0.8}, 5, "favourite", 0.7 * 0.8 + 0.3 * 0.2 / 4),
        ({"accuracy": 0.7, "sharpness": 0.8}, 5, "independent", 0.7),
        ({"accuracy": 0.6, "unparsed": 0.25}, 4, "favourite", 0.45),
        ({"accuracy": 0.3, "sharpness": 0.0}, 2, "favourite", 0.7),
    ],
)
def test_expected_accuracy_is_met(planted: dict[str, Any], options: int, mode: Any, expected: float) -> None:
    to = candidate("simulated", {**planted, "mode": mode})
    found = [
        sum(right(answer, case) for answer in query(to, case, range(4))) / 4
        for case in (choice(number, options) for number in MANY)
    ]
    mean = sum(found) / len(found)
    error = math.sqrt(sum((value - mean) ** 2 for value in found) / len(found) / len(found))
    assert abs(mean - expected) < 4 * error


def test_independent_trials_of_one_item_differ() -> None:
    to = candidate("simulated", {"accuracy": 0.5, "mode": "independent"})
    found = [right(answer, choice(0)) for answer in query(to, choice(0), range(400))]
    assert plausible(sum(found), 400, 0.5)
    assert plausible(sum(a == b for a, b in zip(found[::2], found[1::2], strict=True)), 200, 0.5)


def test_unparsed_replies_come_as_often_as_planted_and_cannot_be_read() -> None:
    to = candidate("simulated", {"accuracy": 1.0, "unparsed": 0.2, "phrasing": "sentence"})
    found = [chosen(answer, choice(n, 10)) for n in MANY for answer in query(to, choice(n, 10))]
    assert plausible(sum(option is None for option in found), len(MANY), 0.2)
    assert all(option in (None, n % 10) for n, option in zip(MANY, found, strict=True))


@pytest.mark.parametrize("mode", ["favourite", "independent"])
def test_votes_fall_as_the_log_probabilities_say(mode: str) -> None:
    planted = {"accuracy": 0.6, "sharpness": 0.5, "unparsed": 0.1, "mode": mode, "phrasing": "sentence"}
    to = candidate("simulated", planted)
    case, order = choice(3), (2, 0, 3, 1)
    answers = query(to, case, range(3000), order, sampling=FIRST_LETTER)
    shown = [case.questions[0].choices[index] for index in order]
    distribution = first_token_distribution(answers[0], shown)
    assert distribution is not None
    assert distribution.outside == pytest.approx(0, abs=1e-12)
    assert distribution.unparsed == pytest.approx(0.1)
    if mode == "independent":
        assert distribution.shares[order.index(3)] == pytest.approx(0.9 * 0.6)
    else:
        assert max(distribution.shares) == pytest.approx(0.9 * 0.5)
    votes = Counter(parse_choice(answer.text, shown).option for answer in answers)
    counts = [votes[place] for place in (0, 1, 2, 3, None)]
    assert chisquare(counts, [3000 * share for share in (*distribution.shares, distribution.unparsed)]).pvalue > 1e-4


def test_impossible_tokens_are_not_listed_and_only_as_many_as_wanted() -> None:
    sharp = candidate("simulated", {"accuracy": 1.0})
    assert query(sharp, choice(1), sampling=FIRST_LETTER)[0].first_token == (("B", 0.0),)
    assert query(sharp, choice(1))[0].first_token is None
    flat = candidate("simulated", {"sharpness": 0.4})
    assert len(query(flat, choice(1), sampling=Sampling(logprobs=2))[0].first_token or ()) == 2


def test_answers_are_the_same_in_any_order_and_after_a_restart() -> None:
    planted = {"accuracy": 0.5, "sharpness": 0.5, "unparsed": 0.1}
    cases = [choice(number) for number in range(30)]
    first = candidate("simulated", planted)
    forwards = {case.id: query(first, case, range(10)) for case in cases}
    again = candidate("simulated", planted)
    backwards = {case.id: query(again, case, (9, 2, 0)) for case in reversed(cases)}
    assert all(backwards[id] == [forwards[id][trial] for trial in (9, 2, 0)] for id in forwards)


def test_the_favourite_does_not_depend_on_the_order_shown() -> None:
    to = candidate("simulated", {"accuracy": 0.5})
    for number in range(30):
        case, turned = choice(number), (3, 1, 0, 2)
        assert chosen(query(to, case)[0], case) == chosen(query(to, case, order=turned)[0], case, turned)


def test_another_seed_is_another_respondent() -> None:
    one, other = (candidate("simulated", {"accuracy": 0.5, "seed": seed}) for seed in (0, 1))
    same = sum(right(query(one, choice(n))[0], choice(n)) == right(query(other, choice(n))[0], choice(n)) for n in MANY)
    assert plausible(same, len(MANY), 0.5)


def test_conditions_have_accuracies_of_their_own_on_the_same_items() -> None:
    to = candidate("simulated", {"accuracy": 0.8, "by": [{"when": {"images": "blank"}, "accuracy": 0.3}]})
    seeing = [right(query(to, choice(n))[0], choice(n)) for n in MANY]
    blank = [right(query(to, choice(n), condition=Condition(images="blank"))[0], choice(n)) for n in MANY]
    assert plausible(sum(seeing), len(MANY), 0.8)
    assert plausible(sum(blank), len(MANY), 0.3)
    assert all(with_image or not without for with_image, without in zip(seeing, blank, strict=True))


@pytest.mark.parametrize(
    ("when", "fields"),
    [
        ({"stage": "DD"}, {"stage": "DD"}),
        ({"skill": "Anatomy", "grade": "S"}, {"skill": "Anatomy", "grade": "S"}),
        ({"kind": "choice"}, {}),
        ({"question": "mcq"}, {}),
        ({"specialty": "neuro"}, {"specialty": "neuro"}),
        ({"split": "test"}, {"split": "test"}),
        ({"tag": "rare"}, {"tags": ["old", "rare"]}),
        ({"modality": "CT"}, {"images": [{"path": "a.png", "modality": "MR"}, {"path": "b.png", "modality": "CT"}]}),
        ({"severity": "L0"}, {}),
        ({"inputs": "all"}, {}),
    ],
)
def test_parameters_can_be_set_for_the_fields_of_a_question(when: dict[str, str], fields: dict[str, Any]) -> None:
    to = candidate("simulated", {"accuracy": 0.0, "by": [{"when": when, "accuracy": 1.0}]})
    assert right(query(to, choice(1, **fields))[0], choice(1))
    if fields:
        assert not right(query(to, choice(1))[0], choice(1))
        miss = {**when, "kind": "open"}
        never = candidate("simulated", {"accuracy": 0.0, "by": [{"when": miss, "accuracy": 1.0}]})
        assert not right(query(never, choice(1, **fields))[0], choice(1))


def test_of_several_rows_the_last_that_sets_a_parameter_counts() -> None:
    rows = [
        {"when": {"kind": "choice"}, "accuracy": 0.0, "unparsed": 1.0},
        {"when": {"stage": "DD"}, "unparsed": 0.0},
        {"when": {"grade": "S"}, "accuracy": 1.0},
    ]
    to = candidate("simulated", {"accuracy": 1.0, "by": rows})
    assert chosen(query(to, choice(2))[0], choice(2)) is None
    assert chosen(query(to, choice(2, stage="DD"))[0], choice(2)) not in (None, 2)
    assert chosen(query(to, choice(2, stage="DD", grade="S"))[0], choice(2)) == 2


def test_a_degraded_question_is_the_item_of_its_clean_twin() -> None:
    to = candidate("simulated", {"accuracy": 0.5})
    for number in range(40):
        clean = choice(number)
        question = clean.questions[0].model_dump(exclude_unset=True)
        twin = {**question, "id": "deg", "of": "mcq", "prompt": "?", "degradations": ["sparse_view@L2"]}
        degraded = Case.model_validate({"id": clean.id, "questions": [twin, question]})
        assert chosen(query(to, clean)[0], clean) == chosen(query(to, degraded)[0], clean)


def test_stated_confidence_is_the_planted_one() -> None:
    to = candidate("simulated", {"accuracy": 0.5, "confidence": {"right": 0.925, "wrong": 0.4}})
    for number in range(30):
        case = choice(number)
        read = parse_choice(query(to, case, condition=VERBAL)[0].text, case.questions[0].choices)
        assert read.confidence == pytest.approx(0.925 if read.option == case.questions[0].gold else 0.4)
    constant = candidate("simulated", {"confidence": 1.0})
    assert query(constant, choice(0), condition=VERBAL)[0].text.endswith("\nConfidence: 100%")
    assert "onfidence" not in query(constant, choice(0))[0].text


def test_a_simulated_reply_follows_its_phrasing() -> None:
    texts = {
        p: query(candidate("simulated", {"accuracy": 1, "phrasing": p}), choice(2))[0].text
        for p in ("letter", "sentence", "json")
    }
    assert texts["letter"] == "C"
    assert texts["sentence"] == "The answer is C."
    assert json.loads(texts["json"]) == {"answer": "C"}


@pytest.mark.parametrize("mode", ["favourite", "independent"])
def test_the_gold_of_open_questions_is_ranked_as_planted(mode: str) -> None:
    to = candidate("simulated", {"hit1": 0.4, "hit3": 0.7, "mode": mode})
    hits = [lexical_hits(query(to, open_case(n))[0], open_case(n)) for n in MANY]
    assert all(len(item) == 5 for item in hits)
    assert plausible(sum(item[0] for item in hits), len(MANY), 0.4)
    assert plausible(sum(any(item[:3]) for item in hits), len(MANY), 0.7)
    assert plausible(sum(item[1] for item in hits), len(MANY), 0.15)
    assert not any(any(item[3:]) for item in hits)
    trials = query(to, open_case(0), range(40))
    ranks = {tuple(lexical_hits(answer, open_case(0))) for answer in trials}
    assert (len(ranks) == 1) == (mode == "favourite")


def test_open_hits_default_to_the_accuracy_and_wrong_names_are_invented() -> None:
    never = candidate("simulated", {"accuracy": 0.0})
    lines = query(never, open_case(1), condition=VERBAL)[0].text.splitlines()
    assert [line.split(". ")[1] in INVENTED for line in lines[:5]] == [True] * 5
    assert lines[5] == "Confidence: 50%"
    always = candidate("simulated", {"accuracy": 1.0})
    assert query(always, open_case(1))[0].text.startswith("1. Disease 1\n2. ")
    assert query(candidate("simulated", {"unparsed": 1.0}), open_case(1))[0].text == ""


@pytest.mark.parametrize(
    ("extra_body", "problem"),
    [
        ({"acuracy": 0.5}, "extra_body.acuracy: unknown key"),
        ({"accuracy": 1.5}, "extra_body.accuracy: "),
        ({"mode": "wild"}, "extra_body.mode: "),
        ({"confidence": {"right": 0.5}}, "extra_body.confidence"),
        ({"hit1": 0.5, "hit3": 0.4}, "hit3 (0.4) is less than hit1 (0.5)"),
        ({"by": [{"accuracy": 0.1}]}, "extra_body.by[0].when: is required"),
        ({"by": [{"when": {"stage": "DD"}}]}, "extra_body.by[0]: sets no parameter"),
        ({"by": [{"when": {"stagge": "DD"}, "accuracy": 0.1}]}, "unknown key 'stagge'"),
        ({"by": [{"when": {"images": "blnk"}, "accuracy": 0.1}]}, "images = 'blnk': expected one of as-is, blank"),
        ({"by": [{"when": {"confidence": "votes"}, "accuracy": 0.1}]}, "can share an Ask"),
    ],
)
def test_bad_parameters_are_refused(extra_body: dict[str, Any], problem: str) -> None:
    with pytest.raises(WardroundError) as refused:
        candidate("simulated", extra_body)
    message = str(refused.value)
    assert problem in message
    assert message.startswith("candidate 'simulated': extra_body")
    assert "\n" not in message


def test_parameters_are_part_of_the_key() -> None:
    assert candidate("simulated", {"accuracy": 0.5}).identity != candidate("simulated", {"accuracy": 0.6}).identity


def test_every_letter_can_be_answered() -> None:
    to = candidate("simulated", {"accuracy": 1.0})
    case = choice(25, options=26)
    assert letters(query(to, case)) == ["Z"]
