"""The bin of an answer store: answers dropped so that they are asked again, put back, or removed for good."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from wardround.running.store.answers import AnswerKey, AnswerStore, utc_now
from wardround.running.store.database import StoreConnection
from wardround.running.store.rows import RowFilter, RowGroup, StoredRow, group_rows, read_rows
from wardround.running.store.run_uses import RunUses, key_table, wanted_rows
from wardround.running.store.writes import ANSWER_COLUMNS

KEY = "(ask, trial, turn)"
COLUMNS = ", ".join(ANSWER_COLUMNS)
# `is not true`, here and in merging.py: with `not in` SQLite looks for nulls in all rows, for every row
UNUSED = f"{KEY} in (select ask, trial, turn from wanted) is not true"
CHOSEN = f"{KEY} in (select ask, trial, turn from chosen)"
# of each key the row that was dropped last, unless the key has an answer again
LATEST_DROPPED = """
  rowid in (select max(rowid) from dropped group by ask, trial, turn)
  and (ask, trial, turn) in (select ask, trial, turn from answers) is not true"""


@dataclass(frozen=True)
class Selection:
    """Rows that are to be dropped or put back."""

    keys: list[AnswerKey]
    groups: list[RowGroup]

    @classmethod
    def of(cls, rows: Iterable[StoredRow]) -> Selection:
        keys: list[AnswerKey] = []

        def collected() -> Iterator[StoredRow]:
            for row in rows:
                keys.append(row.key)
                yield row

        return cls(groups=group_rows(collected()), keys=keys)


def select_answers(store: AnswerStore, row_filter: RowFilter) -> Selection:
    return Selection.of(read_rows(store.connection, row_filter))


def select_unused(store: AnswerStore, uses: Sequence[RunUses]) -> Selection:
    """The answers that none of these runs used."""
    with wanted_rows(store.connection, uses):
        return Selection.of(read_rows(store.connection, where=UNUSED))


def select_dropped(store: AnswerStore, row_filter: RowFilter) -> Selection:
    """What can be put back: dropped, and not asked again since."""
    return Selection.of(read_rows(store.connection, row_filter, "dropped", LATEST_DROPPED))


def select_bin(store: AnswerStore) -> Selection:
    """Everything that is in the bin."""
    return Selection.of(read_rows(store.connection, table="dropped"))


def buyers_of(store: AnswerStore, selection: Selection) -> list[str]:
    """The runs that called for the Asks of a selection."""
    runs = {group.run for group in selection.groups if group.run}
    with key_table(store.connection, "chosen", selection.keys):
        query = "select distinct run from calls where ask in (select ask from chosen)"
        return sorted(runs | {run for (run,) in store.connection.execute(query)})


def drop(store: AnswerStore, selection: Selection, reason: str) -> int:
    """Moves answers into the bin. Runs wait meanwhile; refused while one is asking."""
    connection = store.connection
    with store.leases.hold_all(), key_table(connection, "chosen", selection.keys), connection.transaction():
        connection.execute(
            f"insert into dropped ({COLUMNS}, dropped, reason) select {COLUMNS}, ?, ? from answers where {CHOSEN}",
            (utc_now(), reason),
        )
        return connection.execute(f"delete from answers where {CHOSEN}").rowcount


def restore(store: AnswerStore, selection: Selection) -> int:
    """Puts dropped answers back, unless they were asked again since."""
    connection = store.connection
    with key_table(connection, "chosen", selection.keys), connection.transaction():
        query = f"select rowid from dropped where {CHOSEN} and {LATEST_DROPPED}"
        rows = connection.execute(query).fetchall()
        connection.executemany(
            f"insert into answers ({COLUMNS}) select {COLUMNS} from dropped where rowid = ?",
            rows,
        )
        connection.executemany("delete from dropped where rowid = ?", rows)
        return len(rows)


def count_dropped(connection: StoreConnection) -> int:
    count: int = connection.execute("select count(*) from dropped").fetchone()[0]
    return count


def empty_bin(store: AnswerStore) -> int:
    """Removes what is in the bin for good, and gives its space back."""
    count = store.connection.execute("delete from dropped").rowcount
    store.connection.compact()
    return count
