"""Stores of an earlier version become ones of this version; those of a newer one are refused."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from wardround.core.ask import Answer
from wardround.core.errors import WardroundError
from wardround.running.store import AnswerKey, AnswerStore, schema
from wardround.running.store.batches import BatchRecords, all_batches
from wardround.running.store.rows import TOOL_RESULT, read_rows
from wardround.running.store.verification import find_problems

VERSION_1 = """
create table answers (
  ask blob not null, trial integer not null, turn integer not null, body blob not null,
  primary key (ask, trial, turn)) without rowid;
create table calls (
  run text not null, candidate text not null, ask blob not null, answers integer not null,
  duplicates integer not null, tokens_in integer not null, tokens_out integer not null);
create table sentinels (
  run text not null, ask blob not null, trial integer not null, turn integer not null, body blob not null);
create table files (
  path text primary key, size integer not null, changed integer not null, sha256 text not null) without rowid;
"""

WITHOUT_CACHE = "alter table calls drop column cached_in; alter table calls drop column cache_writes;"


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    """Two trials of one Ask, a cut answer of another, and a tool result, as version 1 wrote them."""
    path = tmp_path / "answers.sqlite"
    bodies = [
        (b"a" * 32, 0, 0, {"text": "A", "finish": "stop", "model": "m-1"}),
        (b"a" * 32, 1, 0, {"text": "B", "finish": "stop", "model": "m-1"}),
        (b"b" * 32, 0, 0, {"text": "because", "finish": "length"}),
        (b"c" * 32, 0, 0, {"result": [1, 2]}),
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(VERSION_1)
        rows = [(*key, json.dumps(body, separators=(",", ":")).encode()) for *key, body in bodies]
        connection.executemany("insert into answers values (?, ?, ?, ?)", rows)
        connection.execute("insert into calls values ('exam', 'server', ?, 2, 0, 100, 2)", (b"a" * 32,))
        connection.execute("insert into calls values ('other', 'judge', ?, 1, 0, 50, 9)", (b"b" * 32,))
    return path


def test_a_store_of_version_1_gets_its_columns_from_bodies_and_calls(old_store: Path) -> None:
    with closing(AnswerStore(old_store, must_exist=True)) as store:
        rows = list(read_rows(store.connection))
        answer = store.get(AnswerKey(b"b" * 32, 0, 0))
        problems = list(find_problems(store))

    origins = [(row.origin.run, row.origin.candidate, row.origin.model, row.origin.finish) for row in rows]
    assert origins == [
        ("exam", "server", "m-1", "stop"),
        ("exam", "server", "m-1", "stop"),
        ("other", "judge", None, "length"),
        (None, None, None, None),
    ]
    assert [row.outcome for row in rows] == ["answered", "answered", "cut", TOOL_RESULT]
    assert answer == Answer("because", finish="length")
    assert problems == []


def test_a_migrated_store_is_not_migrated_again(old_store: Path) -> None:
    for _ in range(2):
        AnswerStore(old_store).close()

    with closing(sqlite3.connect(old_store)) as connection:
        assert connection.execute("pragma user_version").fetchone() == (schema.VERSION,)
        assert connection.execute("select purpose, estimated, time from calls").fetchall() == [("answer", 0, None)] * 2


def test_a_store_of_version_2_gets_the_tables_of_batches(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    AnswerStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{WITHOUT_CACHE} drop table batches; drop table batch_items; pragma user_version = 2")
    store = AnswerStore(path)
    batches = BatchRecords(store, "run", "candidate", "host/v1")
    batches.add("token", ["item"])
    assert batches.has_open("item")
    assert batches.count_ended("item") == 0
    batches.end("token")
    assert (batches.has_open("item"), batches.count_ended("item")) == (False, 1)
    store.close()


def test_a_store_of_version_3_gets_the_columns_of_caches_and_reservations(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    AnswerStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{WITHOUT_CACHE} drop table batches; drop table batch_items; {schema.BATCHES}")
        connection.execute("insert into calls values ('exam', 'server', x'00', 1, 0, 100, 2, 'batch', 0, null)")
        connection.execute("insert into batches values ('old', 'exam', 'server', null, 1, '2026-01-01', 'b', 1)")
        connection.commit()
        connection.execute("pragma user_version = 3")

    with closing(AnswerStore(path)) as store:
        spent = store.spent("exam", "server")
        [batch] = all_batches(store)

    assert (spent.tokens_in, spent.cached_in, spent.batched_in, spent.batched_cached) == (100, 0, 100, 0)
    assert (batch.id, batch.answered, batch.ended) == ("b", 0, None)


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(old_store: Path) -> None:
    with closing(sqlite3.connect(old_store)) as connection:
        connection.execute("pragma user_version = 99")

    with pytest.raises(WardroundError, match=r"newer wardround .*version 99"):
        AnswerStore(old_store, must_exist=True)

    with closing(sqlite3.connect(old_store)) as connection:
        assert len(connection.execute("select * from answers").description) == 4


def test_several_runs_may_make_a_new_store_at_the_same_moment(tmp_path: Path) -> None:
    """SQLite does not wait for another connection while it turns on the write-ahead log."""
    for number in range(20):
        path = tmp_path / f"{number}.sqlite"
        with ThreadPoolExecutor(4) as pool:
            stores = list(pool.map(lambda _, path=path: AnswerStore(path), range(4)))
        assert len(stores) == 4
        for store in stores:
            store.close()
