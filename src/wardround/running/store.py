"""The answer store: every answer ever received, by (ask, trial, turn). SQLite."""

import asyncio
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from wardround.core.ask import Answer
from wardround.core.errors import WardroundError

# between two commits; a single answer does not wait
GATHER_SECONDS = 0.005
BUSY_SECONDS = 60

SCHEMA = """
create table if not exists answers (
  ask blob not null, trial integer not null, turn integer not null, body blob not null,
  primary key (ask, trial, turn)) without rowid;
create table if not exists calls (
  run text not null, candidate text not null, ask blob not null, answers integer not null,
  duplicates integer not null, tokens_in integer not null, tokens_out integer not null);
create table if not exists sentinels (
  run text not null, ask blob not null, trial integer not null, turn integer not null, body blob not null);
create table if not exists files (
  path text primary key, size integer not null, changed integer not null, sha256 text not null) without rowid;
"""
SELECT_BODY = "select body from answers where ask = ? and trial = ? and turn = ?"


class AnswerKey(NamedTuple):
    """The primary key of an answer in the store."""

    ask: bytes
    trial: int
    turn: int


@dataclass(frozen=True, slots=True)
class Call:
    """One successful call: its run, its candidate and its tokens."""

    run: str
    candidate: str
    tokens_in: int
    tokens_out: int


class Spending(NamedTuple):
    """Sums over calls."""

    calls: int
    answers: int
    tokens_in: int
    tokens_out: int
    duplicates: int  # answers that were stored already when these calls returned


@dataclass(slots=True)
class _PendingWrite:
    rows: Sequence[tuple[AnswerKey, bytes]]
    call: Call | None
    done: asyncio.Future[list[bytes]]


class AnswerStore:
    """One SQLite file. Reads are immediate; writes are committed in groups by one thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._reading = self._connect()
            self._reading.executescript(SCHEMA)
            self._writing = self._connect()
            self._lookup = self._reading.cursor()
        except (sqlite3.Error, OSError) as error:
            raise WardroundError(f"{path}: the answer store cannot be opened: {error}") from None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._pending: list[_PendingWrite] = []
        self._committing: asyncio.Task[None] | None = None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        return connection

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Reads the store as it is now, as long as the block lasts, at half the cost of a look-up."""
        with self._reading:
            self._reading.execute("begin")
            yield

    def get(self, key: AnswerKey) -> Answer | None:
        body = self.body(key)
        return None if body is None else Answer.from_dict(orjson.loads(body))

    def body(self, key: AnswerKey) -> bytes | None:
        row: tuple[bytes] | None = self._lookup.execute(SELECT_BODY, key).fetchone()
        return None if row is None else row[0]

    async def put(self, keys: Sequence[AnswerKey], answers: Sequence[Answer], call: Call) -> list[Answer]:
        """Commits the answers of one call. Returns the stored ones: the first committed row wins."""
        bodies = [orjson.dumps(answer.to_dict()) for answer in answers]
        stored = await self._commit(list(zip(keys, bodies, strict=True)), call)
        return [
            answer if stored_body is body else Answer.from_dict(orjson.loads(stored_body))
            for answer, body, stored_body in zip(answers, bodies, stored, strict=True)
        ]

    async def put_result(self, key: AnswerKey, result: Any) -> Any:
        """Commits the result of a tool. Returns the stored one."""
        return orjson.loads((await self._commit([(key, orjson.dumps(result))], None))[0])

    def result(self, key: AnswerKey) -> Any:
        """The result of a tool, or None."""
        body = self.body(key)
        return None if body is None else orjson.loads(body)

    def _commit(self, rows: Sequence[tuple[AnswerKey, bytes]], call: Call | None) -> asyncio.Future[list[bytes]]:
        done: asyncio.Future[list[bytes]] = asyncio.get_running_loop().create_future()
        self._pending.append(_PendingWrite(rows, call, done))
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit_all())
        return done

    async def _commit_all(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._pending:
                group, self._pending = self._pending, []
                try:
                    stored = await loop.run_in_executor(self._thread, self._write, group)
                except sqlite3.Error as error:
                    failure = WardroundError(f"{self.path}: answers cannot be written: {error}")
                    for write in group:
                        if not write.done.done():
                            write.done.set_exception(failure)
                    continue
                for write, bodies in zip(group, stored, strict=True):
                    if not write.done.done():
                        write.done.set_result(bodies)
                await asyncio.sleep(GATHER_SECONDS)
        finally:
            self._committing = None

    async def flush(self) -> None:
        """Waits until everything is committed."""
        while self._committing is not None:
            await asyncio.wait([self._committing])

    def _write(self, group: Sequence[_PendingWrite]) -> list[list[bytes]]:
        with self._writing as connection:  # commits, or rolls back if anything was raised
            connection.execute("begin immediate")
            return [self._write_one(connection, write) for write in group]

    @staticmethod
    def _write_one(connection: sqlite3.Connection, write: _PendingWrite) -> list[bytes]:
        stored = []
        duplicates = 0
        for key, body in write.rows:
            if connection.execute("insert or ignore into answers values (?, ?, ?, ?)", (*key, body)).rowcount:
                stored.append(body)
            else:
                duplicates += 1
                stored.append(connection.execute(SELECT_BODY, key).fetchone()[0])
        if write.call is not None:
            call, ask = write.call, write.rows[0][0].ask
            connection.execute(
                "insert into calls values (?, ?, ?, ?, ?, ?, ?)",
                (call.run, call.candidate, ask, len(stored), duplicates, call.tokens_in, call.tokens_out),
            )
        return stored

    def put_sentinel(self, run: str, key: AnswerKey, answer: Answer) -> None:
        """Stores a repeated answer in a table of its own, never among the answers."""
        row = (run, *key, orjson.dumps(answer.to_dict()))
        self._reading.execute("insert into sentinels values (?, ?, ?, ?, ?)", row)

    def spent(self, run: str, candidate: str) -> Spending:
        """What a run spent on one candidate, over all its starts."""
        return self._sum_calls("run = ? and candidate = ?", run, candidate)

    def spent_on(self, asks: Iterable[bytes]) -> Spending:
        """What all runs spent on these Asks."""
        self._reading.execute("create temp table wanted (ask blob primary key) without rowid")
        try:
            with self._reading:
                self._reading.execute("begin")
                self._reading.executemany("insert or ignore into wanted values (?)", ((ask,) for ask in asks))
            return self._sum_calls("ask in wanted")
        finally:
            self._reading.execute("drop table wanted")

    def _sum_calls(self, condition: str, *values: str) -> Spending:
        sums = (f"coalesce(sum({name}), 0)" for name in ("answers", "tokens_in", "tokens_out", "duplicates"))
        query = f"select count(*), {', '.join(sums)} from calls where {condition}"
        return Spending(*self._reading.execute(query, values).fetchone())

    def known_file(self, path: str) -> tuple[int, int, str] | None:
        """Size, modification time and SHA-256 of a file when it was last hashed."""
        row: tuple[int, int, str] | None = self._reading.execute(
            "select size, changed, sha256 from files where path = ?", (path,)
        ).fetchone()
        return row

    def save_files(self, files: Sequence[tuple[str, int, int, str]]) -> None:
        """Stores path, size, modification time and SHA-256 of files, in one commit."""
        if not files:
            return
        has_snapshot = self._reading.in_transaction
        if has_snapshot:
            self._reading.execute("commit")
        with self._reading:
            self._reading.execute("begin immediate")
            self._reading.executemany("insert or replace into files values (?, ?, ?, ?)", files)
        if has_snapshot:
            self._reading.execute("begin")

    def copy_answers(self, keys: Iterable[AnswerKey], to: Path) -> int:
        """Copies answers into another store file; returns their number."""
        other = AnswerStore(to)
        count = 0
        other._reading.execute("begin")
        for key in keys:
            body = self.body(key)
            if body is not None:
                other._reading.execute("insert or ignore into answers values (?, ?, ?, ?)", (*key, body))
                count += 1
        other._reading.execute("commit")
        other.close()
        return count

    def close(self) -> None:
        self._thread.shutdown(wait=True)
        self._writing.close()
        self._reading.close()
