"""Spool: records on disk between two steps, so that a build's memory does not grow with its source."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

Record = dict[str, Any]  # JSON-able; `id` names it in everything that is told of it


class Spool:
    """Records that can be gone through more than once."""

    def __init__(self, records: Iterable[Record], folder: Path) -> None:
        self.count = 0
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # it ends with the spool
        for record in records:
            self._file.write(orjson.dumps(record) + b"\n")
            self.count += 1

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Record]:
        self._file.seek(0)
        place = 0
        while True:
            self._file.seek(place)  # another may be going through it too
            line = self._file.readline()
            if not line:
                return
            place = self._file.tell()
            yield orjson.loads(line)
