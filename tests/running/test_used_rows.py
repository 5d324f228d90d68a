"""Rows of used.parquet that do not fit into memory come out as if they did."""

import random
from hashlib import blake2b

import polars as pl
import pytest

from wardround.running.inputs import used_rows
from wardround.running.inputs.used_rows import DIGEST_SIZE, ORDER, SCHEMA, UsedRow, UsedRows


def make_rows(count: int) -> list[UsedRow]:
    """Rows of three candidates and 40 cases, each with another Ask and digest, in no order."""
    rng = random.Random(7)
    rows = [
        (n % 3, n // 3 % 40, f"q{n % 7}", n % 2, n % 5, rng.randbytes(32), 0, n % 4 > 0, rng.randbytes(16))
        for n in range(count)
    ]
    rng.shuffle(rows)
    return rows


def in_order(rows: list[UsedRow]) -> list[UsedRow]:
    places = [list(SCHEMA).index(name) for name in ORDER]
    return sorted(rows, key=lambda row: [row[place] for place in places])


@pytest.fixture
def small_memory(monkeypatch):
    monkeypatch.setattr(used_rows, "CHUNK", 20)
    monkeypatch.setattr(used_rows, "MAX_ROWS", 60)


@pytest.mark.parametrize("count", [0, 1, 59, 500])
def test_rows_beyond_memory_come_out_in_order_and_leave_no_files(tmp_path, small_memory, count):
    given = make_rows(count)
    rows = UsedRows(tmp_path / "rows")
    for row in given:
        rows.add(row)

    tables = list(rows.tables())

    expected = in_order(given)
    assert pl.concat(tables).rows() == [row[:-1] for row in expected]
    assert max(map(len, tables)) <= 20
    assert rows.answers_hash == blake2b(b"".join(row[-1] for row in expected), digest_size=DIGEST_SIZE).hexdigest()
    assert not (tmp_path / "rows").exists()


def test_one_unknown_digest_leaves_the_hash_of_all_answers_unknown(tmp_path, small_memory):
    rows = UsedRows(tmp_path / "rows")
    for number, row in enumerate(make_rows(200)):
        rows.add((*row[:-1], None) if number == 150 else row)

    tables = list(rows.tables())

    assert sum(map(len, tables)) == 200
    assert rows.answers_hash is None


def test_files_of_a_start_that_was_killed_are_not_read(tmp_path, small_memory):
    folder = tmp_path / "rows"
    killed = UsedRows(folder)
    for row in make_rows(300):
        killed.add(row)
    assert list(folder.iterdir())
    rows, given = UsedRows(folder), make_rows(120)
    for row in given:
        rows.add(row)

    tables = list(rows.tables())

    assert pl.concat(tables).rows() == [row[:-1] for row in in_order(given)]
