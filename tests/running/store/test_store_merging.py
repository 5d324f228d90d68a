"""Merging stores loses nothing, and doing it twice changes nothing."""

from __future__ import annotations

import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.core.ask import Answer
from wardround.core.errors import WardroundError
from wardround.running.store import AnswerStore
from wardround.running.store.merging import merge
from wardround.running.store.verification import find_problems

Rows = list[tuple[Any, ...]]
Tables = dict[str, Rows]


def make_store(path: Path, tables: Tables) -> Path:
    AnswerStore(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, rows in tables.items():
            for row in rows:
                connection.execute(f"insert into {table} values ({', '.join('?' * len(row))})", row)
    return path


def contents(path: Path) -> dict[str, Counter[tuple[Any, ...]]]:
    """All rows of a store but those about files, how often each."""
    with closing(sqlite3.connect(path)) as connection:
        return {
            table: Counter(connection.execute(f"select * from {table}").fetchall())
            for table in ("answers", "calls", "sentinels", "dropped", "faults")
        }


def answer_row(ask: bytes, text: str, trial: int = 0, run: str = "exam") -> tuple[Any, ...]:
    body = orjson.dumps(Answer(text, model="m").to_dict())
    return (ask, trial, 0, body, run, "server", None, "m", None, "2026-01-01", 10, 1, "stop", None)


def call_row(ask: bytes, answers: int = 1, run: str = "exam") -> tuple[Any, ...]:
    return (run, "server", ask, answers, 0, 10 * answers, answers, "answer", 0, "2026-01-01", 0, 0)


def merged(target: Path, *sources: Path) -> list[Any]:
    with closing(AnswerStore(target, must_exist=True)) as store:
        return [merge(store, source) for source in sources]


def test_new_rows_come_with_their_calls_and_the_same_ones_are_no_conflict(tmp_path: Path) -> None:
    ours = make_store(tmp_path / "a", {"answers": [answer_row(b"1", "A")], "calls": [call_row(b"1")]})
    both = [answer_row(b"1", "A"), answer_row(b"2", "B")]
    theirs = make_store(tmp_path / "b", {"answers": both, "calls": [call_row(b"1"), call_row(b"2")]})

    (counts,) = merged(ours, theirs)

    assert (counts.answers, counts.same, counts.conflicts, counts.calls) == (1, 1, [], 1)
    assert contents(ours) == contents(theirs)


def test_of_two_answers_to_one_key_the_first_stays_and_the_other_goes_into_the_bin(tmp_path: Path) -> None:
    ours = make_store(tmp_path / "a", {"answers": [answer_row(b"1", "A")], "calls": [call_row(b"1")]})
    other = answer_row(b"1", "B", run="lab")
    theirs = make_store(tmp_path / "b", {"answers": [other], "calls": [call_row(b"1", run="lab")]})

    (counts,) = merged(ours, theirs)

    assert [key.ask for key in counts.conflicts] == [b"1"]
    after = contents(ours)
    assert list(after["answers"]) == [answer_row(b"1", "A")]
    assert [row[:14] for row in after["dropped"]] == [other]
    assert [row[-1] for row in after["dropped"]] == ["another answer was stored when b was merged"]
    with closing(AnswerStore(ours)) as store:
        assert list(find_problems(store)) == [], "both calls are there"


def test_what_was_dropped_here_is_not_brought_back(tmp_path: Path) -> None:
    bin_row = (*answer_row(b"1", "A"), "2026-02-01", "an error")
    ours = make_store(tmp_path / "a", {"dropped": [bin_row]})
    theirs = make_store(tmp_path / "b", {"answers": [answer_row(b"1", "A")]})

    (counts,) = merged(ours, theirs)

    assert (counts.answers, counts.stay_dropped) == (0, 1)
    assert not contents(ours)["answers"]


def test_equal_calls_of_one_store_are_kept_apart(tmp_path: Path) -> None:
    """Two calls in the same second for the same Ask are two calls; merged with one of them they stay two."""
    ours = make_store(tmp_path / "a", {"calls": [call_row(b"1")]})
    theirs = make_store(tmp_path / "b", {"calls": [call_row(b"1"), call_row(b"1")]})

    merged(ours, theirs, theirs)

    assert contents(ours)["calls"] == {call_row(b"1"): 2}


def test_a_store_is_not_merged_into_itself_and_a_missing_one_is_not_made(tmp_path: Path) -> None:
    ours = make_store(tmp_path / "a", {})

    with pytest.raises(WardroundError, match="is this answer store itself"):
        merged(ours, ours)
    with pytest.raises(WardroundError, match="there is no such answer store"):
        merged(ours, tmp_path / "typo")

    assert not (tmp_path / "typo").exists()


ASKS = st.sampled_from([b"1", b"2", b"3"])
ANSWERS = st.builds(answer_row, ASKS, st.sampled_from("AB"), st.integers(0, 1), st.sampled_from(["exam", "lab"]))
BIN = st.builds(lambda row, reason: (*row, "2026-02-01", reason), ANSWERS, st.sampled_from(["x", "y"]))
SENTINEL = st.builds(lambda row: ("exam", *row[:4]), ANSWERS)
FAULTS = st.builds(lambda kind, times: ("exam", "server", kind, times, "m"), st.sampled_from("ab"), st.integers(1, 3))
STORES = st.fixed_dictionaries(
    {
        "answers": st.lists(ANSWERS, max_size=4, unique_by=lambda row: row[:3]),
        "calls": st.lists(st.builds(call_row, ASKS, st.integers(1, 2)), max_size=4),
        "sentinels": st.lists(SENTINEL, max_size=3),
        "dropped": st.lists(BIN, max_size=3),
        "faults": st.lists(FAULTS, max_size=2, unique_by=lambda row: row[2]),
    }
)


@settings(max_examples=40, deadline=None)
@given(st.lists(STORES, min_size=2, max_size=3))
def test_merging_loses_nothing_and_merging_again_changes_nothing(tables: list[Tables]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ours, *others = [make_store(Path(folder) / str(number), table) for number, table in enumerate(tables)]
        before = [contents(path) for path in (ours, *others)]

        merged(ours, *others)
        after = contents(ours)
        merged(ours, *others)
        again = contents(ours)

        assert [contents(path) for path in others] == before[1:], "the others are only read"
    assert again == after
    assert before[0]["answers"] <= after["answers"], "the first row wins"
    kept = {row[:4] for table in ("answers", "dropped") for row in after[table]}
    for store in before:
        assert {row[:4] for row in store["answers"]} <= kept
        for table in ("calls", "sentinels", "dropped"):
            assert store[table] <= after[table]
        for run, candidate, kind, times, _ in store["faults"]:
            assert any(row[:3] == (run, candidate, kind) and row[3] >= times for row in after["faults"])
    for table in ("calls", "sentinels"):
        most = Counter[tuple[Any, ...]]()
        for store in before:
            most |= store[table]
        assert after[table] == most, "nothing is counted twice"
