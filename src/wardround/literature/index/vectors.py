"""The vector tables: one for each column, with the vector of each article and the digest it was made from."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wardround.core.errors import WardroundError
from wardround.literature.encoders import Encoder, Vectors, make_encoder
from wardround.literature.index.location import Connection, Table, table_names

BATCH = 5_000  # vectors deleted together
# Our choice, measured (docs/scale.md): up to EXACT numbers all vectors are compared; beyond, vectors are stored in half
# precision and searched by their codes of one bit for each dimension in the nearest partitions, and the best again by
# the vectors themselves. The fewer dimensions, the less the codes say, and the more are compared again.
EXACT = 64_000_000
PARTITION = 4_096  # vectors
MAX_FLAT, MIN_TREE = 64, 257  # partitions: LanceDB trains up to 256 at once, whose cost grows by their square
PROBES, REFINE = 40, 10
REFINED_NUMBERS = 10_240  # for each hit, at least
FILTERED = ["year", "published", "publication_types", "languages", "mesh"]
READ = ["pmid", "version", *FILTERED, "digest", "title", "abstract"]

RowNumbers = NDArray[np.uint64]  # row ids of the table of articles


def table_of(column: str) -> str:
    return f"vectors_{column}"


def open_table(connection: Connection, column: str, dimension: int, precision: str) -> Table:
    """The table of a column, created if it does not exist."""
    if table_of(column) in table_names(connection):
        return connection.open_table(table_of(column))
    return connection.create_table(table_of(column), schema=schema(dimension, precision), exist_ok=True)


def choose_precision(articles: int, dimension: int) -> str:
    """How the numbers of a new column are stored: in half precision if it is searched with an index."""
    return "float32" if articles * dimension <= EXACT else "float16"


def add_rows(table: Table, rows: Any) -> None:
    """Adds rows of `vector_rows` in the precision of the table."""
    table.add(rows.cast(rows.schema.set(rows.schema.names.index("vector"), table.schema.field("vector"))))


def schema(dimension: int, precision: str = "float32") -> Any:
    import pyarrow as pa

    return pa.schema(
        {
            "pmid": pa.string(),
            "version": pa.int32(),
            "year": pa.int32(),
            "published": pa.string(),
            "publication_types": pa.list_(pa.string()),
            "languages": pa.list_(pa.string()),
            "mesh": pa.list_(pa.string()),
            "digest": pa.int64(),  # of the embedded article
            "vector": pa.list_(pa.type_for_alias(precision), dimension),
        }
    )


def differences(articles: Table, vectors: Table) -> tuple[RowNumbers, list[int]]:
    """The articles without a vector, and the digests of vectors that are stale or duplicated.

    Needs eight bytes for each article and vector: 600 MB for all of PubMed.
    """
    stored, counts = np.unique(_digests(vectors), return_counts=True)
    current = np.sort(_digests(articles))
    stale = stored[(counts > 1) | ~_are_in(stored, current)]
    valid = stored[~_are_in(stored, stale)]
    missing = [rows[~_are_in(digests, valid)] for rows, digests in _numbered(articles)]
    return np.concatenate([np.zeros(0, np.uint64), *missing]), stale.tolist()


def delete_vectors(vectors: Table, digests: list[int]) -> None:
    for start in range(0, len(digests), BATCH):
        vectors.delete(f"digest IN ({', '.join(map(str, digests[start : start + BATCH]))})")


def read_articles(articles: Table, rows: RowNumbers) -> Any:
    """The articles of these rows, with the columns of a vector table."""
    return articles.take_row_ids(rows.tolist()).select(READ).to_arrow()


def vector_rows(articles: Any, vectors: Vectors) -> Any:
    """Articles with their vectors as rows of the vector table."""
    import pyarrow as pa

    columns = schema(vectors.shape[1])
    vector_column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    values = [articles[name] for name in columns.names if name != "vector"]
    return pa.table([*values, vector_column], schema=columns)


def load_column_encoder(spec: dict[str, Any]) -> Encoder:
    """The encoder of a column; its weights must be those the column was made with."""
    encoder = make_encoder(spec["encoder"])
    if changed := changed_keys(spec, encoder.spec):
        raise WardroundError(f"{spec['encoder']}: is not the model of the column (its {', '.join(changed)} differ)")
    return encoder


def changed_keys(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """The keys in which two specs differ, except the path of the model."""
    return [key for key in sorted({*before, *now}) if key != "encoder" and before.get(key) != now.get(key)]


def create_vector_index(table: Table) -> None:
    """Creates the index for a large column, if it is missing or covers less than half of it."""
    from lancedb.index import IvfRq

    if is_exact(table):
        return
    count = table.count_rows()
    if not any(2 * index.num_unindexed_rows < count for index in table.list_indices() if index.columns == ["vector"]):
        table.create_index("vector", config=IvfRq(distance_type="dot", num_partitions=count_partitions(count)))


def count_partitions(vectors: int) -> int:
    """The partitions of a new index: those that LanceDB trains one within the other unless they are few."""
    partitions = max(1, vectors // PARTITION)
    return partitions if partitions <= MAX_FLAT else max(partitions, MIN_TREE)


def is_exact(table: Table) -> bool:
    """Whether all vectors of a column are compared."""
    return bool(table.count_rows() * table.schema.field("vector").type.list_size <= EXACT)


def nearest_rows(table: Table, vector: Vectors, condition: str, limit: int) -> Any:
    """PMIDs and distances (1 - inner product) of the nearest rows that meet a condition; with vectors if exact.

    Without an index all vectors are compared. With one, few rows of the nearest partitions may meet the condition:
    then more partitions are searched, if necessary all.
    """
    probes = max(PROBES, round(4 * count_partitions(table.count_rows()) ** 0.5)) * (4 if condition else 1)
    columns = ["pmid", "_distance", *(["vector"] if is_exact(table) else [])]
    refine = max(REFINE, -(-REFINED_NUMBERS // len(vector)))
    search = table.search(vector).distance_type("dot").refine_factor(refine).select(columns).limit(limit)
    if condition:
        search = search.where(condition, prefilter=True)
    rows = search.nprobes(probes).to_arrow()
    return rows if rows.num_rows == limit or not condition else search.maximum_nprobes(0).to_arrow()


def _digests(table: Table) -> NDArray[np.int64]:
    parts = [batch["digest"].to_numpy() for batch in table.search().select(["digest"]).limit(None).to_batches()]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _numbered(table: Table) -> Iterator[tuple[RowNumbers, NDArray[np.int64]]]:
    for batch in table.search().with_row_id(True).select(["digest"]).limit(None).to_batches():
        yield batch["_rowid"].to_numpy(), batch["digest"].to_numpy()


def _are_in(values: NDArray[np.int64], sorted_values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each value is among the sorted ones."""
    if not len(sorted_values):
        return np.zeros(len(values), bool)
    positions = np.searchsorted(sorted_values, values).clip(max=len(sorted_values) - 1)
    is_member: NDArray[np.bool_] = sorted_values[positions] == values
    return is_member
