"""The answer store: every answer ever received, by (ask, trial, turn)."""

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from wardround.core.ask import Answer
from wardround.core.errors import WardroundError
from wardround.core.store.location import StoreLocation
from wardround.running.store import schema
from wardround.running.store.database import StoreConnection, open_database
from wardround.running.store.writes import SELECT, CallRow, Write, insert_into

# between two commits; a single answer does not wait
GATHER_SECONDS = 0.005
ASKS_PER_QUERY = 500
SAVE_FILE = (
    "insert into files (path, size, changed, sha256) values (?, ?, ?, ?) on conflict (path) "
    "do update set size = excluded.size, changed = excluded.changed, sha256 = excluded.sha256"
)
SENTINEL_COLUMNS = ("run", "ask", "trial", "turn", "body")
INSERT_SENTINEL = insert_into("sentinels", SENTINEL_COLUMNS)


StoredBody = tuple[bytes, str | None]  # an answer as it is stored, and the address it came from


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
    write: Write
    done: asyncio.Future[list[bytes]]  # the bodies that are stored now


class AnswerStore:
    """Reads are immediate; writes are committed in groups by one thread."""

    def __init__(self, location: StoreLocation, *, must_exist: bool = False, keeps_bodies: bool = False) -> None:
        """`keeps_bodies`: if the same bodies are asked for twice in a row, they are read once."""
        self.location = location
        self._keeps_bodies = keeps_bodies
        self._kept: tuple[Sequence[AnswerKey], list[bytes | None]] = [], []
        self._database = open_database(location, must_exist=must_exist)
        self._reading, self.leases = self._database.reading, self._database.leases
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._pending: list[_PendingWrite] = []
        self._spent: dict[tuple[str, str], Spending] = {}  # by run and candidate, since the last commit
        self._committing: asyncio.Task[None] | None = None
        self._database.watch(lambda: [pending.write for pending in self._pending])

    @property
    def connection(self) -> StoreConnection:
        """For upkeep, while no run uses this object."""
        return self._reading

    def is_file(self, path: Path) -> bool:
        """Whether the store is this file."""
        return isinstance(self.location, Path) and self.location.resolve() == path.resolve()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Reads the store as it is now, as long as the block lasts, at half the cost of a look-up."""
        self._reading.begin_snapshot()
        try:
            yield
        finally:
            self._reading.execute("commit")

    def find(self, key: AnswerKey) -> StoredAnswer | None:
        row: tuple[bytes, str | None] | None = self._reading.execute(SELECT, key).fetchone()
        return None if row is None else StoredAnswer(Answer.from_dict(orjson.loads(row[0])), row[1])

    def get(self, key: AnswerKey) -> Answer | None:
        stored = self.find(key)
        return None if stored is None else stored.answer

    def body(self, key: AnswerKey) -> bytes | None:
        row: tuple[bytes, str | None] | None = self._reading.execute(SELECT, key).fetchone()
        return None if row is None else row[0]

    def bodies(self, keys: Sequence[AnswerKey]) -> list[bytes | None]:
        """The stored bodies of many keys, by few queries."""
        if keys == self._kept[0]:
            return self._kept[1]
        stored = self.find_bodies(keys)
        bodies = [stored[key][0] if key in stored else None for key in keys]
        if self._keeps_bodies and None not in bodies:
            self._kept = keys, bodies
        return bodies

    def find_bodies(self, keys: Iterable[AnswerKey]) -> dict[AnswerKey, StoredBody]:
        """What is stored for the Asks of these keys, in any trial and turn."""
        stored: dict[Any, StoredBody] = {}
        asks = sorted({key.ask for key in keys})  # neighbours in the store follow each other: a third less time
        for start in range(0, len(asks), ASKS_PER_QUERY):
            block = asks[start : start + ASKS_PER_QUERY]
            columns = "ask, trial, turn, body, address"
            query = f"select {columns} from answers where ask in ({', '.join('?' * len(block))})"
            for ask, trial, turn, body, address in self._reading.execute(query, block):
                stored[ask, trial, turn] = body, address  # equal to the named tuples, at half their cost
        return stored

    def dropped_keys(self) -> set[AnswerKey]:
        """The keys of answers in the bin."""
        return {AnswerKey(*row) for row in self._reading.execute("select ask, trial, turn from dropped")}

    @property
    def is_empty(self) -> bool:
        """Whether there is no answer at all."""
        return self._reading.execute("select 1 from answers limit 1").fetchone() is None

    def has(self, key: AnswerKey) -> bool:
        return self._reading.execute(SELECT, key).fetchone() is not None

    async def put(self, keys: Sequence[AnswerKey], answers: Sequence[Answer], call: Call) -> list[Answer]:
        """Commits the answers of one call. Returns the stored ones: the first committed row wins."""
        bodies = [orjson.dumps(answer.to_dict()) for answer in answers]
        stored = await self._commit(_answers_write(keys, answers, bodies, call))
        return [
            answer if stored_body is body else Answer.from_dict(orjson.loads(stored_body))
            for answer, body, stored_body in zip(answers, bodies, stored, strict=True)
        ]

    async def put_call(self, ask: bytes, call: Call) -> None:
        """Commits a call whose answers are not stored among the others."""
        await self._commit(Write(call=_call_row(ask, call, utc_now())))

    async def put_result(self, key: AnswerKey, result: Any) -> Any:
        """Commits the result of a tool. Returns the stored one."""
        row = (*key, orjson.dumps(result), *(None for _ in schema.ORIGIN))
        return orjson.loads((await self._commit(Write((row,))))[0])

    def result(self, key: AnswerKey) -> Any:
        """The result of a tool, or None."""
        row = self._reading.execute(SELECT, key).fetchone()
        return None if row is None else orjson.loads(row[0])

    def count_fault(self, run: str, candidate: str, kind: str, message: str) -> None:
        """Counts a fault with the next commit; nobody waits for it."""
        counted = self._commit(Write(fault=(run, candidate, kind, message)))
        counted.add_done_callback(lambda done: done.cancelled() or done.exception())

    def faults(self, run: str, candidate: str) -> list[FaultCount]:
        """The faults of all starts of a run, the commonest first."""
        query = "select kind, times, last from faults where run = ? and candidate = ? order by times desc, kind"
        return [FaultCount(*row) for row in self._reading.execute(query, (run, candidate))]

    def _commit(self, write: Write) -> asyncio.Future[list[bytes]]:
        done: asyncio.Future[list[bytes]] = asyncio.get_running_loop().create_future()
        self._pending.append(_PendingWrite(write, done))
        self._spent.clear()
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit_all())
        return done

    async def _commit_all(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._pending:
                group, self._pending = self._pending, []
                try:
                    writes = [pending.write for pending in group]
                    stored = await loop.run_in_executor(self._thread, self._database.commit, writes)
                except Exception as error:  # whatever it is, those who wait must not wait for ever
                    failure = WardroundError(f"{self.location}: answers cannot be written: {error}")
                    for pending in group:
                        if not pending.done.done():
                            pending.done.set_exception(failure)
                    continue
                self._spent.clear()
                for pending, bodies in zip(group, stored, strict=True):
                    if not pending.done.done():
                        pending.done.set_result(bodies)
                await asyncio.sleep(GATHER_SECONDS)
        finally:
            self._committing = None

    async def flush(self) -> None:
        """Waits until everything is committed."""
        while self._committing is not None:
            await asyncio.wait([self._committing])

    def put_sentinel(self, run: str, key: AnswerKey, answer: Answer) -> None:
        """Stores a repeated answer in a table of its own, never among the answers."""
        row = (run, *key, orjson.dumps(answer.to_dict()))
        self._reading.execute(INSERT_SENTINEL, row)

    def spent(self, run: str, candidate: str) -> Spending:
        """What a run spent on one candidate, over all its starts; added up again only after a commit of this object."""
        if (run, candidate) not in self._spent:
            self._spent[run, candidate] = self._sum_calls("run = ? and candidate = ?", run, candidate)
        return self._spent[run, candidate]

    def spent_on(self, asks: Iterable[bytes]) -> Spending:
        """What all runs spent on these Asks."""
        self._reading.define("create temp table wanted (ask blob primary key) without rowid")
        try:
            insert = "insert into wanted (ask) values (?) on conflict do nothing"
            with self._reading.transaction():
                self._reading.executemany(insert, ((ask,) for ask in asks))
            return self._sum_calls("ask in (select ask from wanted)")
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
        batched = [f"case when purpose = 'batch' then {name} else 0 end" for name in (*names[1:3], *cached)]
        sums = (f"cast(coalesce(sum({name}), 0) as bigint)" for name in (*names, *cached, *batched))
        query = f"select count(*), {', '.join(sums)} from calls where {condition}"
        return Spending(*self._reading.execute(query, values).fetchone())

    def known_files(self, folder: str) -> dict[str, tuple[int, int, str]]:
        """Size, modification time and SHA-256 of the files in a folder when they were last hashed, by path."""
        first, end = (self._database.file_name(f"{folder.rstrip('/')}{mark}") for mark in "/0")  # 0 follows /
        query = "select path, size, changed, sha256 from files where path >= ? and path < ?"
        prefix = len(self._database.file_name(""))
        return {row[0][prefix:]: row[1:] for row in self._reading.execute(query, (first, end))}

    def known_file(self, path: str) -> tuple[int, int, str] | None:
        """Size, modification time and SHA-256 of a file when it was last hashed."""
        row: tuple[int, int, str] | None = self._reading.execute(
            "select size, changed, sha256 from files where path = ?", (self._database.file_name(path),)
        ).fetchone()
        return row

    def save_files(self, files: Sequence[tuple[str, int, int, str]]) -> None:
        """Stores path, size, modification time and SHA-256 of files, in one commit."""
        if not files:
            return
        has_snapshot = self._reading.in_transaction
        if has_snapshot:
            self._reading.execute("commit")
        named = [(self._database.file_name(path), *about) for path, *about in files]
        with self._reading.transaction():
            self._reading.executemany(SAVE_FILE, named)
        if has_snapshot:
            self._reading.begin_snapshot()

    def close(self) -> None:
        self._thread.shutdown(wait=True)
        self._database.close()


def utc_now() -> str:
    return _utc(int(time.time()))


@lru_cache(1)
def _utc(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat()


def _answers_write(keys: Sequence[AnswerKey], answers: Sequence[Answer], bodies: Sequence[bytes], call: Call) -> Write:
    now, rows = utc_now(), []
    for number, (key, answer, body) in enumerate(zip(keys, answers, bodies, strict=True)):
        tokens = [_share(total, number, len(keys)) for total in (call.tokens_in, call.tokens_out)]
        server = (call.address, answer.model, answer.fingerprint, now)
        rows.append((*key, body, call.run, call.candidate, *server, *tokens, answer.finish, answer.refusal))
    return Write(tuple(rows), _call_row(keys[0].ask, call, now))


def _call_row(ask: bytes, call: Call, now: str) -> CallRow:
    return CallRow(
        run=call.run,
        candidate=call.candidate,
        ask=ask,
        answers=0,
        duplicates=0,
        tokens_in=call.tokens_in,
        tokens_out=call.tokens_out,
        purpose=call.purpose,
        estimated=int(call.is_estimated),
        time=now,
        cached_in=call.cached_in,
        cache_writes=call.cache_writes,
    )


def _share(total: int, number: int, parts: int) -> int:
    """One of the nearly equal parts of a total."""
    return total * (number + 1) // parts - total * number // parts
