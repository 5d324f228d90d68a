"""Answers copied from one store into another: whole stores merged, or what runs used."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from wardround.core.errors import WardroundError
from wardround.core.store.location import StoreLocation
from wardround.running.store import batches, schema
from wardround.running.store.answers import SENTINEL_COLUMNS, AnswerKey, AnswerStore, utc_now
from wardround.running.store.database import StoreConnection
from wardround.running.store.run_uses import RunUses, wanted_rows
from wardround.running.store.writes import ANSWER_COLUMNS, CALL_COLUMNS, insert_into

COLUMNS = ", ".join(ANSWER_COLUMNS)
KEY = "(ask, trial, turn)"
TABLES: dict[str, Sequence[str]] = {
    "answers": ANSWER_COLUMNS,
    "calls": CALL_COLUMNS,
    "sentinels": SENTINEL_COLUMNS,
    "dropped": (*ANSWER_COLUMNS, "dropped", "reason"),
    "faults": ("run", "candidate", "kind", "times", "last"),
    "batches": (*batches.COLUMNS, "has_ended"),
    "batch_items": ("token", "item"),
}
ROWS_AT_ONCE = 1_000
# theirs that this store has dropped, and not asked again since
STAY_DROPPED = f"""
  {KEY} in (select ask, trial, turn from answers) is not true
  and (ask, trial, turn, body) in (select ask, trial, turn, body from dropped)"""


@dataclass
class MergeCounts:
    """What came from one store. A conflict is another answer to the same key, which went into the bin."""

    source: StoreLocation
    answers: int = 0
    same: int = 0
    stay_dropped: int = 0
    conflicts: list[AnswerKey] = field(default_factory=list)
    calls: int = 0
    sentinels: int = 0
    dropped: int = 0
    faults: int = 0
    batches: int = 0

    def to_dict(self) -> dict[str, Any]:
        conflicts = [{"ask": key.ask.hex(), "trial": key.trial, "turn": key.turn} for key in self.conflicts]
        return vars(self) | {"source": str(self.source), "conflicts": conflicts}


@dataclass(frozen=True)
class CopyCounts:
    """What was copied of what runs used."""

    used: int
    copied: int
    missing: int  # in this store

    @property
    def there_before(self) -> int:
        return self.used - self.copied - self.missing


def merge(store: AnswerStore, source: StoreLocation) -> MergeCounts:
    """Copies everything of another store into this one. Merging it again changes nothing."""
    _refuse_same(store.location, source)
    counts, connection = MergeCounts(source), store.connection
    with (
        closing(AnswerStore(source, must_exist=True)) as other,
        _their_rows(connection, other.connection, dict.fromkeys(TABLES, "true")),
        connection.transaction(),
    ):
        _merge_answers(connection, counts)
        counts.calls = _insert_missing(connection, "calls")
        counts.sentinels = _insert_missing(connection, "sentinels")
        counts.dropped = _insert_missing(connection, "dropped")
        counts.faults = _merge_faults(connection)
        counts.batches = _merge_batches(connection)
    return counts


def copy_all(source: StoreLocation, to: StoreLocation) -> MergeCounts:
    """Copies everything into a store that may be new."""
    _refuse_same(to, source)
    with closing(AnswerStore(source, must_exist=True)), closing(AnswerStore(to)) as store:
        return merge(store, source)


def copy_uses(source: StoreLocation, to: StoreLocation, uses: Sequence[RunUses]) -> CopyCounts:
    """Copies the answers that runs used, with the calls that bought them, into a store that may be new."""
    _refuse_same(to, source)
    wanted = {
        "answers": f"{KEY} in (select ask, trial, turn from wanted)",
        "calls": "ask in (select ask from wanted)",
    }
    with (
        closing(AnswerStore(source, must_exist=True)) as other,  # refused before the other is created
        closing(AnswerStore(to)) as store,
        wanted_rows(other.connection, uses),
        _their_rows(store.connection, other.connection, wanted),
        store.connection.transaction(),
    ):
        insert = f"insert into answers ({COLUMNS}) select {COLUMNS} from their_answers where true"
        copied = store.connection.execute(f"{insert} on conflict do nothing").rowcount
        _insert_missing(store.connection, "calls")
        used, stored = _count(other.connection, "from wanted"), _count(store.connection, "from their_answers")
    return CopyCounts(used, copied, used - stored)


def _refuse_same(location: StoreLocation, source: StoreLocation) -> None:
    are_files = isinstance(location, Path) and isinstance(source, Path) and location.exists() and source.exists()
    if source.samefile(location) if are_files else str(source) == str(location):  # type: ignore[union-attr, arg-type]
        raise WardroundError(f"{source}: is this answer store itself")


@contextmanager
def _their_rows(connection: StoreConnection, source: StoreConnection, wanted: Mapping[str, str]) -> Iterator[None]:
    """Rows of another store, which may be of another kind, as temporary tables: `their_answers` and so on."""
    try:
        for table, condition in wanted.items():
            columns = TABLES[table]
            connection.execute(
                f"create temp table their_{table} as select {', '.join(columns)} from {table} where false"
            )
            rows = source.stream(f"select {', '.join(columns)} from {table} where {condition}")
            while part := list(islice(rows, ROWS_AT_ONCE)):
                with connection.transaction():
                    connection.executemany(insert_into(f"their_{table}", columns), part)
        yield
    finally:
        for table in wanted:
            connection.execute(f"drop table if exists their_{table}")


def _merge_answers(connection: StoreConnection, counts: MergeCounts) -> None:
    """The first row wins; the loser goes into the bin, unless it is there."""
    joined = "from their_answers as their join answers as our using (ask, trial, turn)"
    counts.same = _count(connection, f"{joined} where their.body = our.body")
    counts.stay_dropped = _count(connection, f"from their_answers where {STAY_DROPPED}")
    query = f"select ask, trial, turn {joined} where their.body <> our.body order by ask, trial, turn"
    counts.conflicts = [AnswerKey(*row) for row in connection.execute(query)]
    connection.execute(
        f"insert into dropped ({COLUMNS}, dropped, reason) select ask, trial, turn, their.body, "
        f"{', '.join(f'their.{name}' for name in schema.ORIGIN)}, ?, ? {joined} where their.body <> our.body "
        "and (ask, trial, turn, their.body) in (select ask, trial, turn, body from dropped) is not true",
        (utc_now(), f"another answer was stored when {_name(counts.source)} was merged"),
    )
    wanted = f"select {COLUMNS} from their_answers where ({STAY_DROPPED}) is not true"
    counts.answers = connection.execute(f"insert into answers ({COLUMNS}) {wanted} on conflict do nothing").rowcount


def _name(source: StoreLocation) -> str:
    return source.name if isinstance(source, Path) else str(source)


def _insert_missing(connection: StoreConnection, table: str) -> int:
    """Inserts the rows that the other store has more often than this one: equal rows can be different calls."""
    names = ", ".join(TABLES[table])
    theirs, ours = (
        f"select {names}, row_number() over (partition by {names}) as repetition from {rows}"
        for rows in (f"their_{table}", table)
    )
    query = f"insert into {table} ({names}) select {names} from ({theirs} except {ours}) as missing"
    return connection.execute(query).rowcount


def _merge_faults(connection: StoreConnection) -> int:
    """The larger count of each fault: the smaller may be part of it."""
    names = ", ".join(TABLES["faults"])
    return connection.execute(
        f"insert into faults ({names}) select {names} from their_faults where true "
        "on conflict (run, candidate, kind) do update set "
        "times = excluded.times, last = excluded.last where excluded.times > faults.times"
    ).rowcount


def _merge_batches(connection: StoreConnection) -> int:
    """New batches, and the end of those that ended there."""
    names, ended = ", ".join(TABLES["batches"]), ("answered", "failed", "ended", "has_ended")
    connection.execute(
        "insert into batch_items (token, item) select token, item from their_batch_items where true "
        "on conflict do nothing"
    )
    return connection.execute(
        f"insert into batches ({names}) select {names} from their_batches where true on conflict (token) do update "
        f"set {', '.join(f'{name} = excluded.{name}' for name in ended)} "
        "where excluded.has_ended > batches.has_ended"
    ).rowcount


def _count(connection: StoreConnection, query: str) -> int:
    count: int = connection.execute(f"select count(*) {query}").fetchone()[0]
    return count
