"""The records of a folder of degraded images: one line a copy, added as it is made, at the end put in order."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from wardround.degrade.files import Copy, Record, expected
from wardround.degrade.severities import Profile
from wardround.degrade.types import TYPES

FILE_NAME = "degradations.jsonl"


class Records:
    """What is known of the copies in a folder, by their paths. A line that a crash cut off is not known."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / FILE_NAME
        self._known: dict[str, Record] = {}
        if self._file.is_file():
            for line in self._file.read_bytes().splitlines():
                try:
                    record = json.loads(line)
                    _place(record)
                except (ValueError, KeyError, TypeError):
                    continue
                self._known[record["image"]] = record

    def __contains__(self, path: str) -> bool:
        return path in self._known

    def complete(self, copy: Copy, source: str, source_sha256: str, profile: Profile) -> bool:
        """Whether a copy is there, made of this file as it would be made now."""
        record = self._known.get(copy.path)
        if record is None or record.get("space") not in ("display", "hu"):
            return False
        wanted = {"source": source, "source_sha256": source_sha256, **expected(copy, record["space"], profile)}
        file = self._folder / copy.path
        same = all(record.get(name) == value for name, value in wanted.items())
        return same and file.is_file() and file.stat().st_size == record.get("bytes")

    def add(self, records: Iterable[Record]) -> None:
        """Takes in what was made, and writes it down at once."""
        with self._file.open("a", encoding="utf-8", newline="\n") as file:
            for record in records:
                self._known[record["image"]] = record
                file.write(_line(record))

    def put_in_order(self) -> None:
        """Writes the records of all copies that are there, by source, type and severity."""
        there = [record for path, record in self._known.items() if (self._folder / path).is_file()]
        there.sort(key=_place)
        draft = self._folder / f".{FILE_NAME}.{os.getpid()}"
        draft.write_text("".join(map(_line, there)), encoding="utf-8", newline="\n")
        draft.replace(self._file)


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def _place(record: Record) -> tuple[str, int, float, str]:
    """Where a record stands among the others."""
    return record["source"], TYPES.index(record["type"]), float(record["severity"]), record["image"]
