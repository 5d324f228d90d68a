"""Notes and wrong-key flags by people who looked at a run: `notes.jsonl` in its folder, one note a line.

The case explorer writes them; the report lists the flags among the items to review, and the desk can read them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from wardround.core.errors import WardroundError

FILE = "notes.jsonl"
NOTE, WRONG_KEY = "note", "wrong key"
KINDS = (NOTE, WRONG_KEY)
MAX_TEXT = 4_000  # characters


@dataclass(frozen=True)
class ReviewNote:
    """A note about one question of a case; `kind` is `note` or `wrong key`, `made` a time in UTC."""

    case: str
    question: str
    kind: str
    text: str
    made: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def add_note(folder: Path, case: str, question: str, kind: str, text: str) -> ReviewNote:
    """Appends a note to the run's file."""
    if kind not in KINDS:
        raise WardroundError(f"there is no kind of note {kind!r}; there are {', '.join(KINDS)}")
    text = text.strip()
    if not text and kind == NOTE:
        raise WardroundError("the note is empty; write what you noticed")
    if len(text) > MAX_TEXT:
        raise WardroundError(f"a note has at most {MAX_TEXT:,} characters; this one has {len(text):,}")
    note = ReviewNote(case, question, kind, text, datetime.now(UTC).isoformat(timespec="seconds"))
    line = orjson.dumps(note.to_dict(), option=orjson.OPT_APPEND_NEWLINE)
    # one write of a whole line: two readers at once do not mix their notes
    descriptor = os.open(folder / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)
    return note


def read_notes(folder: Path) -> list[ReviewNote]:
    """The notes of a run, oldest first; a line that is not a note is passed over."""
    return list(_notes(folder / FILE))


def wrong_keys(folder: Path) -> list[ReviewNote]:
    """The flags that say that a question's key is wrong."""
    return [note for note in read_notes(folder) if note.kind == WRONG_KEY]


def _notes(file: Path) -> Iterator[ReviewNote]:
    if not file.is_file():
        return
    for line in file.read_bytes().splitlines():
        try:
            record = orjson.loads(line)
            yield ReviewNote(**{name: str(record[name]) for name in ReviewNote.__annotations__})
        except (orjson.JSONDecodeError, KeyError, TypeError):
            continue
