"""The desk's SQLite database: what was acknowledged is on disk."""

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
_TEXT = "TEXT NOT NULL DEFAULT ''"
ADDED_COLUMNS = {"invitations": dict.fromkeys(("name", "specialty", "login"), _TEXT), "people": {"login": _TEXT}}
BUSY_TIMEOUT = 30_000  # milliseconds that a write waits for another process


def now() -> str:
    """The time in UTC, in the format of all stored times."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class DeskStore:
    """One connection per thread; one write at a time, on disk before it is acknowledged."""

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
                self._add_missing_columns()
        except sqlite3.DatabaseError as error:
            raise BadInput(self.file, f"cannot be used: {error}") from None

    @property
    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self.file, isolation_level=None, check_same_thread=False)
            connection.row_factory = sqlite3.Row
            connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            self._local.connection = connection
            self._opened.append(connection)
        return connection

    def _add_missing_columns(self) -> None:
        """Brings a database of an earlier version up to date."""
        for table, columns in ADDED_COLUMNS.items():
            known = {row["name"] for row in self.rows(f"PRAGMA table_info({table})")}
            for column, kind in columns.items():
                if column not in known:
                    self._connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")

    def rows(self, sql: str, *values: Any, **named: Any) -> list[sqlite3.Row]:
        return self._connection.execute(sql, named or values).fetchall()

    def row(self, sql: str, *values: Any, **named: Any) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self._connection.execute(sql, named or values).fetchone()
        return row

    def value(self, sql: str, *values: Any, **named: Any) -> Any:
        row = self.row(sql, *values, **named)
        return None if row is None else row[0]

    def write(self, sql: str, *values: Any, **named: Any) -> int:
        """Runs a statement, inside `transaction`; returns the id of the row that was added."""
        return int(self._connection.execute(sql, named or values).lastrowid or 0)

    def write_many(self, sql: str, rows: Iterator[Any] | list[Any]) -> None:
        self._connection.executemany(sql, rows)

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[None]:
        """All or nothing; on disk when it ends, if `durable`. A nested one joins the outer one."""
        with self._writing:
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def log_action(
        self, person: int | None, action: str, task: int | None = None, item: int | None = None, **detail: Any
    ) -> None:
        """Adds a line to the audit log, inside `transaction`: together with the change that it describes."""
        self.write(
            "INSERT INTO audit (time, person, action, task, item, detail) VALUES (?, ?, ?, ?, ?, ?)",
            *(now(), person, action, task, item, json.dumps(detail, ensure_ascii=False)),
        )

    def backup(self, file: Path) -> Path:
        """Copies the whole database as it is at one moment; the desk goes on meanwhile."""
        copy = sqlite3.connect(file)
        try:
            self._connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without companions
        finally:
            copy.close()
        return file

    def close(self) -> None:
        for connection in self._opened:
            connection.close()
