"""What is written to an answer store while a run asks: plain data, so that it can be kept if a server is lost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from wardround.running.store import schema

if TYPE_CHECKING:
    from wardround.running.store.database import StoreConnection

ANSWER_COLUMNS = ("ask", "trial", "turn", "body", *schema.ORIGIN)
CALL_COLUMNS = (
    *("run", "candidate", "ask", "answers", "duplicates", "tokens_in", "tokens_out"),
    *("purpose", "estimated", "time", "cached_in", "cache_writes"),
)
SELECT = "select body, address from answers where ask = ? and trial = ? and turn = ?"


def insert_into(table: str, columns: Sequence[str]) -> str:
    return f"insert into {table} ({', '.join(columns)}) values ({', '.join('?' * len(columns))})"


INSERT_ANSWER = f"{insert_into('answers', ANSWER_COLUMNS)} on conflict do nothing"
INSERT_CALL = insert_into("calls", CALL_COLUMNS)
COUNT_FAULT = (
    "insert into faults (run, candidate, kind, times, last) values (?, ?, ?, 1, ?) on conflict (run, candidate, kind) "
    "do update set times = faults.times + 1, last = excluded.last"
)


class CallRow(NamedTuple):
    """A row of the table `calls`."""

    run: str
    candidate: str
    ask: bytes
    answers: int
    duplicates: int
    tokens_in: int
    tokens_out: int
    purpose: str
    estimated: int
    time: str
    cached_in: int
    cache_writes: int


@dataclass(frozen=True, slots=True)
class Write:
    """Answers with the call that bought them, a call alone, the result of a tool, or a fault."""

    answers: tuple[tuple[Any, ...], ...] = ()  # rows with ANSWER_COLUMNS
    call: CallRow | None = None
    fault: tuple[str, str, str, str] | None = None  # run, candidate, kind, message

    def apply(self, connection: StoreConnection) -> list[bytes]:
        """Writes it in a transaction. Returns the stored bodies: the first committed row of a key wins."""
        stored = [_store_row(connection, row) for row in self.answers]
        if self.call is not None:
            duplicates = sum(theirs is not row[3] for theirs, row in zip(stored, self.answers, strict=True))
            connection.execute(INSERT_CALL, self.call._replace(answers=len(stored), duplicates=duplicates))
        if self.fault is not None:
            connection.execute(COUNT_FAULT, self.fault)
        return stored


def _store_row(connection: StoreConnection, row: tuple[Any, ...]) -> bytes:
    body: bytes = row[3]
    if not connection.execute(INSERT_ANSWER, row).rowcount:
        body = connection.execute(SELECT, row[:3]).fetchone()[0]
    return body


def to_json(writes: Sequence[Write]) -> bytes:
    records = [
        {"answers": write.answers, "call": write.call and tuple(write.call), "fault": write.fault} for write in writes
    ]
    return orjson.dumps(records, default=lambda value: {"hex": value.hex()})


def from_json(text: bytes) -> list[Write]:
    records = json.loads(text, object_hook=lambda record: bytes.fromhex(record["hex"]) if "hex" in record else record)
    return [
        Write(
            tuple(map(tuple, record["answers"])),
            CallRow(*record["call"]) if record["call"] else None,
            tuple(record["fault"]) if record["fault"] else None,
        )
        for record in records
    ]
