"""Record: what is kept of an article, or the news that it was deleted."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

import polars as pl


class Record(NamedTuple):
    """One article in one version. `deleted` records say that this version, and those before it, are gone."""

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


SCHEMA = pl.Schema(
    {
        "pmid": pl.String(),
        "version": pl.Int32(),
        "deleted": pl.Boolean(),
        "title": pl.String(),
        "abstract": pl.String(),
        "labels": pl.List(pl.String()),
        "year": pl.Int32(),
        "journal": pl.String(),
        "mesh": pl.List(pl.String()),
        "publication_types": pl.List(pl.String()),
        "doi": pl.String(),
        "more": pl.String(),
    }
)


def plain(text: str) -> str:
    """A text on one line, with single spaces."""
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
