"""The answer store: every answer ever received, by (ask, trial, turn). SQLite."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from wardround.core.ask import Answer
from wardround.core.errors import BadInput, WardroundError, describe_unreadable
from wardround.running.store import schema
from wardround.running.store.leases import Leases

# between two commits; a single answer does not wait
GATHER_SECONDS = 0.005
BUSY_SECONDS = 60
SELECT = "select body, address from answers where ask = ? and trial = ? and turn = ?"
ANSWER_COLUMNS = ("ask", "trial", "turn", "body", *schema.ORIGIN)
INSERT = f"insert or ignore into answers ({', '.join(ANSWER_COLUMNS)}) values ({', '.join('?' * len(ANSWER_COLUMNS))})"


class AnswerKey(NamedTuple):
    """The primary key of an answer in the store."""

    ask: bytes
    trial: int
    turn: int


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was paid for: its run, its candidate, its address and its tokens."""

    run: str
    candidate: str
    tokens_in: int
    tokens_out: int
    address: str | None = None
    is_estimated: bool = False  # whether the tokens are our estimate: the server reported none
    purpose: str = "answer"  # or `batch`, `sentinel`, `check`, `fault` (an error that was charged)
    cached_in: int = 0  # tokens in that came from the server's prompt cache
    cache_writes: int = 0  # tokens in that were written to it


class Spending(NamedTuple):
    """Sums over calls."""

    calls: int
    answers: int
    tokens_in: int
    tokens_out: int
    duplicates: int  # answers that were stored already when these calls returned
    estimated: int  # calls whose tokens are our estimate
    cached_in: int = 0  # tokens in that came from a prompt cache, and those that were written to it
    cache_writes: int = 0
    batched_in: int = 0  # the parts of these that were bought by batches, at their price
    batched_out: int = 0
    batched_cached: int = 0
    batched_writes: int = 0


class StoredAnswer(NamedTuple):
    """An answer, and the address it came from."""

    answer: Answer
    address: str | None


class FaultCount(NamedTuple):
    """How often a fault of one kind came, and its last message."""

    kind: str
    times: int
    last: str


@dataclass(slots=True)
class _PendingWrite:
    write: Callable[[sqlite3.Connection], list[bytes]]  # returns the bodies that are stored now
    done: asyncio.Future[list[bytes]]


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turns on the write-ahead log. SQLite itself does not wait here if another process is doing the same."""
    started = time.monotonic()
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() - started > BUSY_SECONDS:
                raise
            time.sleep(0.01)


class AnswerStore:
    """One SQLite file. Reads are immediate; writes are committed in groups by one thread."""

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        if must_exist and not path.is_file():
            raise BadInput(path, "there is no such answer store")
        if must_exist and path.stat().st_size == 0:
            raise BadInput(path, "is an empty file, not an answer store")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._reading = self._connect()
            if not schema.is_current(self._reading):
                schema.prepare(self._reading, path)
            self._writing = self._connect()
            self._lookup = self._reading.cursor()
            self._inode = path.stat().st_ino
        except (sqlite3.Error, OSError) as error:
            raise BadInput(path, _why_not_opened(path, error)) from None
        self.leases = Leases(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._pending: list[_PendingWrite] = []
        self._committing: asyncio.Task[None] | None = None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        _write_ahead(connection)
        connection.execute("pragma synchronous = full")
        return connection

    @property
    def connection(self) -> sqlite3.Connection:
        """For upkeep, while no run uses this object."""
        return self._reading

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Reads the store as it is now, as long as the block lasts, at half the cost of a look-up."""
        with self._reading:
            self._reading.execute("begin")
            yield

    def find(self, key: AnswerKey) -> StoredAnswer | None:
        row: tuple[bytes, str | None] | None = self._lookup.execute(SELECT, key).fetchone()
        return None if row is None else StoredAnswer(Answer.from_dict(orjson.loads(row[0])), row[1])

    def get(self, key: AnswerKey) -> Answer | None:
        stored = self.find(key)
        return None if stored is None else stored.answer

    def body(self, key: AnswerKey) -> bytes | None:
        row: tuple[bytes, str | None] | None = self._lookup.execute(SELECT, key).fetchone()
        return None if row is None else row[0]

    def dropped_keys(self) -> set[AnswerKey]:
        """The keys of answers in the bin."""
        return {AnswerKey(*row) for row in self._reading.execute("select ask, trial, turn from dropped")}

    def has(self, key: AnswerKey) -> bool:
        return self._lookup.execute(SELECT, key).fetchone() is not None

    async def put(self, keys: Sequence[AnswerKey], answers: Sequence[Answer], call: Call) -> list[Answer]:
        """Commits the answers of one call. Returns the stored ones: the first committed row wins."""
        bodies = [orjson.dumps(answer.to_dict()) for answer in answers]
        stored = await self._commit(lambda connection: _insert_answers(connection, keys, answers, bodies, call))
        return [
            answer if stored_body is body else Answer.from_dict(orjson.loads(stored_body))
            for answer, body, stored_body in zip(answers, bodies, stored, strict=True)
        ]

    async def put_call(self, ask: bytes, call: Call) -> None:
        """Commits a call whose answers are not stored among the others."""

        def write(connection: sqlite3.Connection) -> list[bytes]:
            _insert_call(connection, ask, call, answers=0, duplicates=0)
            return []

        await self._commit(write)

    async def put_result(self, key: AnswerKey, result: Any) -> Any:
        """Commits the result of a tool. Returns the stored one."""
        row = (*key, orjson.dumps(result), *(None for _ in schema.ORIGIN))

        def write(connection: sqlite3.Connection) -> list[bytes]:
            connection.execute(INSERT, row)
            return [_stored_body(connection, key)]

        return orjson.loads((await self._commit(write))[0])

    def result(self, key: AnswerKey) -> Any:
        """The result of a tool, or None."""
        row = self._lookup.execute(SELECT, key).fetchone()
        return None if row is None else orjson.loads(row[0])

    def count_fault(self, run: str, candidate: str, kind: str, message: str) -> None:
        """Counts a fault with the next commit; nobody waits for it."""

        def write(connection: sqlite3.Connection) -> list[bytes]:
            connection.execute(
                "insert into faults values (?, ?, ?, 1, ?) on conflict do update set "
                "times = times + 1, last = excluded.last",
                (run, candidate, kind, message),
            )
            return []

        self._commit(write).add_done_callback(lambda done: done.cancelled() or done.exception())

    def faults(self, run: str, candidate: str) -> list[FaultCount]:
        """The faults of all starts of a run, the commonest first."""
        query = "select kind, times, last from faults where run = ? and candidate = ? order by times desc, kind"
        return [FaultCount(*row) for row in self._reading.execute(query, (run, candidate))]

    def _commit(self, write: Callable[[sqlite3.Connection], list[bytes]]) -> asyncio.Future[list[bytes]]:
        done: asyncio.Future[list[bytes]] = asyncio.get_running_loop().create_future()
        self._pending.append(_PendingWrite(write, done))
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
                except (sqlite3.Error, OSError) as error:
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
        if not self.path.exists() or self.path.stat().st_ino != self._inode:
            raise OSError("the store was removed or replaced while a run was writing to it")
        with self._writing as connection:  # commits, or rolls back if anything was raised
            connection.execute("begin immediate")
            return [pending.write(connection) for pending in group]

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

    def latest_calls(self, candidate: str, limit: int) -> list[tuple[bytes, int, int, int]]:
        """Ask, answers, tokens in and tokens out of a candidate's latest calls that were billed."""
        query = (
            "select ask, answers, tokens_in, tokens_out from calls where candidate = ? and answers > 0 "
            "and tokens_in + tokens_out > 0 order by rowid desc limit ?"
        )
        return self._reading.execute(query, (candidate, limit)).fetchall()

    def _sum_calls(self, condition: str, *values: str) -> Spending:
        names = ("answers", "tokens_in", "tokens_out", "duplicates", "estimated")
        cached = ("cached_in", "cache_writes")
        batched = [f"{name} * (purpose = 'batch')" for name in ("tokens_in", "tokens_out", *cached)]
        sums = (f"coalesce(sum({name}), 0)" for name in (*names, *cached, *batched))
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

    def close(self) -> None:
        self._thread.shutdown(wait=True)
        self._writing.close()
        self._reading.close()
        self.leases.close()


def _why_not_opened(path: Path, error: Exception) -> str:
    if path.is_dir():
        return "is a folder; expected the file of an answer store, such as answers.sqlite"
    if isinstance(error, OSError):
        return describe_unreadable(error)
    if "not a database" in str(error):
        return "is not an answer store (it is not an SQLite file); name another one by --answers PATH"
    return f"the answer store cannot be opened: {error}"


def utc_now() -> str:
    return datetime.fromtimestamp(int(time.time()), UTC).isoformat()


def _stored_body(connection: sqlite3.Connection, key: AnswerKey) -> bytes:
    body: bytes = connection.execute(SELECT, key).fetchone()[0]
    return body


def _insert_answers(
    connection: sqlite3.Connection,
    keys: Sequence[AnswerKey],
    answers: Sequence[Answer],
    bodies: Sequence[bytes],
    call: Call,
) -> list[bytes]:
    now, stored = utc_now(), []
    for number, (key, answer, body) in enumerate(zip(keys, answers, bodies, strict=True)):
        tokens = [_share(total, number, len(keys)) for total in (call.tokens_in, call.tokens_out)]
        server = (call.address, answer.model, answer.fingerprint, now)
        row = (*key, body, call.run, call.candidate, *server, *tokens, answer.finish, answer.refusal)
        stored.append(body if connection.execute(INSERT, row).rowcount else _stored_body(connection, key))
    duplicates = sum(theirs is not ours for theirs, ours in zip(stored, bodies, strict=True))
    _insert_call(connection, keys[0].ask, call, len(stored), duplicates, now)
    return stored


def _insert_call(
    connection: sqlite3.Connection, ask: bytes, call: Call, answers: int, duplicates: int, now: str | None = None
) -> None:
    tokens = (call.tokens_in, call.tokens_out)
    row = (
        call.run,
        call.candidate,
        ask,
        answers,
        duplicates,
        *tokens,
        call.purpose,
        call.is_estimated,
        now or utc_now(),
        call.cached_in,
        call.cache_writes,
    )
    connection.execute(f"insert into calls values ({', '.join('?' * len(row))})", row)


def _share(total: int, number: int, parts: int) -> int:
    """One of the nearly equal parts of a total."""
    return total * (number + 1) // parts - total * number // parts
