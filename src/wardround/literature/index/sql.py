"""Conditions on rows, as LanceDB takes them."""

from __future__ import annotations

from collections.abc import Iterable

from wardround.literature.search.filters import Filters


def among(pmids: Iterable[str]) -> str:
    """The rows of these PMIDs."""
    return f"pmid IN ({', '.join(map(quoted, pmids))})"


def allowed(filters: Filters) -> str:
    """The rows that filters let through, but for single PMIDs; empty where that is all."""
    told = []
    if filters.since is not None:
        told.append(f"year >= {filters.since:d}")
    if filters.until is not None:
        told.append(f"year <= {filters.until:d}")
    if filters.publication_types:
        told.append(f"array_has_any(publication_types, [{', '.join(map(quoted, filters.publication_types))}])")
    return " AND ".join(told)


def quoted(text: str) -> str:
    return "'" + text.encode("utf-8", "replace").decode().replace("'", "''") + "'"
