"""Compares all vectors of a column with many queries in one pass.

LanceDB reads the whole column for each query. Here each block of vectors is compared with all queries by one matrix
product. Both give the same scores: those of the best vectors are computed again in double precision.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wardround.literature.encoders import Vectors
from wardround.literature.index.location import Table

BLOCK = 8_192  # vectors compared together
PENDING = 8  # scores kept for each wanted one until the best are chosen

RowNumbers = NDArray[np.uint64]
Floats = NDArray[np.float32]


def inner_products(vectors: NDArray[Any], query: Vectors) -> list[float]:
    """Scores in double precision. Each row is summed by itself, so a score does not depend on the other rows."""
    products = vectors.astype(np.float64) * query.astype(np.float64)
    return np.ascontiguousarray(products).sum(axis=1).tolist()  # type: ignore[no-any-return]


def vectors_of(rows: Any) -> NDArray[Any]:
    """The vectors of a table or batch of rows as a matrix."""
    import pyarrow as pa

    column = rows["vector"]
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    values: NDArray[Any] = column.flatten().to_numpy(zero_copy_only=False)
    return values.reshape(rows.num_rows, column.type.list_size)


def scan_nearest(table: Table, queries: Vectors, condition: str, limit: int) -> list[list[tuple[str, float]]]:
    """For each query the PMIDs and scores of `limit` rows with the highest inner products, best first."""
    best = _BestRows(len(queries), limit)
    for row_ids, vectors in _blocks(table, condition):
        best.add(row_ids, queries @ vectors.T.astype(np.float32, copy=False))
    rows_by_query = best.rows()
    wanted = np.unique(np.concatenate([np.zeros(0, np.uint64), *rows_by_query]))
    if not len(wanted):
        return [[] for _ in rows_by_query]
    fetched = table.take_row_ids(wanted.tolist()).select(["pmid", "vector"]).with_row_id().to_arrow()
    places = np.argsort(fetched["_rowid"].to_numpy())  # in the order of `wanted`
    pmids, vectors = np.array(fetched["pmid"].to_pylist(), object)[places], vectors_of(fetched)[places]
    nearest = []
    for query, rows in zip(queries, rows_by_query, strict=True):
        chosen = np.searchsorted(wanted, rows)
        scored = zip(pmids[chosen], inner_products(vectors[chosen], query), strict=True)
        nearest.append(sorted(scored, key=lambda pair: -pair[1]))
    return nearest


def _blocks(table: Table, condition: str) -> Any:
    """The row numbers and vectors of the table, a block after another."""
    search = table.search().select(["vector"]).with_row_id(True).limit(None)
    batches: list[Any] = []
    for batch in (search.where(condition) if condition else search).to_batches():
        batches.append(batch)
        if sum(part.num_rows for part in batches) >= BLOCK:
            yield _join(batches)
            batches = []
    if batches:
        yield _join(batches)


def _join(batches: list[Any]) -> tuple[RowNumbers, NDArray[Any]]:
    row_ids = np.concatenate([batch["_rowid"].to_numpy() for batch in batches])
    return row_ids, np.concatenate([vectors_of(batch) for batch in batches])


class _BestRows:
    """The rows with the highest scores of each query, while blocks of scores come in."""

    def __init__(self, queries: int, limit: int) -> None:
        self._limit = limit
        self._floors = np.full(queries, -np.inf, np.float32)  # a row must score above it
        self._queries = np.zeros(0, np.int64)
        self._scores, self._rows = np.zeros(0, np.float32), np.zeros(0, np.uint64)

    def add(self, row_ids: RowNumbers, scores: Floats) -> None:
        """Scores have a row for each query and a column for each row of the table."""
        floors = self._floors
        if len(row_ids) > self._limit and np.isneginf(floors).any():
            own = np.partition(scores, len(row_ids) - self._limit - 1, axis=1)[:, len(row_ids) - self._limit - 1]
            floors = np.maximum(floors, np.nextafter(own, np.float32(-np.inf)))
        queries, columns = np.nonzero(scores > floors[:, None])
        self._queries = np.concatenate([self._queries, queries])
        self._scores = np.concatenate([self._scores, scores[queries, columns]])
        self._rows = np.concatenate([self._rows, row_ids[columns]])
        if len(self._rows) > PENDING * self._limit * len(floors):
            self._choose()

    def rows(self) -> list[RowNumbers]:
        """For each query the rows of its best scores."""
        self._choose()
        ends = np.searchsorted(self._queries, np.arange(len(self._floors)), side="right")
        return np.split(self._rows, ends)[:-1]

    def _choose(self) -> None:
        """Keeps the best of each query."""
        order = np.lexsort((-self._scores, self._queries))
        queries = self._queries[order]
        starts = np.searchsorted(queries, np.arange(len(self._floors)))
        ranks = np.arange(len(queries)) - starts[queries]
        self._floors[queries[ranks == self._limit - 1]] = self._scores[order[ranks == self._limit - 1]]
        kept = order[ranks < self._limit]
        self._queries, self._scores, self._rows = self._queries[kept], self._scores[kept], self._rows[kept]
