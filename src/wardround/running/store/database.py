"""What an answer store needs of its database. SQLite and PostgreSQL differ only behind these interfaces.

SQL is written in what both understand, with `?` for a value; tables are defined in SQLite's words (`blob`,
`integer`, `without rowid`). A table that is not `without rowid` has a growing column `rowid`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from wardround.core.store.location import PostgresAddress, StoreLocation
from wardround.running.store.leases import Leases
from wardround.running.store.writes import Write


class Cursor(Protocol):
    """The rows of a query."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class StoreConnection(Protocol):
    """One connection. Outside of `transaction` every statement is committed by itself."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Cursor: ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> Any: ...

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """The rows of a query, which are not all in memory. Nothing else is executed meanwhile."""

    def define(self, statement: str) -> None:
        """Executes a definition of tables or columns."""

    def transaction(self) -> AbstractContextManager[Any]:
        """Statements that are committed together, or not at all."""

    def begin_snapshot(self) -> None:
        """From here to `commit` or `rollback`, reads see the store as it is now."""

    def version(self) -> int:
        """Of the store's tables; 0 if there are none."""

    def set_version(self, version: int) -> None: ...

    def lock_schema(self) -> None:
        """Waits, in a transaction, until no other process changes the tables."""

    def damage(self) -> list[str]:
        """What the database itself finds damaged."""

    def compact(self) -> None:
        """Gives the space of removed rows back."""

    def size(self) -> int:
        """Bytes on the disk."""

    def close(self) -> None: ...


class Database(Protocol):
    """A database that is open for one process."""

    @property
    def reading(self) -> StoreConnection:
        """For everything but `commit`."""

    @property
    def leases(self) -> Leases: ...

    def commit(self, group: Sequence[Write]) -> list[list[bytes]]:
        """Commits writes together; returns the stored bodies of each. Called by one thread only."""

    def watch(self, pending: Callable[[], Sequence[Write]]) -> None:
        """Names what will be committed next, so that it can be kept if the database is lost."""

    def file_name(self, path: str) -> str:
        """Under which name the hash of a local file is kept."""

    def close(self) -> None: ...


def open_database(location: StoreLocation, *, must_exist: bool) -> Database:
    """Opens the database of a store, creates it or brings it to this version."""
    if isinstance(location, PostgresAddress):
        from wardround.running.store.postgres import PostgresDatabase

        return PostgresDatabase(location, must_exist=must_exist)
    from wardround.running.store.sqlite import SqliteDatabase

    return SqliteDatabase(location, must_exist=must_exist)
