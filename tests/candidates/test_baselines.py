"""Floors: what they choose, what they never look at, and that they answer like anyone else."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from direct_questions import VERBAL, candidate, choice, letters, open_case, prepared, query
from scipy.stats import chisquare

from wardround.cases.set import CaseSet, write_case_set
from wardround.core.ask import Sampling
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.marking.parser.choice import parse_choice

BASELINES = ("random", "position", "longest", "overlap")
LOGPROBS = Sampling(logprobs=20)


def choice_with(options: list[str], **case: Any) -> Case:
    question = {"id": "q", "kind": "choice", "prompt": "Which?", "options": options, "gold": 0}
    return Case.model_validate({"id": "c", "questions": [question], **case})


def test_random_takes_every_option_equally_often_whatever_is_right() -> None:
    to = candidate("random")
    votes = Counter(letters(query(to, choice(1, options=5), range(3000))))
    assert sorted(votes) == list("ABCDE")
    assert chisquare(list(votes.values())).pvalue > 1e-4
    first = query(to, choice(1), sampling=LOGPROBS)[0].first_token
    assert first is not None
    assert sorted(first) == [(letter, pytest.approx(math.log(1 / 4))) for letter in "ABCD"]


def test_random_answers_of_different_questions_are_unrelated() -> None:
    to = candidate("random")
    votes = Counter(letters([query(to, choice(number))[0] for number in range(800)]))
    assert chisquare([votes[letter] for letter in "ABCD"]).pvalue > 1e-4


def test_position_is_learnt_from_the_training_split_only(tmp_path: Path) -> None:
    golds = [("train", 2), ("train", 2), ("train", 1), ("test", 0), ("test", 0), ("test", 0), (None, 3)]
    cases = [choice(number, gold=gold, split=split) for number, (split, gold) in enumerate(golds)]
    write_case_set([*cases, open_case(99)], tmp_path)
    to = prepared(candidate("position"), CaseSet.open(tmp_path))
    assert letters(query(to, cases[3], range(3))) == ["C", "C", "C"]
    assert letters(query(to, cases[3], order=(3, 2, 1, 0))) == ["C"]  # a letter, not an option
    assert letters(query(to, choice(0, options=2))) == ["B"]  # of the letters there are
    assert query(to, cases[3], sampling=LOGPROBS)[0].first_token == (("C", 0.0),)


def test_position_without_a_training_split_takes_the_first(tmp_path: Path) -> None:
    write_case_set([choice(number, gold=3, split="test") for number in range(5)], tmp_path)
    assert letters(query(prepared(candidate("position"), CaseSet.open(tmp_path)), choice(3))) == ["A"]


def test_position_is_keyed_by_what_it_counted(tmp_path: Path) -> None:
    revisions = []
    for gold in (1, 1, 2):
        write_case_set([choice(0, gold=gold, split="train")], tmp_path)
        revisions.append(prepared(candidate("position", revision="mine"), CaseSet.open(tmp_path)).identity.revision)
    assert revisions[0] == revisions[1] != revisions[2]
    assert all(revision and revision.startswith("mine+") for revision in revisions)


def test_longest_takes_the_longest_text_where_it_is_shown() -> None:
    to = candidate("longest")
    case = choice_with(["short", "the longest of them", "middling"])
    assert letters(query(to, case)) == ["B"]
    assert letters(query(to, case, order=(1, 2, 0))) == ["A"]
    ties = Counter(letters(query(to, choice_with(["four", "five", "no"]), range(200))))
    assert set(ties) == {"A", "B"}


def test_overlap_takes_the_option_whose_words_were_read() -> None:
    to = candidate("overlap")
    options = ["Acute appendicitis of the caecum", "Renal colic", "Gastric ulcer"]
    case = choice_with(options, history="Colic since Monday. A stone in the renal pelvis?", findings="Gastric ulcer.")
    assert letters(query(to, case, condition=Condition(inputs="history"))) == ["B"]
    assert letters(query(to, case, condition=Condition(inputs="findings"))) == ["C"]
    both = set(letters(query(to, case, range(100))))
    assert both == {"B", "C"}


def test_overlap_reads_the_telling_that_is_shown_and_nothing_of_a_hidden_stem() -> None:
    to = candidate("overlap")
    tellings = {"text": {"history": "It was an ulcer."}}
    case = choice_with(["Colic", "Ulcer"], history="It was a colic.", tellings=tellings)
    assert letters(query(to, case)) == ["A"]
    assert letters(query(to, case, condition=Condition(telling="text"))) == ["B"]
    assert set(letters(query(to, case, range(50), condition=Condition(stem="options-only")))) == {"A", "B"}


def test_common_words_do_not_count() -> None:
    case = choice_with(["the and of", "ulcer"], history="The ulcer and the rest of the story")
    assert letters(query(candidate("overlap"), case, range(5))) == ["B"] * 5


@pytest.mark.parametrize("provider", BASELINES)
def test_baselines_get_no_image_state_chance_and_list_nothing(provider: str) -> None:
    to = candidate(provider)
    assert not to.settings.sees
    case = choice(1, options=3)
    read = parse_choice(query(to, case, condition=VERBAL)[0].text, case.questions[0].choices)
    assert read.option in (0, 1, 2)
    assert read.confidence == pytest.approx(1 / 3, abs=1e-4)
    assert [answer.text for answer in query(to, open_case(1), (0, 1))] == ["", ""]
    assert query(to, open_case(1), condition=VERBAL)[0].text == "Confidence: 0%"


@pytest.mark.parametrize("provider", BASELINES)
def test_baselines_answer_the_same_in_any_order_and_after_a_restart(provider: str) -> None:
    cases = [choice(number) for number in range(20)]
    first, again = candidate(provider), candidate(provider)
    forwards = {case.id: query(first, case, range(6)) for case in cases}
    assert all(query(again, case, (5, 1)) == [forwards[case.id][5], forwards[case.id][1]] for case in reversed(cases))
