"""The groups that an endpoint must be met in: the values of keys of cases and questions."""

from collections.abc import Iterator, Sequence

import polars as pl

from wardround.core.canonical import canonical_json
from wardround.measuring.engine.encode import EncodedMarks
from wardround.measuring.engine.slices import in_order


def group_subjects(encoded: EncodedMarks, groups: Sequence[str]) -> Iterator[tuple[str, pl.Series]]:
    """The slice of every group of these keys, and its questions."""
    for key in groups:
        members = exploded(encoded.subjects.select("subject", key), key).unique().drop_nulls()
        for value in in_order(key, members[key].unique()):
            yield canonical_json({key: value}), members.filter(pl.col(key) == value)["subject"]


def exploded(table: pl.DataFrame, key: str) -> pl.DataFrame:
    """One row for each value of a key that may have several."""
    return table.explode(key) if isinstance(table.schema[key], pl.List) else table
