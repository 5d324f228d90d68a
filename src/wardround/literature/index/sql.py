"""SQL conditions for LanceDB."""

from collections.abc import Iterable

from wardround.literature.search.filters import Filters


def pmid_condition(pmids: Iterable[str]) -> str:
    """The rows of these PMIDs."""
    return f"pmid IN ({', '.join(map(quote, pmids))})"


def filter_condition(filters: Filters) -> str:
    """The rows that pass the filters, single PMIDs aside; empty if all do."""
    conditions = []
    if filters.since is not None:
        conditions.append(f"year >= {filters.since:d}")
    if filters.until is not None:
        conditions.append(f"year <= {filters.until:d}")
    if filters.publication_types:
        conditions.append(f"array_has_any(publication_types, [{', '.join(map(quote, filters.publication_types))}])")
    return " AND ".join(conditions)


def quote(text: str) -> str:
    return "'" + text.encode("utf-8", "replace").decode().replace("'", "''") + "'"
