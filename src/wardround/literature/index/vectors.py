"""The tables of vectors: one for each column, with the vector of each article as it was when it was embedded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wardround.core.errors import WardroundError
from wardround.literature.encoders import Encoder, Vectors, make_encoder
from wardround.literature.index.location import Connection, Table

TOGETHER = 5_000  # vectors deleted together
# Our choice, measured on 400,000 vectors of wordllama (100,000,000 numbers; docs/literature.md): up to so many numbers
# all are compared; beyond, those of the nearest partitions in one byte each, and the best again by their own numbers.
EXACT = 64_000_000
PARTITION = 4_096  # vectors
PROBES, REFINE = 40, 4
READ = ["pmid", "version", "year", "publication_types", "digest", "title", "abstract"]

Rows = NDArray[np.uint64]  # where articles stand in their table


def table_of(column: str) -> str:
    return f"vectors_{column}"


def made(connection: Connection, column: str, dimension: int) -> Table:
    """The table of a column, empty where there was none."""
    return connection.create_table(table_of(column), schema=schema(dimension), exist_ok=True)


def schema(dimension: int) -> Any:
    import pyarrow as pa

    return pa.schema(
        {
            "pmid": pa.string(),
            "version": pa.int32(),
            "year": pa.int32(),
            "publication_types": pa.list_(pa.string()),
            "digest": pa.int64(),  # of the article that was embedded
            "vector": pa.list_(pa.float32(), dimension),
        }
    )


def differences(articles: Table, vectors: Table) -> tuple[Rows, list[int]]:
    """The articles without a vector, and the digests of vectors that are of no article any more, or there twice.

    Eight bytes for each article and vector are held: 600 MB for all of PubMed.
    """
    held, times = np.unique(_digests(vectors), return_counts=True)
    wanted = np.sort(_digests(articles))
    wrong = held[(times > 1) | ~_are_in(held, wanted)]
    right = held[~_are_in(held, wrong)]
    missing = [rows[~_are_in(digests, right)] for rows, digests in _numbered(articles)]
    return np.concatenate([np.zeros(0, np.uint64), *missing]), wrong.tolist()


def delete(vectors: Table, digests: list[int]) -> None:
    for start in range(0, len(digests), TOGETHER):
        vectors.delete(f"digest IN ({', '.join(map(str, digests[start : start + TOGETHER]))})")


def read(articles: Table, rows: Rows) -> Any:
    """Articles at these places, with what a vector keeps of them."""
    return articles.take_row_ids(rows.tolist()).select(READ).to_arrow()


def rows_of(articles: Any, vectors: Vectors) -> Any:
    """Articles with their vectors as rows of the table."""
    import pyarrow as pa

    columns = schema(vectors.shape[1])
    numbers = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    kept = [articles[name] for name in columns.names if name != "vector"]
    return pa.table([*kept, numbers], schema=columns)


def encoder_of(spec: dict[str, Any]) -> Encoder:
    """The encoder that a column was made with: the same weights, or its queries could not be compared."""
    encoder = make_encoder(spec["encoder"])
    if other := different(spec, encoder.spec):
        raise WardroundError(
            f"{spec['encoder']}: is not the model that the column was made with (its {', '.join(other)} differ)"
        )
    return encoder


def different(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """In what two specs differ, but for the place where a model's files lie."""
    return [key for key in sorted({*before, *now}) if key != "encoder" and before.get(key) != now.get(key)]


def find_by(table: Table) -> None:
    """Makes the index that a column of this size is searched by, where it is not there or of less than half of it."""
    from lancedb.index import IvfSq

    count = table.count_rows()
    if count * table.schema.field("vector").type.list_size <= EXACT:
        return
    if not any(2 * each.num_unindexed_rows < count for each in table.list_indices() if each.columns == ["vector"]):
        table.create_index("vector", config=IvfSq(distance_type="dot", num_partitions=count // PARTITION))


def nearest(table: Table, vector: Vectors, condition: str, limit: int) -> Any:
    """PMIDs and distances (1 - inner product) of the nearest rows; of those that a condition lets through.

    Without an index all vectors are compared. With one, rows that a condition leaves may be few in the nearest
    partitions: then more partitions are searched, and all where there are not enough.
    """
    probes = max(PROBES, round(4 * (table.count_rows() / PARTITION) ** 0.5)) * (4 if condition else 1)
    search = table.search(vector).distance_type("dot").refine_factor(REFINE).select(["pmid", "_distance"]).limit(limit)
    if condition:
        search = search.where(condition, prefilter=True)
    found = search.nprobes(probes).to_arrow()
    return found if found.num_rows == limit or not condition else search.maximum_nprobes(0).to_arrow()


def _digests(table: Table) -> NDArray[np.int64]:
    parts = [batch["digest"].to_numpy() for batch in table.search().select(["digest"]).limit(None).to_batches()]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _numbered(table: Table) -> Iterator[tuple[Rows, NDArray[np.int64]]]:
    for batch in table.search().with_row_id(True).select(["digest"]).limit(None).to_batches():
        yield batch["_rowid"].to_numpy(), batch["digest"].to_numpy()


def _are_in(values: NDArray[np.int64], ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of each value: is it among those that are in order?"""
    if not len(ordered):
        return np.zeros(len(values), bool)
    places = np.searchsorted(ordered, values).clip(max=len(ordered) - 1)
    found: NDArray[np.bool_] = ordered[places] == values
    return found
