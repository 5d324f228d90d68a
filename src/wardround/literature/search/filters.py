"""Filters: which articles a search may return."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Filters:
    """Unset fields do not filter."""

    since: int | None = None  # first year
    until: int | None = None  # last year
    publication_types: tuple[str, ...] = ()  # any of them
    without: tuple[str, ...] = ()  # PMIDs that are never returned


NO_FILTERS = Filters()
