"""Which retrievers search together where none are named."""

from __future__ import annotations

import pytest

from wardround.literature.index.index import Index


@pytest.mark.parametrize(
    ("columns", "usual"),
    [
        ({}, ["bm25"]),
        ({"wordllama": "wordllama"}, ["bm25"]),
        ({"quick": "quick=wordllama", "bge": "bge=sentence-transformers:x"}, ["bm25", "bge"]),
    ],
)
def test_all_retrievers_but_static_vectors_are_used_by_default(columns, usual):
    sums = {"count": 1, "sum": 2}
    manifests = {name: {"spec": {"encoder": encoder}, "articles": sums} for name, encoder in columns.items()}
    assert Index("place", None, {"articles": sums, "columns": manifests}).default_retrievers == usual
