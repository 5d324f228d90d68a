"""Options: exactly one is right, none overlaps another, and neither position nor length reveals it."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from exam_server import ExamServer, text_of
from hypothesis import given
from hypothesis import strategies as st

from wardround.building.distractors.options import (
    NameRelations,
    OptionBalancer,
    count_longer,
    merge_candidates,
    model_distractors_step,
    names_overlap,
    parse_name_list,
    read_broader,
)
from wardround.building.pipeline.export import new_set
from wardround.core.errors import BadInput
from wardround.core.names import Synonyms, content_words
from wardround.core.study import CandidateSettings

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
def test_names_overlap_by_their_words(one, other):
    assert names_overlap(one, other)
    assert names_overlap(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hodgkin lymphoma", "Non-Hodgkin lymphoma"),
        ("Neurofibromatosis, type 1", "Neurofibromatosis, type 2"),
        ("Acute pancreatitis", "Chronic pancreatitis"),
    ],
)
def test_names_with_other_words_do_not_overlap(one, other):
    assert not names_overlap(one, other)


def test_tables_add_synonyms_and_classes(tmp_path):
    table = tmp_path / "broader.csv"
    table.write_text("name,broader\nmyxoma,cardiac tumour\ncardiac tumour,heart disease\n")
    relations = NameRelations(Synonyms([("gout", "podagra")]), read_broader(table))
    assert names_overlap("Podagra", "Gout", relations)
    assert names_overlap("Myxoma", "Heart disease", relations)
    assert names_overlap("heart disease", "myxoma", relations)
    assert not names_overlap("Myxoma", "Gout", relations)
    assert merge_candidates("Gout", ["podagra", "Myxoma", "cardiac tumor", "lupus"], relations) == ["Myxoma", "lupus"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("name,above\na,b\n", "expected the columns name and broader"), ("name,broader\ngout,\n", "2: broader: is empty")],
)
def test_an_invalid_table_is_one_line(tmp_path, text, message):
    (tmp_path / "broader.csv").write_text(text)
    with pytest.raises(BadInput, match=message):
        read_broader(tmp_path / "broader.csv")


def test_a_circular_table_does_not_loop(tmp_path):
    (tmp_path / "broader.csv").write_text("name,broader\na b,c d\nc d,a b\n")
    assert not names_overlap("x", "a b", NameRelations(broader=read_broader(tmp_path / "broader.csv")))


@given(gold=NAMES.filter(bool).map(lambda names: names[0]), candidates=NAMES)
def test_merged_names_never_overlap(gold, candidates):
    kept = merge_candidates(gold, candidates)
    for place, name in enumerate(kept):
        assert not any(names_overlap(name, other) for other in [gold, *kept[:place]])
    for name in candidates:  # and none is dropped without a reason
        assert name in kept or not content_words(name) or any(names_overlap(name, other) for other in [gold, *kept])


@given(seed=st.integers(0, 1000), rounds=st.integers(1, 10), count=st.integers(2, 8))
def test_positions_are_balanced(seed, rounds, count):
    balancer = OptionBalancer(random.Random(seed))
    distractors = [f"name {number}" for number in range(count - 1)]
    positions = Counter()
    for _ in range(rounds * count):
        question = balancer.place_gold("gold", distractors)
        assert question.options[question.gold] == "gold"
        assert sorted(question.options) == sorted(["gold", *distractors])
        positions[question.gold] += 1
    assert set(positions.values()) == {rounds}


def no_shared_words(name: str) -> float:
    return 0.0


def test_lengths_are_balanced_if_there_is_a_choice():
    """The right names are long: taken in order, they would be the longest nearly always."""
    rng = random.Random(3)
    balancer = OptionBalancer(random.Random(5))
    unbalanced, balanced = Counter(), Counter()
    for _ in range(600):
        gold = "x" * rng.randint(12, 20)
        candidates = ["y" * rng.randint(5, 25) for _ in range(10)]
        candidates.sort(key=len)
        question = balancer.make_options(gold, candidates, 6, no_shared_words)
        unbalanced[count_longer(gold, candidates[:5])] += 1
        balanced[count_longer(gold, question.distractors)] += 1
    assert unbalanced[0] > 400
    assert balanced[0] < 200


def test_too_few_candidates_give_no_options():
    assert OptionBalancer(random.Random(0)).make_options("gout", ["lupus", "mumps"], 4, no_shared_words) is None
    assert (
        len(OptionBalancer(random.Random(0)).make_options("gout", ["lupus", "mumps"], 3, no_shared_words).options) == 3
    )


@pytest.mark.parametrize(
    "reply",
    [
        "1. Gout\n2. Lupus nephritis\n3) Mumps",
        "Here are three:\n- **Gout**\n- Lupus nephritis.\n- Mumps",
        "1. Gout: painful\n2. Lupus nephritis - a reason\n3. Mumps",
        "Diagnoses:\nGout\n\nLupus nephritis\nMumps\n",
    ],
)
def test_a_list_written_by_a_model_is_parsed(reply):
    assert parse_name_list(reply) == ["Gout", "Lupus nephritis", "Mumps"]


def test_a_model_adds_candidates(tmp_path: Path):
    records = [{"id": "a", "history": "Toe.", "diagnosis": "gout", "candidates": ["sepsis"]}]
    with ExamServer(lambda body, index: "1. Lupus\n2. Podagra") as server:
        settings = CandidateSettings(name="writer", provider="openai", base_url=server.url, model="w")
        models, answers = {"writer": settings}, tmp_path / "answers.sqlite"
        with new_set(tmp_path / "set", 0, lambda line: None, models=models, answers=answers) as build:
            (record,) = build.run_steps(records, [model_distractors_step(2)])
        assert "Right diagnosis: gout" in text_of(server.bodies[0])
        assert "Name 2 other diagnoses" in text_of(server.bodies[0])
    assert record["candidates"] == ["sepsis", "Lupus", "Podagra"]
