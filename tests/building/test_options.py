"""Options: exactly one is right, none overlaps another, and neither place nor length gives it away."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from exam_server import ExamServer, text_of
from hypothesis import given
from hypothesis import strategies as st

from wardround.building.distractors.options import (
    Balance,
    Known,
    distractors_of_a_model,
    listed,
    longer,
    merged,
    overlapping,
    read_broader,
)
from wardround.building.pipeline.export import new_set
from wardround.building.pipeline.models import Writers
from wardround.core.errors import BadInput
from wardround.core.study import CandidateSettings
from wardround.marking.judges.lexical_judge import Synonyms, content

WORDS = ["acute", "viral", "renal", "hepatic", "gout", "lupus", "mumps", "non", "fever", "cyst", "of"]
NAMES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1).map(" ".join), max_size=12)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Gout", "gout."),
        ("Pneumonia", "Aspiration pneumonia"),
        ("Wilson's disease", "Wilson disease"),
        ("Tumour of the ovary", "ovarian tumor, ovary"),
        ("Developmental delay with or without epilepsy", "Developmental delay"),
        ("systemic lupus erythematosus (SLE)", "SLE"),
    ],
)
def test_names_that_overlap(one, other):
    assert overlapping(one, other)
    assert overlapping(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hodgkin lymphoma", "Non-Hodgkin lymphoma"),
        ("Neurofibromatosis, type 1", "Neurofibromatosis, type 2"),
        ("Acute pancreatitis", "Chronic pancreatitis"),
    ],
)
def test_names_that_do_not_overlap(one, other):
    assert not overlapping(one, other)


def test_tables_say_more_than_words(tmp_path):
    table = tmp_path / "broader.csv"
    table.write_text("name,broader\nmyxoma,cardiac tumour\ncardiac tumour,heart disease\n")
    known = Known(Synonyms([("gout", "podagra")]), read_broader(table))
    assert overlapping("Podagra", "Gout", known)
    assert overlapping("Myxoma", "Heart disease", known)
    assert overlapping("heart disease", "myxoma", known)
    assert not overlapping("Myxoma", "Gout", known)
    assert merged("Gout", ["podagra", "Myxoma", "cardiac tumor", "lupus"], known) == ["Myxoma", "lupus"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("name,above\na,b\n", "expected the columns name and broader"), ("name,broader\ngout,\n", "2: broader: is empty")],
)
def test_a_table_that_is_none(tmp_path, text, said):
    (tmp_path / "broader.csv").write_text(text)
    with pytest.raises(BadInput, match=said):
        read_broader(tmp_path / "broader.csv")


def test_circles_in_a_table_end(tmp_path):
    (tmp_path / "broader.csv").write_text("name,broader\na b,c d\nc d,a b\n")
    assert not overlapping("x", "a b", Known(broader=read_broader(tmp_path / "broader.csv")))


@given(gold=NAMES.filter(bool).map(lambda names: names[0]), candidates=NAMES)
def test_merged_names_never_overlap(gold, candidates):
    kept = merged(gold, candidates)
    for place, name in enumerate(kept):
        assert not any(overlapping(name, other) for other in [gold, *kept[:place]])
    for name in candidates:  # and none was left out without a reason
        assert name in kept or not content(name) or any(overlapping(name, other) for other in [gold, *kept])


@given(seed=st.integers(0, 1000), rounds=st.integers(1, 10), count=st.integers(2, 8))
def test_places_are_balanced(seed, rounds, count):
    balance = Balance(random.Random(seed))
    distractors = [f"name {number}" for number in range(count - 1)]
    places = Counter()
    for _ in range(rounds * count):
        written = balance.placed("gold", distractors)
        assert written.options[written.gold] == "gold"
        assert sorted(written.options) == sorted(["gold", *distractors])
        places[written.gold] += 1
    assert set(places.values()) == {rounds}


def test_lengths_are_balanced_where_there_is_a_choice():
    """The right names are long: taken in order, they would be the longest nearly always."""
    numbers = random.Random(3)
    balance = Balance(random.Random(5))
    plain, told = Counter(), Counter()
    for _ in range(600):
        gold = "x" * numbers.randint(12, 20)
        candidates = ["y" * numbers.randint(5, 25) for _ in range(10)]
        candidates.sort(key=len)
        written = balance.write(gold, candidates)
        plain[longer(gold, candidates[:5])] += 1
        told[longer(gold, [name for place, name in enumerate(written.options) if place != written.gold])] += 1
    assert plain[0] > 400
    assert told[0] < 200


def test_too_few_candidates_give_no_options():
    assert Balance(random.Random(0)).write("gout", ["lupus", "mumps"], 4) is None
    assert len(Balance(random.Random(0)).write("gout", ["lupus", "mumps"], 3).options) == 3


@pytest.mark.parametrize(
    "reply",
    [
        "1. Gout\n2. Lupus nephritis\n3) Mumps",
        "Here are three:\n- **Gout**\n- Lupus nephritis.\n- Mumps",
        "1. Gout: painful\n2. Lupus nephritis - a reason\n3. Mumps",
        "Diagnoses:\nGout\n\nLupus nephritis\nMumps\n",
    ],
)
def test_lists_of_models_are_read(reply):
    assert listed(reply) == ["Gout", "Lupus nephritis", "Mumps"]


def test_a_model_writes_candidates(tmp_path: Path):
    records = [{"id": "a", "history": "Toe.", "diagnosis": "gout", "candidates": ["sepsis"]}]
    with ExamServer(lambda body, index: "1. Lupus\n2. Podagra") as server:
        settings = CandidateSettings(name="writer", provider="openai", base_url=server.url, model="w")
        writers = Writers({"writer": settings}, tmp_path / "answers.sqlite", "set")
        with new_set(tmp_path / "set", 0, writers, lambda line: None) as build:
            (record,) = build.through(records, [distractors_of_a_model(2)])
        assert "Right diagnosis: gout" in text_of(server.bodies[0])
        assert "Name 2 other diagnoses" in text_of(server.bodies[0])
    assert record["candidates"] == ["sepsis", "Lupus", "Podagra"]
