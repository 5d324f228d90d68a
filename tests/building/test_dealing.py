"""Dealing: counts that are exact, hands that fit, wishes that are served, words that give nothing away."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.building.distractors.assign import EMPTY, Table, Wishes, deal, serve
from wardround.building.distractors.balance_words import guessed, level


def unlike(one: int, other: int) -> bool:
    """Diseases 2n and 2n + 1 overlap."""
    return one // 2 != other // 2


def assert_every_hand_fits(table: Table) -> None:
    for question, gold in enumerate(table.golds):
        hand = [gold, *table.hand(question)]
        assert all(unlike(a, b) for place, a in enumerate(hand) for b in hand[:place])
    owned = {place: card for card, places in table.owners.items() for place in places}
    assert owned == {place: card for place, card in enumerate(table.cards) if card != EMPTY}


def offers(table: Table) -> Counter[int]:
    return Counter(card for card in table.cards if card != EMPTY)


def wished(golds: list[int], numbers: random.Random, many: int = 6) -> Wishes:
    wishes = Wishes()
    for _ in golds:
        wishes.add([(disease, numbers.random()) for disease in numbers.sample(sorted(set(golds)), many)])
    return wishes


def worth(table: Table, wishes: Wishes) -> float:
    return sum(wishes.worth(question, card) for question in range(len(table.golds)) for card in table.hand(question))


@settings(max_examples=40, deadline=None)
@given(
    times=st.lists(st.integers(1, 2), min_size=24, max_size=40),
    seed=st.integers(0, 99),
    difficulty=st.sampled_from([0.0, 0.4, 1.0]),
)
def test_each_disease_is_right_in_one_of_k_of_its_offers(times, seed, difficulty):
    golds = [disease for disease, many in enumerate(times) for _ in range(many)]
    table, unfair = deal(golds, 5, unlike, random.Random(seed))
    wishes = wished(golds, random.Random(seed))
    before = worth(table, wishes)
    serve(table, wishes, difficulty)
    assert_every_hand_fits(table)
    assert unfair == 0
    assert offers(table) == {disease: 5 * many for disease, many in enumerate(times)}
    assert worth(table, wishes) >= before - 1e-9
    assert difficulty > 0 or worth(table, wishes) == before


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(golds=st.lists(st.integers(0, 9), min_size=1, max_size=30), size=st.integers(1, 5), seed=st.integers(0, 9))
def test_small_sets_get_what_fits(golds, size, seed):
    """A disease that is right too often, or too few diseases: what is unfair is counted, nothing overlaps."""
    table, unfair = deal(golds, size, unlike, random.Random(seed))
    assert_every_hand_fits(table)
    fair = Counter(golds)
    beyond = sum(max(0, many - size * fair[disease]) for disease, many in offers(table).items())
    empty = sum(card == EMPTY for card in table.cards)
    assert beyond + empty <= unfair
    for question, gold in enumerate(golds):  # a place is empty only where nothing else fits
        hand = table.hand(question)
        if len(hand) < size:
            assert not any(all(unlike(each, other) for other in [gold, *hand]) for each in golds)


def test_difficulty_brings_what_is_wished():
    golds = [disease for disease in range(60) for _ in range(4)]
    reached = []
    for difficulty in (0.0, 0.5, 1.0):
        table, _ = deal(golds, 5, unlike, random.Random(1))
        wishes = wished(golds, random.Random(2), 12)
        serve(table, wishes, difficulty)
        reached.append(worth(table, wishes))
    assert reached[0] < 0.6 * reached[1] < 0.6 * reached[2]


def test_wishes_are_kept():
    wishes = Wishes()
    wishes.add([(7, 0.5), (3, 0.9)])
    wishes.add([])
    wishes.add([(3, 0.1)])
    assert wishes.of(0) == [(0.9, 3), (0.5, 7)]
    assert [wishes.worth(0, 3), wishes.worth(0, 4), wishes.worth(1, 3), wishes.worth(2, 3)] == [0.9, 0.0, 0.0, 0.1]


@pytest.mark.parametrize(
    ("gold", "others", "expected"),
    [(0.5, [0.2, 0.1], 1), (0.5, [0.5, 0.1], 1 / 2), (0, [0, 0], 1 / 3), (0.1, [0.2], 0)],
)
def test_a_guess_by_words(gold, others, expected):
    assert guessed(gold, others) == pytest.approx(expected)


def test_levelled_words_are_at_chance_and_counts_stay():
    """Every right name has a word of its history; so have some others, if they are brought into the hand."""
    golds = [disease for disease in range(40) for _ in range(5)]
    table, _ = deal(golds, 5, unlike, random.Random(3))
    wishes = wished(golds, random.Random(3))

    def share(question: int, disease: int) -> float:
        return 0.4 if disease == golds[question] else 0.5 if disease % 10 == question % 10 else 0.0

    plain = sum(guessed(0.4, [share(question, card) for card in table.hand(question)]) for question in range(200)) / 200
    reached = level(table, wishes, share, lambda question: [each for each in range(40) if each % 10 == question % 10])
    assert plain > 0.45
    assert reached <= 1 / 6
    assert reached > 1 / 6 - 0.02  # no further than that
    assert_every_hand_fits(table)
    assert set(offers(table).values()) == {25}
