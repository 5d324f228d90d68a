"""Record: what is kept of an article, or the news that it was deleted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

import polars as pl


class Record(NamedTuple):
    """One article in one version. `deleted` records say that this version, and those before it, are gone.

    Texts are on one line each, but for the abstract; no heading or type is empty.
    """

    pmid: str
    version: int = 1
    deleted: bool = False
    title: str = ""
    abstract: str = ""  # one line a section, its label before it: "METHODS: We asked ..."
    labels: list[str] = []  # noqa: RUF012  # of each line; empty where no section has one
    year: int | None = None
    journal: str | None = None
    mesh: list[str] = []  # noqa: RUF012  # descriptors, without qualifiers
    publication_types: list[str] = []  # noqa: RUF012
    doi: str | None = None
    more: str | None = None  # what else a JSONL or CSV row told, as JSON


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
        "journal": pl.String(),
        "mesh": LINES,
        "publication_types": LINES,
        "doi": pl.String(),
        "more": pl.String(),
    }
)


def table(records: Sequence[Record]) -> pl.DataFrame:
    """Records as a table."""
    columns = dict(zip(SCHEMA, zip(*records, strict=True), strict=True))
    return pl.DataFrame(
        {name: _lists(column) if SCHEMA[name] == LINES else column for name, column in columns.items()}, SCHEMA
    )


def _lists(column: Sequence[list[str]]) -> pl.Series:
    """A column of lists of lines: joined here and split by polars, which takes lists one string at a time."""
    joined = pl.Series(map("\n".join, column), dtype=pl.String)
    none = pl.lit([], LINES)
    return pl.select(pl.when(joined == "").then(none).otherwise(joined.str.split("\n"))).to_series()


def plain(text: str) -> str:
    """A text on one line, with single spaces. Most are: to see that takes a fifth of the time of doing it."""
    if text.isprintable() and "  " not in text:  # of all white space only the plain space is printable
        return text.strip()
    return " ".join(text.split())


def joined(sections: list[tuple[str, str]]) -> tuple[str, list[str]]:
    """The abstract and the labels of its sections, given as label and text; those without text are left out."""
    told = [("" if label == "UNLABELLED" else label, text) for label, text in sections if text]
    labels = [label for label, _ in told] if any(label for label, _ in told) else []
    return "\n".join(f"{label}: {text}" if label else text for label, text in told), labels


def sections(abstract: str, labels: list[str]) -> list[tuple[str, str]]:
    """Label and text of each section of an abstract: what `joined` was given."""
    lines = abstract.split("\n") if abstract else []
    return [(label, line.removeprefix(f"{label}: ")) for line, label in zip_longest(lines, labels, fillvalue="")]
