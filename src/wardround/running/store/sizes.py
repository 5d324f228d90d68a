"""How large an answer store is, and which study takes how much of it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from wardround.running.store.answers import AnswerStore
from wardround.running.store.merging import TABLES


class StudySize(NamedTuple):
    """The answers that one study bought; None is for tool results."""

    name: str | None
    rows: int
    bytes: int


@dataclass(frozen=True)
class StoreSize:
    """Bytes on the disk, rows by table, and the bodies of answers by study, the largest first."""

    bytes: int
    rows: dict[str, int]
    studies: list[StudySize]

    def to_dict(self) -> dict[str, Any]:
        return vars(self) | {"studies": [study._asdict() for study in self.studies]}


def measure_store(store: AnswerStore) -> StoreSize:
    connection = store.connection
    rows = {table: connection.execute(f"select count(*) from {table}").fetchone()[0] for table in TABLES}
    query = (
        "select run, count(*), cast(sum(length(body)) as bigint) from answers group by run "
        "order by sum(length(body)) desc, run"
    )
    return StoreSize(connection.size(), rows, [StudySize(*row) for row in connection.execute(query)])
