"""Replies are read for the search in the background: progress is told, and closing does not wait for the rest."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from wardround.view import text_search
from wardround.view.explorer import Explorer

LAST_NOTE = "search: all texts are read"


def test_texts_are_read_without_a_search(explored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_search, "PART", 100)
    monkeypatch.setattr(text_search, "NOTED_REPLIES", 200)
    explorer, notes, read = Explorer([explored]), list[str](), Event()

    def note(line: str) -> None:
        notes.append(line)
        if line == LAST_NOTE:
            read.set()

    with explorer.preparing_search(note):
        assert read.wait(600)
    assert notes[0].startswith("search: 200 of ")
    assert notes[-1] == LAST_NOTE
    assert explorer.search("night sweats")
    explorer.close()


def test_closing_ends_the_reading(explored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first note is held until the explorer is being closed."""
    monkeypatch.setattr(text_search, "PART", 100)
    monkeypatch.setattr(text_search, "NOTED_REPLIES", 100)
    explorer, notes, reading, closing = Explorer([explored]), list[str](), Event(), Event()

    def note(line: str) -> None:
        notes.append(line)
        reading.set()
        assert closing.wait(600)

    with explorer.preparing_search(note):
        assert reading.wait(600)
        explorer._current()[3].stop()
        closing.set()
    explorer.close()
    assert len(notes) == 1
