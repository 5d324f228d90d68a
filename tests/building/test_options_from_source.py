"""Options from a source's candidates: frequency, length and shared words do not reveal the right one."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import pytest

from wardround.building.distractors.from_source import OptionRequest, choose_options, list_options
from wardround.building.distractors.options import Options

COMMON = ["lymphoma", "metastasis", "abscess", "sarcoidosis"]  # in every list, and never right
OFTEN = ["tuberculosis", "haemangioma"]  # right several times
COUNT = 5


def source(questions: int = 90, seed: int = 1) -> list[OptionRequest]:
    """Lists as authors write them: the usual suspects, and rarer names of their own."""
    rng = random.Random(seed)
    requests = []
    for number in range(questions):
        gold = OFTEN[number % 2] if number % 5 == 0 else f"disease{number}"
        own = [f"rival{number}{letter}" for letter in "abc"]
        candidates = [*rng.sample(COMMON, 3), *own]
        group = f"section {number % 3}"
        requests.append(OptionRequest(gold, [gold], candidates, COUNT, group, f"A patient with pain and {gold[:3]}."))
    return requests


def accuracy_of_prior(requests: list[OptionRequest], options: list[Options]) -> float:
    """The accuracy of a guesser that takes the name with the highest share of right offers in all other questions."""
    right: Counter[str] = Counter(request.gold for request in requests)
    times: Counter[str] = Counter(name for question in options for name in question.options)
    score = 0.0
    for question in options:
        rates = []
        for index, name in enumerate(question.options):
            other_offers, other_wins = times[name] - 1, right[name] - (index == question.gold)
            rates.append(other_wins / other_offers if other_offers else 1 / COUNT)
        best = [index for index, rate in enumerate(rates) if rate == max(rates)]
        score += (question.gold in best) / len(best)
    return score / len(options)


def as_listed(requests: list[OptionRequest]) -> list[Options]:
    return [Options([request.gold, *request.candidates[: COUNT - 1]], 0) for request in requests]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_knowing_all_other_questions_does_not_help(seed):
    requests = source(seed=seed)
    options, unfair = choose_options(requests, random.Random(seed))
    assert unfair == 0
    assert accuracy_of_prior(requests, as_listed(requests)) > 0.5  # by the source's lists alone
    assert accuracy_of_prior(requests, options) <= 1 / COUNT + 0.05


def test_each_name_is_offered_as_often_as_it_is_right_by_chance():
    requests = source()
    options, _ = choose_options(requests, random.Random(0))
    times = Counter(name for question in options for name in question.options)
    right = Counter(request.gold for request in requests)
    for name in OFTEN:
        assert times[name] == COUNT * right[name]
    for name, count in times.items():
        assert count <= COUNT * right[name] or (not right[name] and count == 1)


def test_gold_points_to_the_right_name_and_positions_are_even():
    requests = source()
    options, _ = choose_options(requests, random.Random(0))
    for request, question in zip(requests, options, strict=True):
        assert question.options[question.gold] == request.gold
        assert len(set(question.options)) == COUNT
    assert Counter(question.gold for question in options) == dict.fromkeys(range(COUNT), len(requests) // COUNT)


@pytest.mark.slow
def test_substitutes_come_from_the_same_group_first():
    requests = source()
    options, _ = choose_options(requests, random.Random(0))
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for request in requests:
        groups[request.group].add(request.gold)
    near = [
        name in groups[request.group]
        for request, question in zip(requests, options, strict=True)
        for name in question.options
        if name.startswith("disease") and name != request.gold
    ]
    assert len(near) > 20
    assert sum(near) > 0.9 * len(near)


def test_listed_options_are_filled_with_answers_of_other_questions_only_if_too_few():
    """By hand: two of five options are missing; the answers of the same group come first, in no other place."""
    full = OptionRequest("gout", ["gout"], ["mumps", "zoster", "lupus", "asthma", "scurvy"], COUNT, "joints", "")
    short = OptionRequest("sepsis", ["sepsis"], ["typhus", "cholera"], COUNT, "joints", "")
    others = [OptionRequest(name, [name], list("abcd"), COUNT, "skin", "") for name in ("psoriasis", "vitiligo")]
    options = list_options([full, short, *others], random.Random(0))
    assert options[0].distractors == ["mumps", "zoster", "lupus", "asthma"]
    assert options[1].distractors[:3] == ["typhus", "cholera", "gout"]
    assert options[1].distractors[3] in ("psoriasis", "vitiligo")
    alone = OptionRequest("sepsis", ["sepsis"], ["typhus"], COUNT, "", "")
    assert list_options([alone], random.Random(0)) == [None]


def test_another_name_of_the_answer_is_never_offered():
    requests = [
        OptionRequest("zoster", ["zoster", "shingles"], ["herpes simplex", "eczema", "insect bite"], 4, "skin", "")
    ]
    requests += [
        OptionRequest("shingles", ["shingles"], ["herpes simplex", "eczema", "insect bite"], 4, "skin", "")
    ] * 5
    options, unfair = choose_options(requests, random.Random(0))
    assert "shingles" not in options[0].options
    assert unfair > 0  # there are too few names for six questions


def test_the_words_of_a_case_do_not_point_to_its_answer():
    """Histories share a word with their answer; if there is a choice, other options share as many."""
    requests = []
    for number in range(60):
        candidates = [f"rival{number}{letter} gland" for letter in "abcd"]
        candidates += [f"rival{number}{letter} thorax" for letter in "abcd"]
        requests.append(
            OptionRequest(f"tumour{number} thorax", [f"tumour{number} thorax"], candidates, COUNT, "", "Thorax.")
        )
    options, _ = choose_options(requests, random.Random(0))
    assert accuracy_by_word("thorax", options) < 0.3
    assert accuracy_by_word("thorax", as_listed(requests)) == 1.0


def accuracy_by_word(word: str, options: list[Options]) -> float:
    return sum(1 / sum(word in name for name in question.options) for question in options) / len(options)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_options():
    assert choose_options(source(), random.Random(3)) == choose_options(source(), random.Random(3))
