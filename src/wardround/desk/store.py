"""Store: the desk's database. What was acknowledged is on the disk."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from wardround.core.errors import BadInput

FILE = "desk.sqlite"
PATIENCE = 30_000  # milliseconds that a write waits for another process


def now() -> str:
    """This moment, as everything is dated."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class Store:
    """One connection a thread; writes one after another, each on the disk before it is answered."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root / FILE
        self._local = threading.local()
        self._writing = threading.RLock()
        self._opened: list[sqlite3.Connection] = []
        try:
            root.mkdir(parents=True, exist_ok=True)
            self.file.touch(0o600)  # before its companions are made, which take its rights over
            with self._writing:
                self._connection.executescript((files("wardround.desk") / "schema.sql").read_text(encoding="utf-8"))
        except sqlite3.DatabaseError as error:
            raise BadInput(self.file, f"cannot be used: {error}") from None

    @property
    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(self.file, isolation_level=None, check_same_thread=False)
            found.row_factory = sqlite3.Row
            found.execute(f"PRAGMA busy_timeout = {PATIENCE}")
            found.execute("PRAGMA journal_mode = WAL")
            found.execute("PRAGMA synchronous = FULL")
            found.execute("PRAGMA foreign_keys = ON")
            self._local.connection = found
            self._opened.append(found)
        return found

    def rows(self, sql: str, *values: Any, **named: Any) -> list[sqlite3.Row]:
        return self._connection.execute(sql, named or values).fetchall()

    def row(self, sql: str, *values: Any, **named: Any) -> sqlite3.Row | None:
        found: sqlite3.Row | None = self._connection.execute(sql, named or values).fetchone()
        return found

    def value(self, sql: str, *values: Any, **named: Any) -> Any:
        found = self.row(sql, *values, **named)
        return None if found is None else found[0]

    def write(self, sql: str, *values: Any, **named: Any) -> int:
        """Changes something, inside `saving`; gives the number of the row that was added."""
        return int(self._connection.execute(sql, named or values).lastrowid or 0)

    def write_many(self, sql: str, rows: Iterator[Any] | list[Any]) -> None:
        self._connection.executemany(sql, rows)

    @contextmanager
    def saving(self, *, durably: bool = True) -> Iterator[None]:
        """All or nothing; on the disk when it ends, if `durably`. One inside another is one."""
        with self._writing:
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durably else 'NORMAL'}")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def record(
        self, person: int | None, action: str, task: int | None = None, item: int | None = None, **detail: Any
    ) -> None:
        """Adds a line to the audit log, inside `saving`: together with what it tells of, or not at all."""
        self.write(
            "INSERT INTO audit (time, person, action, task, item, detail) VALUES (?, ?, ?, ?, ?, ?)",
            *(now(), person, action, task, item, json.dumps(detail, ensure_ascii=False)),
        )

    def backup(self, there: Path) -> Path:
        """A copy of the whole database as it is at one moment; the desk goes on meanwhile."""
        copy = sqlite3.connect(there)
        try:
            self._connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without companions
        finally:
            copy.close()
        return there

    def close(self) -> None:
        for connection in self._opened:
            connection.close()
