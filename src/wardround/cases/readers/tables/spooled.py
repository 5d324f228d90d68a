"""Spooled rows: as many as a source has, on disk, so that those of one patient can be brought together."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from wardround.cases.readers.tables.json_file import Told

SCHEMA = """
create table rows (number integer primary key, part text, key text, body blob, place integer);
create table images (name text primary key, data blob) without rowid;
"""


class Spooled:
    """Rows by key; keys that are tied belong together. Only the keys are held in memory."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="wardround-", ignore_cleanup_errors=True)
        self._store = sqlite3.connect(Path(self._folder.name) / "rows.sqlite", isolation_level=None)
        self._store.executescript("pragma journal_mode = off; pragma synchronous = off;" + SCHEMA)
        self._store.execute("begin")
        self._above: dict[str, str] = {}
        self.groups = 0

    def put(self, part: str, keys: Iterable[str], row: Told) -> None:
        """Keeps a row that is told under these keys. Rows of different parts never meet."""
        first, *others = keys
        for other in others:
            self._above[self.root(other)] = self.root(first)
        self._store.execute("insert into rows (part, key, body) values (?, ?, ?)", (part, first, orjson.dumps(row)))

    def put_image(self, name: str, data: bytes) -> None:
        self._store.execute("insert or ignore into images values (?, ?)", (name, data))

    def image(self, name: str) -> bytes | None:
        found = self._store.execute("select data from images where name = ?", (name,)).fetchone()
        return None if found is None else bytes(found[0])

    def root(self, key: str) -> str:
        """The key that stands for all that are tied to this one."""
        while (above := self._above.get(key, key)) != key:
            self._above[key] = self._above.get(above, above)  # shortens the way for the next
            key = above
        return key

    def settle(self) -> None:
        """Finds out which rows belong together; groups are in the order of their first rows."""
        places: dict[tuple[str, str], int] = {}
        found = self._store.execute("select number, part, key from rows order by number")
        placed = ((places.setdefault((part, self.root(key)), len(places)), number) for number, part, key in found)
        self._store.executemany("update rows set place = ? where number = ?", placed)
        self._store.execute("create index by_place on rows (place, number)")
        self.groups = len(places)

    def __iter__(self) -> Iterator[tuple[str, list[Told]]]:
        """What stands for each group, and its rows."""
        found = self._store.execute("select place, key, body from rows order by place, number")
        for _, group in groupby(found, itemgetter(0)):
            rows = list(group)
            yield self.root(rows[0][1]), [orjson.loads(body) for _, _, body in rows]
