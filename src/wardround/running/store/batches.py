"""Batches in the answer store: recorded before they are submitted, so that none is lost or bought twice."""

import secrets
from collections.abc import Iterable
from typing import NamedTuple

from wardround.running.store.answers import AnswerStore, utc_now
from wardround.running.store.database import StoreConnection
from wardround.running.store.writes import insert_into

COLUMNS = (
    *("token", "run", "candidate", "address", "items", "time", "id"),
    *("reserved_in", "reserved_out", "answered", "failed", "ended"),
)
SELECT_BATCHES = f"select {', '.join(COLUMNS)} from batches"
ORDER = "order by time, token"


class BatchRecord(NamedTuple):
    """A batch. Its provider may not have confirmed it: then it has no id. `ended` is when its results were stored."""

    token: str
    run: str
    candidate: str
    address: str | None
    items: int
    time: str
    id: str | None
    reserved_in: int = 0  # the most tokens that it may be billed
    reserved_out: int = 0
    answered: int = 0
    failed: int = 0
    ended: str | None = None

    @property
    def status(self) -> str:
        if self.ended is None:
            return "under way" if self.id else "being submitted"
        return f"collected: {self.answered:,} answered, {self.failed:,} failed"

    @property
    def reservation(self) -> "Reservation":
        return Reservation(self.items, self.reserved_in, self.reserved_out)


class BatchRecords:
    """The batches of one candidate at one address."""

    def __init__(self, store: AnswerStore, run: str, candidate: str, address: str | None) -> None:
        self._connection: StoreConnection = store.connection
        self._run, self._candidate, self._address = run, candidate, address

    def open_batches(self) -> list[BatchRecord]:
        """Those of all runs at this address: another run's may hold answers that this one needs."""
        query = f"{SELECT_BATCHES} where coalesce(address, '') = ? and has_ended = 0 {ORDER}"
        return [BatchRecord(*row) for row in self._connection.execute(query, (self._address or "",))]

    def has_own_open(self) -> bool:
        """Whether batches of this run are not collected yet."""
        return any(map(self.is_own, self.open_batches()))

    def is_own(self, batch: BatchRecord) -> bool:
        return (batch.run, batch.candidate) == (self._run, self._candidate)

    def known_ids(self) -> set[str]:
        """The provider's ids of all batches of the store."""
        return {id for (id,) in self._connection.execute("select id from batches where id is not null")}

    def own_open_ids(self) -> list[str]:
        """The provider's ids of batches of this run that are not collected yet."""
        return [batch.id for batch in filter(self.is_own, self.open_batches()) if batch.id is not None]

    def items(self, token: str) -> set[str]:
        return {item for (item,) in self._connection.execute("select item from batch_items where token = ?", (token,))}

    def has_open(self, item: str) -> bool:
        """Whether an item is in a batch of any run that is under way."""
        query = "select 1 from batch_items join batches using (token) where item = ? and has_ended = 0 limit 1"
        return self._connection.execute(query, (item,)).fetchone() is not None

    def count_ended(self, item: str) -> int:
        """In how many batches an item was that have ended."""
        query = "select count(*) from batch_items join batches using (token) where item = ? and has_ended = 1"
        count: int = self._connection.execute(query, (item,)).fetchone()[0]
        return count

    def add(self, token: str, items: Iterable[str], reserved: tuple[int, int] = (0, 0)) -> BatchRecord:
        """Records a batch before it is submitted, with the most tokens in and out that it may be billed."""
        items = list(items)
        batch = BatchRecord(token, self._run, self._candidate, self._address, len(items), utc_now(), None, *reserved)
        connection = self._connection
        with connection.transaction():
            connection.execute(insert_into("batches", COLUMNS), batch)
            connection.executemany(insert_into("batch_items", ("token", "item")), ((token, item) for item in items))
        return batch

    def confirm(self, token: str, id: str) -> None:
        """Records the provider's id."""
        self._connection.execute("update batches set id = ? where token = ?", (id, token))

    def end(self, token: str, answered: int = 0) -> None:
        """Records that the results of a batch are stored, and how many of its items were answered."""
        update = "update batches set has_ended = 1, answered = ?, failed = items - ?, ended = ? where token = ?"
        self._connection.execute(update, (answered, answered, utc_now(), token))

    def remove(self, token: str) -> None:
        """Forgets a batch that its provider does not have."""
        connection = self._connection
        with connection.transaction():
            connection.execute("delete from batch_items where token = ?", (token,))
            connection.execute("delete from batches where token = ?", (token,))

    def count(self) -> int:
        """How many batches of this candidate were confirmed."""
        query = "select count(*) from batches where run = ? and candidate = ? and id is not null"
        number: int = self._connection.execute(query, (self._run, self._candidate)).fetchone()[0]
        return number


def all_batches(store: AnswerStore) -> list[BatchRecord]:
    """The batches of all runs, the oldest first."""
    return [BatchRecord(*row) for row in store.connection.execute(f"{SELECT_BATCHES} {ORDER}")]


class Reservation(NamedTuple):
    """Requests in batches under way, and the most tokens in and out that they may be billed."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def plus(self, other: "Reservation") -> "Reservation":
        return Reservation(*map(sum, zip(self, other, strict=True)))


def reserved(store: AnswerStore, run: str, candidate: str) -> Reservation:
    """What a candidate's batches under way have reserved."""
    sums = ", ".join(f"cast(coalesce(sum({name}), 0) as bigint)" for name in ("items", "reserved_in", "reserved_out"))
    query = f"select {sums} from batches where run = ? and candidate = ? and has_ended = 0"
    return Reservation(*store.connection.execute(query, (run, candidate)).fetchone())


def new_token() -> str:
    return secrets.token_hex(4)
