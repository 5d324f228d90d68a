"""SQL conditions for LanceDB."""

from collections.abc import Iterable

from wardround.literature.search.filters import Filters

AFTER_DIGITS = "~"  # sorts after every character of a date


def pmid_condition(pmids: Iterable[str]) -> str:
    """The rows of these PMIDs."""
    return f"pmid IN ({', '.join(map(quote, pmids))})"


def filter_condition(filters: Filters) -> str:
    """The rows that pass the filters, single PMIDs aside; empty if all do.

    An article whose date is a year or a month passes a limit to the day only if all of its days do: dates compare as
    texts, where "2024" comes before "2024-03-15", and "2024~" after it.
    """
    conditions = []
    if filters.since is not None:
        conditions.append(f"published >= {quote(filters.since)}")
    if filters.until is not None:
        conditions.append(f"concat(published, '{AFTER_DIGITS}') <= {quote(filters.until + AFTER_DIGITS)}")
    for column, names in (
        ("publication_types", filters.publication_types),
        ("languages", filters.languages),
        ("mesh", filters.mesh),
    ):
        if names:
            conditions.append(f"array_has_any({column}, [{', '.join(map(quote, names))}])")
    return " AND ".join(conditions)


def quote(text: str) -> str:
    return "'" + text.encode("utf-8", "replace").decode().replace("'", "''") + "'"
