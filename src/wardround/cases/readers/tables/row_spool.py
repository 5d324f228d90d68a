"""RowSpool: the rows of a large source on disk, grouped so that those of one patient come together."""

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from wardround.cases.readers.tables.json_file import JsonObject

SCHEMA = """
create table rows (number integer primary key, part text, key text, body blob, place integer);
create table images (name text primary key, data blob) without rowid;
"""


class RowSpool:
    """Rows by key; rows with a key in common are one group. Only the keys are in memory."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="wardround-", ignore_cleanup_errors=True)
        self._store = sqlite3.connect(Path(self._folder.name) / "rows.sqlite", isolation_level=None)
        self._store.executescript("pragma journal_mode = off; pragma synchronous = off;" + SCHEMA)
        self._store.execute("begin")
        self._parent_by_key: dict[str, str] = {}
        self.group_count = 0

    def add(self, part: str, keys: Iterable[str], row: JsonObject) -> None:
        """Keeps a row under these keys. Rows of different parts are never in one group."""
        first, *others = keys
        for other in others:
            self._parent_by_key[self.root(other)] = self.root(first)
        self._store.execute("insert into rows (part, key, body) values (?, ?, ?)", (part, first, orjson.dumps(row)))

    def add_image(self, name: str, data: bytes) -> None:
        self._store.execute("insert or ignore into images values (?, ?)", (name, data))

    def image(self, name: str) -> bytes | None:
        row = self._store.execute("select data from images where name = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    def root(self, key: str) -> str:
        """The key that represents all keys joined with this one."""
        while (parent := self._parent_by_key.get(key, key)) != key:
            self._parent_by_key[key] = self._parent_by_key.get(parent, parent)  # shortens the way for the next
            key = parent
        return key

    def group(self) -> None:
        """Groups the rows, in the order of the groups' first rows."""
        places: dict[tuple[str, str], int] = {}
        rows = self._store.execute("select number, part, key from rows order by number")
        placed = ((places.setdefault((part, self.root(key)), len(places)), number) for number, part, key in rows)
        self._store.executemany("update rows set place = ? where number = ?", placed)
        self._store.execute("create index by_place on rows (place, number)")
        self.group_count = len(places)

    def __iter__(self) -> Iterator[tuple[str, list[JsonObject]]]:
        """The root key of each group, and its rows."""
        all_rows = self._store.execute("select place, key, body from rows order by place, number")
        for _, group in groupby(all_rows, itemgetter(0)):
            rows = list(group)
            yield self.root(rows[0][1]), [orjson.loads(body) for _, _, body in rows]
