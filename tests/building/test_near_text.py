"""Near texts are found as an exact count of all pairs finds them."""

from __future__ import annotations

import random
import re
from itertools import combinations

import pytest

from wardround.building.duplicates.disjoint_sets import DisjointSets
from wardround.building.duplicates.near_text import MIN_OVERLAP, find_near_texts


def overlap(one: str, other: str) -> float:
    """Counted exactly, on the words themselves."""
    ours, theirs = (set(triples(re.findall(r"\w+", text.lower()))) for text in (one, other))
    return len(ours & theirs) / len(ours | theirs)


def triples(words: list[str]) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + 3]) for start in range(max(1, len(words) - 2))]


def texts(count: int, draw: random.Random) -> list[str]:
    vocabulary = [f"word{number}" for number in range(2_000)]
    return [" ".join(draw.choices(vocabulary, k=draw.randint(30, 120))) for _ in range(count)]


def changed(text: str, draw: random.Random, words: int) -> str:
    changed_words = text.split()
    for index in draw.sample(range(len(changed_words)), words):
        changed_words[index] = f"new{draw.random()}"
    return " ".join(changed_words)


def group_roots(pairs, count: int) -> list[int]:
    groups = DisjointSets(count)
    for one, other in pairs:
        groups.join(one, other)
    return [groups.root(number) for number in range(count)]


def test_groups_are_the_same_as_by_comparing_all_pairs():
    draw = random.Random(3)
    all_texts = texts(80, draw)
    all_texts += [changed(text, draw, draw.choice([0, 1, 2, 4, 8])) for text in all_texts]
    draw.shuffle(all_texts)
    exact = [
        (one, other)
        for one, other in combinations(range(160), 2)
        if overlap(all_texts[one], all_texts[other]) >= MIN_OVERLAP
    ]
    pairs = find_near_texts(all_texts)
    assert group_roots([pair[:2] for pair in pairs], 160) == group_roots(exact, 160)
    for pair in pairs:
        assert pair.one < pair.other
        assert pair.overlap == pytest.approx(overlap(all_texts[pair.one], all_texts[pair.other]))


def test_the_oracle_counts_overlap_as_by_hand():
    """Five and six words: three triples and four, three of them shared."""
    assert overlap("a b c d e", "A b  c d e f") == pytest.approx(3 / 4)
    assert overlap("a b", "a b.") == 1.0
    assert overlap("a b c", "c b a") == 0.0


def test_capitals_and_punctuation_do_not_count():
    pairs = find_near_texts(["Fever, and chills; twice a week.", "fever AND chills twice a week"])
    assert [pair[:2] for pair in pairs] == [(0, 1)]


def test_empty_texts_are_near_to_none():
    assert find_near_texts(["", "", "  ", "one two three four"]) == []


def test_very_many_equal_texts_become_one_group():
    pairs = find_near_texts(["the same few words every time"] * 3_000)
    assert len(pairs) == 2_999
    assert set(group_roots([pair[:2] for pair in pairs], 3_000)) == {0}


def test_the_seed_changes_the_hashes_and_not_what_is_found():
    draw = random.Random(5)
    all_texts = texts(60, draw)
    all_texts += [changed(text, draw, 1) for text in all_texts]
    groups = [group_roots([pair[:2] for pair in find_near_texts(all_texts, seed=seed)], 120) for seed in (0, 1)]
    assert groups[0] == groups[1]
