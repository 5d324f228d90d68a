"""Candidates of a source as options: no name gives itself away by how often it is offered, is long, or shares words."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import pytest

from wardround.building.distractors.from_source import Asked, offered
from wardround.building.distractors.options import Options

COMMON = ["lymphoma", "metastasis", "abscess", "sarcoidosis"]  # in every list, and never right
OFTEN = ["tuberculosis", "haemangioma"]  # right several times
COUNT = 5


def source(questions: int = 90, seed: int = 1) -> list[Asked]:
    """Lists as authors write them: the usual suspects, and rarer names of their own."""
    numbers = random.Random(seed)
    found = []
    for number in range(questions):
        gold = OFTEN[number % 2] if number % 5 == 0 else f"disease{number}"
        own = [f"rival{number}{letter}" for letter in "abc"]
        candidates = [*numbers.sample(COMMON, 3), *own]
        group = f"section {number % 3}"
        found.append(Asked(gold, [gold], candidates, COUNT, group, f"A patient with pain and {gold[:3]}."))
    return found


def guessed_by_prior(asked: list[Asked], options: list[Options]) -> float:
    """How often whoever knows all other questions is right: takes the name that was right most of its offers there."""
    right: Counter[str] = Counter(each.gold for each in asked)
    times: Counter[str] = Counter(name for each in options for name in each.options)
    score = 0.0
    for each in options:
        rates = []
        for place, name in enumerate(each.options):
            seen, won = times[name] - 1, right[name] - (place == each.gold)
            rates.append(won / seen if seen else 1 / COUNT)
        best = [place for place, rate in enumerate(rates) if rate == max(rates)]
        score += (each.gold in best) / len(best)
    return score / len(options)


def as_listed(asked: list[Asked]) -> list[Options]:
    return [Options([each.gold, *each.candidates[: COUNT - 1]], 0) for each in asked]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_who_knows_all_other_questions_does_not_know_this_one(seed):
    asked = source(seed=seed)
    options, unfair = offered(asked, random.Random(seed))
    assert unfair == 0
    assert guessed_by_prior(asked, as_listed(asked)) > 0.5  # what the source's lists alone would give away
    assert guessed_by_prior(asked, options) <= 1 / COUNT + 0.05


def test_each_name_is_offered_as_often_as_it_is_right_by_chance():
    asked = source()
    options, _ = offered(asked, random.Random(0))
    times = Counter(name for each in options for name in each.options)
    right = Counter(each.gold for each in asked)
    for name in OFTEN:
        assert times[name] == COUNT * right[name]
    for name, many in times.items():
        assert many <= COUNT * right[name] or (not right[name] and many == 1)


def test_right_options_are_where_and_what_they_were():
    """Gold is gold, options differ, none is another name of the answer, and places are even."""
    asked = source()
    options, _ = offered(asked, random.Random(0))
    for each, written in zip(asked, options, strict=True):
        assert written.options[written.gold] == each.gold
        assert len(set(written.options)) == COUNT
    assert Counter(each.gold for each in options) == dict.fromkeys(range(COUNT), len(asked) // COUNT)


@pytest.mark.slow
def test_other_answers_stand_in_from_the_same_group_first():
    asked = source()
    options, _ = offered(asked, random.Random(0))
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for each in asked:
        groups[each.group].add(each.gold)
    near = [
        name in groups[each.group]
        for each, written in zip(asked, options, strict=True)
        for name in written.options
        if name.startswith("disease") and name != each.gold
    ]
    assert len(near) > 20
    assert sum(near) > 0.9 * len(near)


def test_what_is_known_by_another_name_is_never_offered():
    asked = [Asked("zoster", ["zoster", "shingles"], ["herpes simplex", "eczema", "insect bite"], 4, "skin", "")]
    asked += [Asked("shingles", ["shingles"], ["herpes simplex", "eczema", "insect bite"], 4, "skin", "")] * 5
    options, unfair = offered(asked, random.Random(0))
    assert "shingles" not in options[0].options
    assert unfair > 0  # there are too few names for six questions, which is told


def test_the_words_of_a_case_do_not_point_to_its_answer():
    """Histories share a word with their answer; where there is a choice, others share as many."""
    asked = []
    for number in range(60):
        candidates = [f"rival{number}{letter} gland" for letter in "abcd"]
        candidates += [f"rival{number}{letter} thorax" for letter in "abcd"]
        asked.append(Asked(f"tumour{number} thorax", [f"tumour{number} thorax"], candidates, COUNT, "", "Thorax."))
    options, _ = offered(asked, random.Random(0))
    led = 0.0
    for each in options:
        sharing = [place for place, name in enumerate(each.options) if "thorax" in name]
        led += 1 / len(sharing)
    assert led / len(options) < 0.3
    listed = sum(1 / sum("thorax" in name for name in each.options) for each in as_listed(asked))
    assert listed / len(asked) == 1.0


@pytest.mark.slow
def test_the_same_seed_gives_the_same_options():
    assert offered(source(), random.Random(3)) == offered(source(), random.Random(3))
