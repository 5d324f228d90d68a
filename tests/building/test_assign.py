"""Assignment of distractors: exact counts, compatible options, preferences met, words that reveal nothing."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.building.distractors.assign import EMPTY, Assignment, Preferences, apply_preferences, assign_distractors
from wardround.building.distractors.balance_words import balance_shared_words, guess_rate


def compatible(one: int, other: int) -> bool:
    """Diseases 2n and 2n + 1 overlap."""
    return one // 2 != other // 2


def assert_all_options_are_compatible(assignment: Assignment) -> None:
    for question, gold in enumerate(assignment.golds):
        options = [gold, *assignment.distractors(question)]
        assert all(compatible(one, other) for number, one in enumerate(options) for other in options[:number])
    indexed = {slot: disease for disease, slots in assignment.slots_by_disease.items() for slot in slots}
    assert indexed == {slot: disease for slot, disease in enumerate(assignment.diseases) if disease != EMPTY}


def count_offers(assignment: Assignment) -> Counter[int]:
    return Counter(disease for disease in assignment.diseases if disease != EMPTY)


def random_preferences(golds: list[int], rng: random.Random, count: int = 6) -> Preferences:
    preferences = Preferences()
    for _ in golds:
        preferences.add([(disease, rng.random()) for disease in rng.sample(sorted(set(golds)), count)])
    return preferences


def total_weight(assignment: Assignment, preferences: Preferences) -> float:
    return sum(
        preferences.weight(question, disease)
        for question in range(len(assignment.golds))
        for disease in assignment.distractors(question)
    )


@settings(max_examples=40, deadline=None)
@given(
    times=st.lists(st.integers(1, 2), min_size=24, max_size=40),
    seed=st.integers(0, 99),
    difficulty=st.sampled_from([0.0, 0.4, 1.0]),
)
def test_each_disease_is_right_in_one_of_k_of_its_offers(times, seed, difficulty):
    golds = [disease for disease, count in enumerate(times) for _ in range(count)]
    assignment, unfair = assign_distractors(golds, 5, compatible, random.Random(seed))
    preferences = random_preferences(golds, random.Random(seed))
    before = total_weight(assignment, preferences)
    apply_preferences(assignment, preferences, difficulty)
    assert_all_options_are_compatible(assignment)
    assert unfair == 0
    assert count_offers(assignment) == {disease: 5 * count for disease, count in enumerate(times)}
    assert total_weight(assignment, preferences) >= before - 1e-9
    assert difficulty > 0 or total_weight(assignment, preferences) == before


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(golds=st.lists(st.integers(0, 9), min_size=1, max_size=30), size=st.integers(1, 5), seed=st.integers(0, 9))
def test_small_sets_get_any_disease_that_fits(golds, size, seed):
    """A disease that is right too often, or too few diseases: unfair slots are counted, nothing overlaps."""
    assignment, unfair = assign_distractors(golds, size, compatible, random.Random(seed))
    assert_all_options_are_compatible(assignment)
    fair = Counter(golds)
    beyond = sum(max(0, count - size * fair[disease]) for disease, count in count_offers(assignment).items())
    empty = sum(disease == EMPTY for disease in assignment.diseases)
    assert beyond + empty <= unfair
    for question, gold in enumerate(golds):  # a slot is empty only if nothing fits
        distractors = assignment.distractors(question)
        if len(distractors) < size:
            assert not any(all(compatible(one, other) for other in [gold, *distractors]) for one in golds)


def test_higher_difficulty_meets_more_preferences():
    golds = [disease for disease in range(60) for _ in range(4)]
    reached = []
    for difficulty in (0.0, 0.5, 1.0):
        assignment, _ = assign_distractors(golds, 5, compatible, random.Random(1))
        preferences = random_preferences(golds, random.Random(2), 12)
        apply_preferences(assignment, preferences, difficulty)
        reached.append(total_weight(assignment, preferences))
    assert reached[0] < 0.6 * reached[1] < 0.6 * reached[2]


def test_preferences_are_ranked_and_looked_up():
    preferences = Preferences()
    preferences.add([(7, 0.5), (3, 0.9)])
    preferences.add([])
    preferences.add([(3, 0.1)])
    assert preferences.ranked(0) == [(0.9, 3), (0.5, 7)]
    assert [preferences.weight(0, 3), preferences.weight(0, 4), preferences.weight(1, 3), preferences.weight(2, 3)] == [
        0.9,
        0.0,
        0.0,
        0.1,
    ]


@pytest.mark.parametrize(
    ("gold", "others", "expected"),
    [(0.5, [0.2, 0.1], 1), (0.5, [0.5, 0.1], 1 / 2), (0, [0, 0], 1 / 3), (0.1, [0.2], 0)],
)
def test_ties_share_a_guess_by_words(gold, others, expected):
    assert guess_rate(gold, others) == pytest.approx(expected)


def test_balanced_words_are_at_chance_and_counts_stay_exact():
    """Every right name shares a word with its history; so do some other names, if they are swapped in."""
    golds = [disease for disease in range(40) for _ in range(5)]
    assignment, _ = assign_distractors(golds, 5, compatible, random.Random(3))
    preferences = random_preferences(golds, random.Random(3))

    def share(question: int, disease: int) -> float:
        return 0.4 if disease == golds[question] else 0.5 if disease % 10 == question % 10 else 0.0

    before = (
        sum(
            guess_rate(0.4, [share(question, disease) for disease in assignment.distractors(question)])
            for question in range(200)
        )
        / 200
    )
    after = balance_shared_words(
        assignment,
        preferences,
        share,
        lambda question: [disease for disease in range(40) if disease % 10 == question % 10],
    )
    assert before > 0.45
    assert after <= 1 / 6
    assert after > 1 / 6 - 0.02  # no further than that
    assert_all_options_are_compatible(assignment)
    assert set(count_offers(assignment).values()) == {25}
