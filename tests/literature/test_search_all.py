"""Many queries searched together give exactly the hits of each alone."""

from __future__ import annotations

import json

import numpy as np
import pytest
from invented_articles import invented_articles

from wardround.literature.index import index as index_module
from wardround.literature.index import vector_scan, vectors
from wardround.literature.index.build import build
from wardround.literature.index.index import Index
from wardround.literature.search.filters import Filters
from wardround.literature.search.retrieval import search_all_by_name, search_by_name

ARTICLES = invented_articles(150)
QUERIES = [*(article.question for article in ARTICLES[:12]), "", "  \n", ARTICLES[0].question, "swelling", "qqqzzz"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """Articles, and thirty copies of one of them, whose scores are equal in any list."""
    folder = tmp_path_factory.mktemp("library")
    rows = [
        {"pmid": a.pmid, "title": a.title, "abstract": " ".join(a.sentences), "year": 2000 + a.pmid % 20}
        for a in ARTICLES
    ]
    rows += [{**rows[3], "pmid": 5_000 + copy} for copy in range(30)]
    source = folder / "articles.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    build([source], folder / "index")
    return Index.open(folder / "index")


@pytest.mark.parametrize("retriever", ["bm25", "wordllama", "fused", "fused-paper"])
def test_queries_together_have_the_hits_of_each_alone(
    index: Index, retriever: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = [search_by_name(index, query, retriever, 7) for query in QUERIES]
    monkeypatch.setattr(index_module, "SCANNED", 5)  # several passes, each over several blocks
    monkeypatch.setattr(vector_scan, "BLOCK", 32)
    monkeypatch.setattr(vector_scan, "PENDING", 1)

    together = search_all_by_name(index, QUERIES, retriever, 7)

    assert together == alone
    assert [bool(hits) for hits in together[12:14]] == [False, False]
    assert len(together[0]) == 7


@pytest.mark.parametrize("retriever", ["bm25", "wordllama"])
def test_each_query_has_its_own_filters(index: Index, retriever: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "SHARED", 2)
    queries = [article.question for article in ARTICLES[:6]]
    first = [index.search(query, retriever, 3)[0].pmid for query in queries]
    filters = [Filters(without=(pmid,) * 3) for pmid in first]
    filters[1:3] = [Filters(since="2010"), Filters(until="2005", without=tuple(first))]

    together = index.search_all(queries, retriever, 9, filters)

    assert together == [index.search(query, retriever, 9, own) for query, own in zip(queries, filters, strict=True)]
    assert all(first[place] not in {hit.pmid for hit in together[place]} for place in (0, 2, 3, 4, 5))


def test_a_column_with_an_index_is_searched_together_too(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "EXACT", 0)

    together = index.search_all(QUERIES, "wordllama", 5)

    assert together == [index.search(query, "wordllama", 5) for query in QUERIES]


def test_the_scan_finds_the_nearest_vectors_that_numpy_finds(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_scan, "BLOCK", 50)
    table = index.table("vectors_wordllama")
    rows = table.search().select(["pmid", "vector"]).limit(None).to_arrow()
    stored = np.array(rows["vector"].to_pylist(), np.float64)
    queries = np.random.default_rng(1).normal(size=(9, stored.shape[1])).astype(np.float32)

    nearest = vector_scan.scan_nearest(table, queries, "", 11)

    scores = queries.astype(np.float64) @ stored.T
    for query, pairs in enumerate(nearest):
        assert [score for _, score in pairs] == pytest.approx(np.sort(scores[query])[::-1][:11].tolist(), rel=1e-12)
        own = dict(zip(rows["pmid"].to_pylist(), scores[query].tolist(), strict=True))
        assert [own[pmid] for pmid, _ in pairs] == pytest.approx([score for _, score in pairs], rel=1e-12)
