"""Hit: an article that was found."""

from __future__ import annotations

from typing import NamedTuple


class Hit(NamedTuple):
    """An article found, with the score that its retriever gave it; lists of hits are best first."""

    pmid: str
    score: float
    title: str
    abstract: str
    year: int | None = None
    journal: str | None = None
