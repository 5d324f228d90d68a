"""The rows of an answer store as people look at them: each with its outcome, filtered, and counted by origin."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from wardround.core.ask import REFUSALS, Answer
from wardround.running.store import schema
from wardround.running.store.answers import AnswerKey
from wardround.running.store.database import StoreConnection

ANSWERED, CUT, EMPTY, ERROR = "answered", "cut", "empty", "error"
TOOL_RESULT, UNREADABLE = "tool result", "unreadable"
REFUSED = "refused"  # any of REFUSALS
# of several, the first that applies
OUTCOMES = (*REFUSALS.values(), ERROR, CUT, EMPTY, ANSWERED, TOOL_RESULT, UNREADABLE)
MAX_KEY_BYTES = 32  # of an Ask
RESULT_HEAD = b'{"result":'  # how the body of a tool result begins
IS_RESULT = f"substr(body, 1, {len(RESULT_HEAD)}) = ?"  # whose value is RESULT_HEAD


class AnswerOrigin(NamedTuple):
    """Where an answer came from: the call that bought it, and what the server said. None for a tool result."""

    run: str | None
    candidate: str | None
    address: str | None
    model: str | None
    fingerprint: str | None
    time: str | None
    tokens_in: int | None
    tokens_out: int | None
    finish: str | None
    refusal: str | None


class StoredRow(NamedTuple):
    """One row of the store. `answer` is None for a tool result and for a body that cannot be read."""

    key: AnswerKey
    body: bytes
    origin: AnswerOrigin
    answer: Answer | None
    outcome: str


@dataclass(frozen=True)
class RowFilter:
    """Which rows are meant; None means all."""

    candidate: str | None = None
    run: str | None = None  # that bought the answer
    finish: str | None = None
    ask: str | None = None  # the beginning of the key, in hexadecimal digits
    outcome: str | None = None  # one of OUTCOMES, or `refused`

    def __bool__(self) -> bool:
        return any(value is not None for value in vars(self).values())

    @property
    def condition(self) -> tuple[str, list[Any]]:
        """The part that SQL can check, and its values."""
        columns = {"candidate": self.candidate, "run": self.run, "finish": self.finish}
        wanted: dict[str, Any] = {f"{name} = ?": value for name, value in columns.items() if value is not None}
        if self.ask is not None:
            wanted["ask >= ?"] = bytes.fromhex(self.ask + "0" * (len(self.ask) % 2))
            wanted["ask <= ?"] = bytes.fromhex(self.ask.ljust(2 * MAX_KEY_BYTES, "f"))
        return " and ".join(["true", *wanted]), list(wanted.values())

    def includes(self, outcome: str) -> bool:
        return self.outcome in (None, outcome) or (self.outcome == REFUSED and outcome in REFUSALS.values())


ALL_ROWS = RowFilter()


@dataclass
class RowGroup:
    """Rows of one origin: how many of each outcome, their tokens and their dates."""

    run: str | None
    candidate: str | None
    address: str | None
    model: str | None
    outcomes: Counter[str] = field(default_factory=Counter)
    tokens_in: int = 0
    tokens_out: int = 0
    first: str | None = None
    last: str | None = None

    @property
    def rows(self) -> int:
        return self.outcomes.total()

    def add(self, row: StoredRow) -> None:
        self.outcomes[row.outcome] += 1
        self.tokens_in += row.origin.tokens_in or 0
        self.tokens_out += row.origin.tokens_out or 0
        if time := row.origin.time:
            self.first, self.last = min(self.first or time, time), max(self.last or time, time)

    def to_dict(self) -> dict[str, Any]:
        outcomes = {name: self.outcomes[name] for name in OUTCOMES if self.outcomes[name]}
        return vars(self) | {"rows": self.rows, "outcomes": outcomes}


def read_rows(
    connection: StoreConnection, row_filter: RowFilter = ALL_ROWS, table: str = "answers", where: str = "true"
) -> Iterator[StoredRow]:
    """The rows of `answers` or `dropped` that a filter and a condition include, by key."""
    condition, values = row_filter.condition
    columns = f"ask, trial, turn, body, {', '.join(schema.ORIGIN)}"
    query = f"select {columns} from {table} where {condition} and {where} order by ask, trial, turn"
    for ask, trial, turn, body, *origin in connection.stream(query, values):
        answer, outcome = read_body(body)
        if row_filter.includes(outcome):
            yield StoredRow(AnswerKey(ask, trial, turn), body, AnswerOrigin(*origin), answer, outcome)


def read_body(body: bytes) -> tuple[Answer | None, str]:
    """The answer in a body and its outcome."""
    if body.startswith(RESULT_HEAD):
        return None, TOOL_RESULT
    try:
        answer = Answer.from_dict(orjson.loads(body))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None, UNREADABLE
    if not isinstance(answer.text, str):
        return None, UNREADABLE
    return answer, _outcome(answer)


def _outcome(answer: Answer) -> str:
    if answer.refused_for is not None:
        return answer.refused_for
    if answer.finish == "error":  # stored by an earlier version, which took it for an answer
        return ERROR
    if answer.finish == "length" and answer.text_logprob is None:
        return CUT
    has_content = answer.text.strip() or answer.tool_calls or answer.first_token or answer.text_logprob
    return ANSWERED if has_content else EMPTY


def group_rows(rows: Iterable[StoredRow]) -> list[RowGroup]:
    """The rows by run, candidate, address and model; tool results, which have none of them, come last."""
    groups: dict[tuple[str | None, ...], RowGroup] = {}
    for row in rows:
        origin = (row.origin.run, row.origin.candidate, row.origin.address, row.origin.model)
        if origin not in groups:
            groups[origin] = RowGroup(*origin)
        groups[origin].add(row)
    origins = sorted(groups, key=lambda names: [(name is None, name or "") for name in names])
    return [groups[origin] for origin in origins]
