"""Filters: which articles a search may return."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Filters:
    """Unset fields do not filter."""

    since: str | None = None  # first year, month or day
    until: str | None = None  # last year, month or day
    publication_types: tuple[str, ...] = ()  # any of them
    languages: tuple[str, ...] = ()  # any of them, as PubMed's codes of three letters
    mesh: tuple[str, ...] = ()  # any of these headings
    without: tuple[str, ...] = ()  # PMIDs that are never returned


NO_FILTERS = Filters()
