"""The answer store: every answer that was ever paid for, by (ask, trial, turn)."""

from __future__ import annotations

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

# at most this long between two commits; a lone answer does not wait
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


LOOK = "select body from answers where ask = ? and trial = ? and turn = ?"


class Row(NamedTuple):
    """Where an answer stands in the store."""

    ask: bytes
    trial: int
    turn: int


@dataclass(frozen=True, slots=True)
class Call:
    """One successful call: who was asked by which run, and what it took."""

    run: str
    candidate: str
    tokens_in: int
    tokens_out: int


@dataclass(slots=True)
class _Waiting:
    rows: Sequence[tuple[Row, bytes]]
    call: Call | None
    done: asyncio.Future[list[bytes]]


class Store:
    """One SQLite file. Reads happen here and now; writes are committed in groups by one thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._reading = self._connect()
            self._reading.executescript(SCHEMA)
            self._writing = self._connect()
            self._looking = self._reading.cursor()
        except (sqlite3.Error, OSError) as error:
            raise WardroundError(f"{path}: the answer store cannot be opened: {error}") from None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._waiting: list[_Waiting] = []
        self._committing: asyncio.Task[None] | None = None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        return connection

    @contextmanager
    def looked_up_often(self) -> Iterator[None]:
        """While it lasts the store is read as it was at its start, which makes a look-up cost half as much."""
        self._reading.execute("begin")
        try:
            yield
        finally:
            self._reading.execute("commit")

    def get(self, row: Row) -> Answer | None:
        """The answer at a place, or None."""
        body = self.body(row)
        return None if body is None else Answer.restored(orjson.loads(body))

    def body(self, row: Row) -> bytes | None:
        found = self._looking.execute(LOOK, row).fetchone()
        return None if found is None else found[0]

    def __contains__(self, row: Row) -> bool:
        return self.body(row) is not None

    async def put(self, rows: Sequence[Row], answers: Sequence[Answer], call: Call) -> list[Answer]:
        """Commits the answers of one call. Returns what the store holds now: the first committed row wins."""
        bodies = [orjson.dumps(answer.stored()) for answer in answers]
        kept = await self._commit(list(zip(rows, bodies, strict=True)), call)
        return [
            answer if body is mine else Answer.restored(orjson.loads(body))
            for answer, mine, body in zip(answers, bodies, kept, strict=True)
        ]

    async def put_result(self, row: Row, result: Any) -> Any:
        """Commits what a tool returned. Returns what the store holds now."""
        return orjson.loads((await self._commit([(row, orjson.dumps(result))], None))[0])

    def result(self, row: Row) -> Any:
        """What a tool returned, or None."""
        body = self.body(row)
        return None if body is None else orjson.loads(body)

    def _commit(self, rows: Sequence[tuple[Row, bytes]], call: Call | None) -> asyncio.Future[list[bytes]]:
        done: asyncio.Future[list[bytes]] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(rows, call, done))
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit_all())
        return done

    async def _commit_all(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                group, self._waiting = self._waiting, []
                try:
                    kept = await loop.run_in_executor(self._thread, self._write, group)
                except sqlite3.Error as error:
                    failure = WardroundError(f"{self.path}: answers cannot be written: {error}")
                    for waiting in group:
                        if not waiting.done.done():
                            waiting.done.set_exception(failure)
                    continue
                for waiting, bodies in zip(group, kept, strict=True):
                    if not waiting.done.done():
                        waiting.done.set_result(bodies)
                await asyncio.sleep(GATHER_SECONDS)
        finally:
            self._committing = None

    async def settled(self) -> None:
        """Waits until all that was put is committed."""
        while self._committing is not None:
            await asyncio.wait([self._committing])

    def _write(self, group: Sequence[_Waiting]) -> list[list[bytes]]:
        connection = self._writing
        connection.execute("begin immediate")
        try:
            kept = [self._write_one(connection, waiting) for waiting in group]
            connection.execute("commit")
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise
        return kept

    @staticmethod
    def _write_one(connection: sqlite3.Connection, waiting: _Waiting) -> list[bytes]:
        kept = []
        duplicates = 0
        for row, body in waiting.rows:
            if connection.execute("insert or ignore into answers values (?, ?, ?, ?)", (*row, body)).rowcount:
                kept.append(body)
            else:
                duplicates += 1
                found = connection.execute(LOOK, row).fetchone()
                kept.append(found[0])
        if waiting.call is not None:
            call, ask = waiting.call, waiting.rows[0][0].ask
            connection.execute(
                "insert into calls values (?, ?, ?, ?, ?, ?, ?)",
                (call.run, call.candidate, ask, len(kept), duplicates, call.tokens_in, call.tokens_out),
            )
        return kept

    def put_sentinel(self, run: str, row: Row, answer: Answer) -> None:
        """Keeps a re-asked reply in a table of its own, never among the answers."""
        self._reading.execute(
            "insert into sentinels values (?, ?, ?, ?, ?)",
            (run, *row, orjson.dumps(answer.stored())),
        )

    def spent(self, run: str, candidate: str) -> tuple[int, int, int, int]:
        """Calls, tokens in, tokens out and paid duplicates of a run for one candidate, over all its starts."""
        found: tuple[int, int, int, int] = self._reading.execute(
            "select count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0), "
            "coalesce(sum(duplicates), 0) from calls where run = ? and candidate = ?",
            (run, candidate),
        ).fetchone()
        return found

    def bought(self, run: str, candidate: str) -> int:
        """How many answers these calls brought."""
        told = "select coalesce(sum(answers), 0) from calls where run = ? and candidate = ?"
        return int(self._reading.execute(told, (run, candidate)).fetchone()[0])

    def paid_by_all(self, asks: Iterable[bytes]) -> tuple[int, int, int, int]:
        """Calls, answers, tokens in and tokens out that the answers to these Asks took, whichever run asked."""
        self._reading.execute("create temp table wanted (ask blob primary key) without rowid")
        try:
            self._reading.execute("begin")
            self._reading.executemany("insert or ignore into wanted values (?)", ((ask,) for ask in asks))
            self._reading.execute("commit")
            found: tuple[int, int, int, int] = self._reading.execute(
                "select count(*), coalesce(sum(answers - duplicates), 0), coalesce(sum(tokens_in), 0), "
                "coalesce(sum(tokens_out), 0) from calls where ask in wanted"
            ).fetchone()
        finally:
            self._reading.execute("drop table wanted")
        return found

    def known_file(self, path: str) -> tuple[int, int, str] | None:
        """Size, time of change and SHA-256 of a file, as they were when it was last hashed."""
        found: tuple[int, int, str] | None = self._reading.execute(
            "select size, changed, sha256 from files where path = ?", (path,)
        ).fetchone()
        return found

    def remember_files(self, files: Sequence[tuple[str, int, int, str]]) -> None:
        """Keeps path, size, time of change and SHA-256 of files, in one commit."""
        if not files:
            return
        looked_up_often = self._reading.in_transaction
        if looked_up_often:
            self._reading.execute("commit")
        self._reading.execute("begin immediate")
        self._reading.executemany("insert or replace into files values (?, ?, ?, ?)", files)
        self._reading.execute("commit")
        if looked_up_often:
            self._reading.execute("begin")

    def copy_rows(self, rows: Iterable[Row], to: Path) -> int:
        """Copies rows into another store file."""
        other = Store(to)
        count = 0
        other._reading.execute("begin")
        for row in rows:
            body = self.body(row)
            if body is not None:
                other._reading.execute("insert or ignore into answers values (?, ?, ?, ?)", (*row, body))
                count += 1
        other._reading.execute("commit")
        other.close()
        return count

    def close(self) -> None:
        self._thread.shutdown(wait=True)
        self._writing.close()
        self._reading.close()
