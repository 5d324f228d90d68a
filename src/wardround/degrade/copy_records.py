"""The records of the copies in a folder: one line of JSON each, appended as copies are made, sorted at the end.

In memory are only the places of the lines in the file, source by source: a folder may hold a million copies.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from wardround.core.files import replacement
from wardround.degrade.case_images import level_name
from wardround.degrade.files import CopyRecord, DegradedCopy, expected_record
from wardround.degrade.records import RECORDS_FILE
from wardround.degrade.severities import Profile
from wardround.degrade.types import table_position

Span = tuple[int, int]  # first byte of neighbouring lines, and the byte after them


class CopyRecords:
    """A line that a crash cut off is ignored; of several records of a copy the last one counts."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / RECORDS_FILE
        self._spans: dict[str, list[Span]] = {}  # by source
        self._source_by_name: dict[str, str] = {}  # of the copies' paths, without type and level
        self._source_by_path: dict[str, str] = {}  # of copies whose name has had several sources
        self.flagged: set[str] = set()  # paths of copies that are not what their level stands for
        self._last_read: tuple[str, dict[str, CopyRecord]] | None = None
        self._end, self._ends_in_line = 0, True
        if self._file.is_file():
            self._index()

    def _index(self) -> None:
        with self._file.open("rb") as file:
            for line in file:
                start, self._end = self._end, self._end + len(line)
                self._ends_in_line = line.endswith(b"\n")
                try:
                    record = json.loads(line)
                    _sort_key(record)
                except (ValueError, KeyError, TypeError):
                    continue
                self._note(record, (start, self._end))

    def _note(self, record: CopyRecord, span: Span) -> None:
        source, path = record["source"], record["image"]
        spans = self._spans.setdefault(source, [])
        if spans and spans[-1][1] == span[0]:
            spans[-1] = (spans[-1][0], span[1])
        else:
            spans.append(span)
        name = path.removesuffix(f".{record['type']}.{level_name(record['severity'])}.png")
        if path in self._source_by_path or self._source_by_name.setdefault(name, source) != source:
            self._source_by_path[path] = source
        self.flagged.discard(path)
        if record.get("flags"):
            self.flagged.add(path)

    def knows(self, source: str) -> bool:
        """Whether there are records of copies of this source."""
        return source in self._spans

    def is_current(self, copy: DegradedCopy, source: str, source_sha256: str, profile: Profile) -> bool:
        """Whether a copy is there, made of this file as it would be made now."""
        record = self._read(source).get(copy.path)
        if record is None or record.get("space") not in ("display", "hu"):
            return False
        expected = {"source": source, "source_sha256": source_sha256}
        expected |= expected_record(copy, record["space"], profile)
        file = self._folder / copy.path
        is_same = "flags" in record and all(record.get(name) == value for name, value in expected.items())
        return is_same and file.is_file() and file.stat().st_size == record.get("bytes")

    def add(self, records: Iterable[CopyRecord]) -> None:
        """Appends records to the file at once."""
        with self._file.open("ab") as file:
            if not self._ends_in_line:
                self._end += file.write(b"\n")
                self._ends_in_line = True
            for record in records:
                start = self._end
                self._end += file.write(_json_line(record))
                self._note(record, (start, self._end))
                if self._last_read is not None and self._last_read[0] == record["source"]:
                    self._last_read[1][record["image"]] = record

    def write_sorted(self) -> None:
        """Writes the records of all copies that are there, by source, type and severity."""
        with replacement(self._file) as draft, draft.open("wb") as file:
            for source in sorted(self._spans):
                for record in sorted(self._read(source).values(), key=_sort_key):
                    if (self._folder / record["image"]).is_file():
                        file.write(_json_line(record))

    def _read(self, source: str) -> dict[str, CopyRecord]:
        """The records of a source, by path. Those of the last source asked for are kept: a volume has many frames."""
        if self._last_read is None or self._last_read[0] != source:
            records: dict[str, CopyRecord] = {}
            for record in self._lines(source):
                path = record["image"]
                if self._source_by_path.get(path, source) == source:
                    records[path] = record
            self._last_read = source, records
        return self._last_read[1]

    def _lines(self, source: str) -> Iterator[CopyRecord]:
        if source not in self._spans:
            return
        with self._file.open("rb") as file:
            for start, end in self._spans[source]:
                file.seek(start)
                yield from map(json.loads, file.read(end - start).splitlines())


def _json_line(record: CopyRecord) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _sort_key(record: CopyRecord) -> tuple[str, tuple[int, str], float, str]:
    return record["source"], table_position(record["type"]), float(record["severity"]), record["image"]
