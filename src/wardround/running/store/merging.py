"""Answers copied from one store into another: whole stores merged, or what runs used."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wardround.core.errors import BadInput
from wardround.running.store import schema
from wardround.running.store.answers import ANSWER_COLUMNS, AnswerKey, AnswerStore, utc_now
from wardround.running.store.run_uses import RunUses, wanted_rows

COLUMNS = ", ".join(ANSWER_COLUMNS)
KEY = "(ask, trial, turn)"
CALLS = (
    *("run", "candidate", "ask", "answers", "duplicates", "tokens_in", "tokens_out"),
    *("purpose", "estimated", "time", "cached_in", "cache_writes"),
)
SENTINELS = ("run", "ask", "trial", "turn", "body")
DROPPED = (*ANSWER_COLUMNS, "dropped", "reason")
# theirs that this store has dropped, and not asked again since
STAY_DROPPED = f"""
  {KEY} in (select ask, trial, turn from main.answers) is not true
  and (ask, trial, turn, body) in (select ask, trial, turn, body from main.dropped)"""


@dataclass
class MergeCounts:
    """What came from one store. A conflict is another answer to the same key, which went into the bin."""

    source: Path
    answers: int = 0
    same: int = 0
    stay_dropped: int = 0
    conflicts: list[AnswerKey] = field(default_factory=list)
    calls: int = 0
    sentinels: int = 0
    dropped: int = 0
    faults: int = 0

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


def merge(store: AnswerStore, source: Path) -> MergeCounts:
    """Copies everything of another store into this one. Merging it again changes nothing."""
    counts = MergeCounts(source)
    with _attached(store, source) as connection, connection:
        connection.execute("begin immediate")
        _merge_answers(connection, counts)
        counts.calls = _insert_missing(connection, "calls", CALLS)
        counts.sentinels = _insert_missing(connection, "sentinels", SENTINELS)
        counts.dropped = _insert_missing(connection, "dropped", DROPPED)
        counts.faults = _merge_faults(connection)
    return counts


def copy_uses(source: Path, to: Path, uses: Sequence[RunUses]) -> CopyCounts:
    """Copies the answers that runs used, with the calls that bought them, into a store that may be new."""
    with closing(AnswerStore(source, must_exist=True)):  # refused before the other is created
        pass
    with (
        closing(AnswerStore(to)) as store,
        _attached(store, source) as connection,
        wanted_rows(connection, uses, "theirs"),
        connection,
    ):
        connection.execute("begin immediate")
        in_source = f"from theirs.answers where {KEY} in temp.wanted"
        insert = f"insert or ignore into main.answers ({COLUMNS}) select {COLUMNS} {in_source}"
        copied = connection.execute(insert).rowcount
        _insert_missing(connection, "calls", CALLS, "ask in (select ask from temp.wanted)")
        used, stored = (_count(connection, query) for query in ("from temp.wanted", in_source))
    return CopyCounts(used, copied, used - stored)


@contextmanager
def _attached(store: AnswerStore, source: Path) -> Iterator[sqlite3.Connection]:
    """The connection of a store, to which another store is attached as `theirs`."""
    with closing(AnswerStore(source, must_exist=True)):  # brings it to this version
        pass
    if source.samefile(store.path):
        raise BadInput(source, "is this answer store itself")
    connection = store.connection
    connection.execute("attach database ? as theirs", (str(source),))
    try:
        yield connection
    finally:
        connection.execute("detach database theirs")


def _merge_answers(connection: sqlite3.Connection, counts: MergeCounts) -> None:
    """The first row wins; the loser goes into the bin, unless it is there."""
    joined = "from theirs.answers as their join main.answers as our using (ask, trial, turn)"
    counts.same = _count(connection, f"{joined} where their.body = our.body")
    counts.stay_dropped = _count(connection, f"from theirs.answers where {STAY_DROPPED}")
    query = f"select ask, trial, turn {joined} where their.body <> our.body order by ask, trial, turn"
    counts.conflicts = [AnswerKey(*row) for row in connection.execute(query)]
    connection.execute(
        f"insert into main.dropped ({COLUMNS}, dropped, reason) select ask, trial, turn, their.body, "
        f"{', '.join(f'their.{name}' for name in schema.ORIGIN)}, ?, ? {joined} where their.body <> our.body "
        "and (ask, trial, turn, their.body) in (select ask, trial, turn, body from main.dropped) is not true",
        (utc_now(), f"another answer was stored when {counts.source.name} was merged"),
    )
    wanted = f"select {COLUMNS} from theirs.answers where ({STAY_DROPPED}) is not true"
    counts.answers = connection.execute(f"insert or ignore into main.answers ({COLUMNS}) {wanted}").rowcount


def _insert_missing(connection: sqlite3.Connection, table: str, columns: Sequence[str], where: str = "1") -> int:
    """Inserts the rows that the other store has more often than this one: equal rows can be different calls."""
    names = ", ".join(columns)
    theirs, ours = (
        f"select {names}, row_number() over (partition by {names}) from {store}.{table} where {where}"
        for store in ("theirs", "main")
    )
    query = f"insert into main.{table} ({names}) select {names} from ({theirs} except {ours})"
    return connection.execute(query).rowcount


def _merge_faults(connection: sqlite3.Connection) -> int:
    """The larger count of each fault: the smaller may be part of it."""
    return connection.execute(
        "insert into main.faults select * from theirs.faults where true on conflict do update set "
        "times = excluded.times, last = excluded.last where excluded.times > times"
    ).rowcount


def _count(connection: sqlite3.Connection, query: str) -> int:
    count: int = connection.execute(f"select count(*) {query}").fetchone()[0]
    return count
