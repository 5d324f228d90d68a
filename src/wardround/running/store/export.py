"""The rows of an answer store as a table: Parquet, CSV or JSON lines."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from wardround.core.files import replacement
from wardround.core.text import without_formula
from wardround.running.parquet import ROWS, write_in_parts
from wardround.running.store.rows import TOOL_RESULT, AnswerOrigin, StoredRow

COLUMNS: dict[str, Any] = {
    "ask": pl.String,
    "trial": pl.Int64,
    "turn": pl.Int64,
    "outcome": pl.String,
    **{name: pl.Int64 if name.startswith("tokens") else pl.String for name in AnswerOrigin._fields},
    "text": pl.String,
    "reasoning": pl.String,
    "tool_calls": pl.String,  # JSON
    "result": pl.String,  # of a tool, JSON
}
JSON = ("tool_calls", "result")  # columns of JSON lines that are no texts


def row_record(row: StoredRow) -> dict[str, Any]:
    """A row with its origin and what was answered."""
    answer = row.answer
    return {
        "ask": row.key.ask.hex(),
        "trial": row.key.trial,
        "turn": row.key.turn,
        "outcome": row.outcome,
        **row.origin._asdict(),
        "text": answer.text if answer else None,
        "reasoning": answer.reasoning if answer else None,
        "tool_calls": list(answer.tool_calls) if answer and answer.tool_calls else None,
        "result": orjson.loads(row.body)["result"] if row.outcome == TOOL_RESULT else None,
    }


def _write_parquet(file: Path, rows: Iterable[StoredRow]) -> int:
    count = 0

    def parts() -> Iterator[pl.DataFrame]:
        nonlocal count
        for part in _tables(rows):
            count += len(part)
            yield part

    write_in_parts(file, parts())
    return count


def _write_csv(file: Path, rows: Iterable[StoredRow]) -> int:
    count = 0
    safe = pl.col(pl.String).map_elements(without_formula, return_dtype=pl.String)
    with replacement(file) as draft, draft.open("wb") as target:
        for number, part in enumerate(_tables(rows)):
            part.with_columns(safe).write_csv(target, include_header=number == 0)
            count += len(part)
    return count


def _write_jsonl(file: Path, rows: Iterable[StoredRow]) -> int:
    count = 0
    with replacement(file) as draft, draft.open("wb") as target:
        for row in rows:
            target.write(orjson.dumps(row_record(row)) + b"\n")
            count += 1
    return count


WRITERS: dict[str, Callable[[Path, Iterable[StoredRow]], int]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".jsonl": _write_jsonl,
}


def export(file: Path, rows: Iterable[StoredRow]) -> int:
    """Writes rows in the format that the file's name says; returns their number."""
    return WRITERS[file.suffix](file, rows)


def _tables(rows: Iterable[StoredRow]) -> Iterator[pl.DataFrame]:
    """At least one, so that there is a header."""
    remaining, is_first = iter(rows), True
    while (part := [_flat(row) for row in islice(remaining, ROWS)]) or is_first:
        yield pl.DataFrame(part, schema=COLUMNS)
        is_first = False


def _flat(row: StoredRow) -> dict[str, Any]:
    """Lists and objects become JSON."""
    record = row_record(row)
    return record | {name: orjson.dumps(record[name]).decode() for name in JSON if record[name] is not None}
