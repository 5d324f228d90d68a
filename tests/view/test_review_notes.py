"""Notes and wrong-key flags: kept beside the run, listed among the items to review."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from wardround.core.errors import WardroundError
from wardround.marking.review_notes import add_note, read_notes
from wardround.reporting import report


def test_a_flag_is_in_items_to_review_and_on_the_page(copied_run: Callable[[], Path]) -> None:
    run = copied_run()
    add_note(run, "case-002", "mcq", "wrong key", "it is <b>lymphoma</b>")
    add_note(run, "case-003", "mcq", "note", "a nice image")
    page = report(run).read_text(encoding="utf-8")
    first = pl.read_csv(run / "items_to_review.csv").row(0, named=True)
    assert (first["case"], first["question"]) == ("case-002", "mcq")
    assert first["reason"] == "a reader says that the key is wrong: it is <b>lymphoma</b>"
    assert "it is &lt;b&gt;lymphoma&lt;/b&gt;" in page
    assert "a nice image" not in page


def test_notes_are_read_back_and_broken_lines_passed_over(tmp_path: Path) -> None:
    add_note(tmp_path, "a", "mcq", "note", " first ")
    with (tmp_path / "notes.jsonl").open("a") as file:
        file.write('{"case": "b"}\nnot JSON\n')
    add_note(tmp_path, "a", "mcq", "wrong key", "")
    assert [(note.kind, note.text) for note in read_notes(tmp_path)] == [("note", "first"), ("wrong key", "")]


@pytest.mark.parametrize(("kind", "text"), [("praise", "x"), ("note", "  "), ("note", "x" * 5_000)])
def test_a_note_that_says_nothing_or_too_much_is_refused(tmp_path: Path, kind: str, text: str) -> None:
    with pytest.raises(WardroundError):
        add_note(tmp_path, "a", "mcq", kind, text)
    assert read_notes(tmp_path) == []
