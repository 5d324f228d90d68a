"""Near texts are found as an exact count of all pairs finds them."""

from __future__ import annotations

import random
import re
from itertools import combinations

import pytest

from wardround.building.text.near_text import ALIKE, Groups, find_near


def overlap(one: str, other: str) -> float:
    """Counted exactly, on the words themselves."""
    ours, theirs = (set(triples(re.findall(r"\w+", text.lower()))) for text in (one, other))
    return len(ours & theirs) / len(ours | theirs)


def triples(words: list[str]) -> list[tuple[str, ...]]:
    return [tuple(words[place : place + 3]) for place in range(max(1, len(words) - 2))]


def texts(many: int, draw: random.Random) -> list[str]:
    vocabulary = [f"word{number}" for number in range(2_000)]
    return [" ".join(draw.choices(vocabulary, k=draw.randint(30, 120))) for _ in range(many)]


def changed(text: str, draw: random.Random, words: int) -> str:
    told = text.split()
    for place in draw.sample(range(len(told)), words):
        told[place] = f"new{draw.random()}"
    return " ".join(told)


def joined(pairs, many: int) -> list[int]:
    groups = Groups(many)
    for one, other in pairs:
        groups.join(one, other)
    return [groups.top(number) for number in range(many)]


def test_the_same_groups_as_by_comparing_all_pairs():
    draw = random.Random(3)
    told = texts(80, draw)
    told += [changed(text, draw, draw.choice([0, 1, 2, 4, 8])) for text in told]
    draw.shuffle(told)
    exact = [(one, other) for one, other in combinations(range(160), 2) if overlap(told[one], told[other]) >= ALIKE]
    found = find_near(told)
    assert joined([pair[:2] for pair in found], 160) == joined(exact, 160)
    for pair in found:
        assert pair.one < pair.other
        assert pair.likeness == pytest.approx(overlap(told[pair.one], told[pair.other]))


def test_overlap_by_hand():
    """Five and six words: three triples and four, three of them shared."""
    assert overlap("a b c d e", "A b  c d e f") == pytest.approx(3 / 4)
    assert overlap("a b", "a b.") == 1.0
    assert overlap("a b c", "c b a") == 0.0


def test_capitals_and_punctuation_do_not_count():
    assert [pair[:2] for pair in find_near(["Fever, and chills; twice a week.", "fever AND chills twice a week"])] == [
        (0, 1)
    ]


def test_empty_texts_are_near_to_none():
    assert find_near(["", "", "  ", "one two three four"]) == []


def test_very_many_equal_texts_become_one_group():
    found = find_near(["the same few words every time"] * 3_000)
    assert len(found) == 2_999
    assert set(joined([pair[:2] for pair in found], 3_000)) == {0}


def test_the_seed_changes_the_hashes_and_not_what_is_found():
    draw = random.Random(5)
    told = texts(60, draw)
    told += [changed(text, draw, 1) for text in told]
    groups = [joined([pair[:2] for pair in find_near(told, seed=seed)], 120) for seed in (0, 1)]
    assert groups[0] == groups[1]
