"""The answer store as an SQLite file."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wardround.core.errors import BadInput, describe_unreadable
from wardround.running.store import schema
from wardround.running.store.leases import FileLeases
from wardround.running.store.writes import Write

BUSY_SECONDS = 60


class SqliteConnection(sqlite3.Connection):
    """A `StoreConnection` to an SQLite file."""

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        return iter(self.execute(sql, values))

    def define(self, statement: str) -> None:
        self.execute(statement)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self:  # commits, or rolls back if anything was raised
            self.execute("begin immediate")
            yield

    def begin_snapshot(self) -> None:
        self.execute("begin")

    def version(self) -> int:
        """Version 1 had none in the file."""
        version: int = self.execute("pragma user_version").fetchone()[0]
        if version == 0 and self.execute("select 1 from sqlite_master where name = 'answers'").fetchone():
            return 1
        return version

    def set_version(self, version: int) -> None:
        self.execute(f"pragma user_version = {version}")

    def lock_schema(self) -> None:
        """The transaction has locked the whole file."""

    def damage(self) -> list[str]:
        try:
            lines = [line for (line,) in self.execute("pragma integrity_check")]
        except sqlite3.DatabaseError as error:
            return [f"SQLite cannot read it: {error}"]
        return [] if lines == ["ok"] else [f"SQLite finds it damaged: {line}" for line in lines]

    def compact(self) -> None:
        self.execute("vacuum")
        self.execute("pragma wal_checkpoint(truncate)")

    def size(self) -> int:
        path = Path(self.execute("pragma database_list").fetchone()[2])
        files = (path, path.with_name(f"{path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())


class SqliteDatabase:
    """One file: one connection reads, another writes."""

    def __init__(self, path: Path, *, must_exist: bool) -> None:
        self.location = path
        if must_exist and not path.is_file():
            raise BadInput(path, "there is no such answer store")
        if must_exist and path.stat().st_size == 0:
            raise BadInput(path, "is an empty file, not an answer store")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.reading = _connect(path)
            if not schema.is_current(self.reading):
                schema.prepare(self.reading, path)
            self._writing = _connect(path)
            self._inode = path.stat().st_ino
        except (sqlite3.Error, OSError) as error:
            raise BadInput(path, _why_not_opened(path, error)) from None
        self.leases = FileLeases(path)

    def commit(self, group: Sequence[Write]) -> list[list[bytes]]:
        if not self.location.exists() or self.location.stat().st_ino != self._inode:
            raise OSError("the store was removed or replaced while a run was writing to it")
        with self._writing.transaction():
            return [write.apply(self._writing) for write in group]

    def watch(self, pending: Callable[[], Sequence[Write]]) -> None:
        """A file is not lost."""

    def file_name(self, path: str) -> str:
        return path

    def close(self) -> None:
        self._writing.close()
        self.reading.close()
        self.leases.close()


def _connect(path: Path) -> SqliteConnection:
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, factory=SqliteConnection
    )
    _write_ahead(connection)
    connection.execute("pragma synchronous = full")
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turns on the write-ahead log. SQLite itself does not wait here if another process is doing the same."""
    started = time.monotonic()
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() - started > BUSY_SECONDS:
                raise
            time.sleep(0.01)


def _why_not_opened(path: Path, error: Exception) -> str:
    if path.is_dir():
        return "is a folder; expected the file of an answer store, such as answers.sqlite"
    if isinstance(error, OSError):
        return describe_unreadable(error)
    if "not a database" in str(error):
        return "is not an answer store (it is not an SQLite file); name another one by --answers PATH"
    return f"the answer store cannot be opened: {error}"
