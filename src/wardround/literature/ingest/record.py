"""The record of an article, or of its deletion."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl


class ArticleRecord(NamedTuple):
    """One article in one version. A `deleted` record deletes this version and those before it.

    Each text is one line, except the abstract; no heading or type is empty.
    """

    pmid: str
    version: int = 1
    deleted: bool = False
    title: str = ""
    abstract: str = ""  # one line per section with its label: "METHODS: We asked ..."
    labels: list[str] = []  # of each line; empty if no section has one
    year: int | None = None
    published: str | None = None  # year, month or day: "2016", "2016-01", "2016-01-05"; of that year
    journal: str | None = None
    mesh: list[str] = []  # descriptors, without qualifiers
    publication_types: list[str] = []
    languages: list[str] = []  # codes of three letters, as PubMed has them
    doi: str | None = None
    more: str | None = None  # other fields of a JSONL or CSV row, as JSON


LINES = pl.List(pl.String())
SCHEMA = pl.Schema(
    {
        "pmid": pl.String(),
        "version": pl.Int32(),
        "deleted": pl.Boolean(),
        "title": pl.String(),
        "abstract": pl.String(),
        "labels": LINES,
        "year": pl.Int32(),
        "published": pl.String(),
        "journal": pl.String(),
        "mesh": LINES,
        "publication_types": LINES,
        "languages": LINES,
        "doi": pl.String(),
        "more": pl.String(),
    }
)


def records_table(records: Sequence[ArticleRecord]) -> pl.DataFrame:
    """Records as a table."""
    columns = dict(zip(SCHEMA, zip(*records, strict=True), strict=True))
    return pl.DataFrame(
        {name: _lists(column) if SCHEMA[name] == LINES else column for name, column in columns.items()}, SCHEMA
    )


def _lists(column: Sequence[list[str]]) -> pl.Series:
    """A column of lists of lines, joined here and split by polars: much faster than passing it lists."""
    joined = pl.Series(map("\n".join, column), dtype=pl.String)
    return pl.select(pl.when(joined == "").then(pl.lit([], LINES)).otherwise(joined.str.split("\n"))).to_series()


def join_sections(sections: list[tuple[str, str]]) -> tuple[str, list[str]]:
    """The abstract and its labels from sections (label and text); those without text are left out."""
    kept = [("" if label == "UNLABELLED" else label, text) for label, text in sections if text]
    labels = [label for label, _ in kept] if any(label for label, _ in kept) else []
    return "\n".join(f"{label}: {text}" if label else text for label, text in kept), labels
