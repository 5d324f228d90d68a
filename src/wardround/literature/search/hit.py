"""Hit: an article that was found."""

from __future__ import annotations

from typing import NamedTuple

SNIPPET = 300  # characters of an abstract that a list of hits shows to an agent


class Hit(NamedTuple):
    """An article found, with the score that its retriever gave it; lists of hits are best first."""

    pmid: str
    score: float
    title: str
    abstract: str
    year: int | None = None
    journal: str | None = None


def snippet(text: str) -> str:
    """The beginning of an abstract, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SNIPPET else line[:SNIPPET].rsplit(" ", 1)[0] + " ..."
