"""Columns of texts as runs, and marks in which neighbours have little in common."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_marks import all_kinds, made_study, random_marks
from polars.testing import assert_frame_equal

from wardround.measuring import measure
from wardround.measuring.engine import encode
from wardround.measuring.engine.encode import encode_marks
from wardround.measuring.engine.runs import read_runs

TEXTS = st.lists(st.sampled_from(["b", "a", "c", None]), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS, st.data())
def test_rows_of_runs_are_the_texts(texts, more, data):
    """Of a column in two pieces, any span."""
    column = [*texts, *more]
    source = pl.concat([pl.DataFrame({"text": part}, schema={"text": pl.String}) for part in (texts, more)])
    first = data.draw(st.integers(0, len(column) - 1))
    last = data.draw(st.integers(first + 1, len(column)))

    values, runs = read_runs(source["text"])

    assert values == sorted({text for text in column if text is not None})
    numbers = runs.rows(first, last).to_list()
    assert [None if number is None else values[number] for number in numbers] == column[first:last]


def test_values_in_another_order_are_the_same_texts():
    text = read_runs(pl.Series("text", ["x", "x", "z", "y", None])).in_order(["z", "x", "y"])
    assert text.runs.rows(0, 5).to_list() == [1, 1, 0, 2, None]


@pytest.mark.parametrize("few", [0, 1_000_000])
def test_marks_in_any_order_have_the_same_figures(few, monkeypatch):
    """Whether marks stay in memory or are read column by column."""
    marks, study = all_kinds(("one", "two", "three"), cases=12)
    monkeypatch.setattr(encode, "FEW_MARKS", few)
    shuffled = marks.sample(fraction=1.0, shuffle=True, seed=4)
    assert_frame_equal(measure(shuffled, study), measure(marks, study))


@pytest.mark.parametrize("is_shuffled", [False, True])
def test_the_marks_of_some_candidates_are_theirs(is_shuffled):
    marks = random_marks(7, {"a": 0.4, "b": 0.6, "c": 0.8}, cases=9, trials=2)
    marks = marks.sample(fraction=1.0, shuffle=True, seed=1) if is_shuffled else marks
    encoded = encode_marks(marks, made_study("c", "b", "a", trials=2))

    chosen = encoded.marks_of(1, 2)

    theirs = marks.filter(pl.col("candidate").is_in(["b", "a"]))
    assert [encoded.candidates[number] for number in chosen["candidate"]] == theirs["candidate"].to_list()
    assert [encoded.clusters[number] for number in chosen["cluster"]] == theirs["cluster"].to_list()
    assert encoded.subjects["case"].gather(chosen["subject"]).to_list() == theirs["case"].to_list()
    assert chosen["option"].equals(theirs["option"])
