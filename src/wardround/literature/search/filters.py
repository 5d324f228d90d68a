"""Filters: which articles a search may return."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Filters:
    """What is not given does not filter."""

    since: int | None = None  # first year
    until: int | None = None  # last year
    publication_types: tuple[str, ...] = ()  # any of them
    without: tuple[str, ...] = ()  # PMIDs that are never returned


ANYTHING = Filters()
