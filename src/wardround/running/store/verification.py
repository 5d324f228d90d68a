"""Whether an answer store is sound: its file, its bodies, its columns, its calls, and what runs used of it."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from wardround.core.errors import WardroundError
from wardround.running.store.answers import AnswerStore
from wardround.running.store.database import StoreConnection
from wardround.running.store.rows import UNREADABLE, StoredRow, read_rows
from wardround.running.store.run_uses import key_table, listed_keys

COPIED = ("model", "fingerprint", "finish", "refusal")  # columns that repeat what the body says
# calls with more answers or tokens in the store than they returned; rows copied from elsewhere may have no call
UNPAID = """
with paid as (
  select run, candidate, ask, time,
    sum(answers - duplicates) as answers, sum(tokens_in) as tokens_in, sum(tokens_out) as tokens_out
  from calls where purpose in ('answer', 'batch') group by run, candidate, ask, time),
stored as (
  select run, candidate, ask, time, count(*) as answers, sum(tokens_in) as tokens_in, sum(tokens_out) as tokens_out
  from (select run, candidate, ask, trial, turn, time, tokens_in, tokens_out from answers
    union select run, candidate, ask, trial, turn, time, tokens_in, tokens_out from dropped) as bought
  group by run, candidate, ask, time)
select count(*) from paid join stored using (run, candidate, ask, time) where stored.answers > paid.answers
  or stored.tokens_in > paid.tokens_in or stored.tokens_out > paid.tokens_out"""


class StoreProblem(NamedTuple):
    """One kind of problem of a store: how many rows have it, and what it is."""

    kind: str
    rows: int
    message: str


def find_problems(store: AnswerStore) -> Iterator[StoreProblem]:
    """One problem of each kind that there is; a store that its database cannot read is not read further."""
    try:
        if damage := store.connection.damage():
            yield StoreProblem("integrity", len(damage), damage[0])
            return
        yield from _row_problems(store.connection)
        if unpaid := store.connection.execute(UNPAID).fetchone()[0]:
            yield StoreProblem("calls", unpaid, f"{unpaid:,} calls have more answers or tokens here than they returned")
    except sqlite3.DatabaseError as error:
        yield StoreProblem("integrity", 1, f"SQLite cannot read it: {error}")
    except WardroundError as error:
        yield StoreProblem("integrity", 1, f"PostgreSQL cannot read it: {error}")


def _row_problems(connection: StoreConnection) -> Iterator[StoreProblem]:
    unreadable, differing = [], []
    for row in read_rows(connection):
        if row.outcome == UNREADABLE:
            unreadable.append(row.key.ask.hex())
        elif _columns_differ(row):
            differing.append(row.key.ask.hex())
    if unreadable:
        message = f"{len(unreadable):,} bodies are not an answer in JSON, the first of Ask {unreadable[0]}"
        yield StoreProblem("bodies", len(unreadable), message)
    if differing:
        names = ", ".join(COPIED)
        message = f"{len(differing):,} rows have other columns than bodies ({names}), the first of Ask {differing[0]}"
        yield StoreProblem("columns", len(differing), message)


def _columns_differ(row: StoredRow) -> bool:
    """A body leaves out what is empty."""
    if row.answer is None:
        return any(value is not None for value in row.origin)
    return any(_plain(getattr(row.origin, name)) != _plain(getattr(row.answer, name)) for name in COPIED)


def _plain(text: str | None) -> str | None:
    """PostgreSQL stores no NUL character in a text."""
    return (text or "").replace("\0", "") or None


def find_missing(store: AnswerStore, folder: Path) -> StoreProblem | None:
    """The answers that a run used and the store has not."""
    with key_table(store.connection, "listed", listed_keys(folder)):
        query = "select count(*), count(answers.ask) from listed left join answers using (ask, trial, turn)"
        used, stored = store.connection.execute(query).fetchone()
    if used == stored:
        return None
    return StoreProblem("missing", used - stored, f"{folder}: {used - stored:,} of {used:,} used rows are not in it")
