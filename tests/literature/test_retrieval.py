"""Retrieval: each retriever asked for its depth, fused as told, reranked if asked, cut to k."""

from __future__ import annotations

import numpy as np
import pytest
from fake_index import FakeIndex

from wardround.core.errors import WardroundError
from wardround.literature.search.filters import Filters
from wardround.literature.search.hit import Hit
from wardround.literature.search.retrieval import Retrieval, retrieve, search_by_name

HITS = [
    Hit("1", 0, "optic neuritis", "pain on eye movement", 2001),
    Hit("2", 0, "optic glioma", "a tumour of the optic nerve", 2011),
    Hit("3", 0, "neuritis of the arm", "weakness", 2021),
]
TOLD = {"one": {"1": 3.0, "2": 2.0, "3": 1.0}, "two": {"3": 30.0, "2": 20.0}}


@pytest.fixture
def index():
    scores = {
        name: lambda query, hit, scores_by_pmid=scores_by_pmid: scores_by_pmid.get(hit.pmid, 0.0)
        for name, scores_by_pmid in TOLD.items()
    }
    return FakeIndex(HITS, scores)


def found(hits):
    return [(hit.pmid, pytest.approx(hit.score)) for hit in hits]


def test_the_default_is_the_papers_fusion(index):
    hits = retrieve(index, "eye", Retrieval(("one", "two")))
    assert found(hits) == [("1", 0.5), ("3", 0.5), ("2", 0.25)]
    assert hits[0].abstract == "pain on eye movement"
    assert [(retriever, k) for _, retriever, k, _ in index.asked] == [("one", 5), ("two", 5)]


def test_reciprocal_rank_fusion_keeps_k_hits(index):
    hits = retrieve(index, "eye", Retrieval(("one", "two"), fusion="rrf", depth=100, k=2))
    assert found(hits) == [("3", 1 / 61 + 1 / 63), ("2", 2 / 62)]


def test_filters_reach_every_retriever(index):
    hits = retrieve(index, "eye", Retrieval(("one", "two")), Filters(until="2011", without=("1",)))
    assert [hit.pmid for hit in hits] == ["2"]


def test_weights_and_max_are_passed_to_the_fusion(index):
    hits = retrieve(index, "eye", Retrieval(("one", "two"), weights=(0, 1), combine="max"))
    assert found(hits) == [("3", 1.0), ("1", 0.0), ("2", 0.0)]


class ByLength:
    """A reranker that likes short abstracts."""

    def __init__(self):
        self.read = []

    def scores(self, query, articles):
        self.read.append((query, [title for title, _ in articles]))
        return np.array([-len(abstract) for _, abstract in articles], np.float32)


def test_a_reranker_reads_all_fused_hits_before_they_are_cut(index, monkeypatch):
    made, reranker = [], ByLength()
    monkeypatch.setattr("wardround.literature.encoders.make_reranker", lambda spec: made.append(spec) or reranker)
    how = Retrieval(("one", "two"), k=2, reranker="by-length")
    hits = retrieve(index, "eye", how)
    assert found(hits) == [("3", -8), ("1", -20)]
    assert reranker.read == [("eye", ["optic neuritis", "neuritis of the arm", "optic glioma"])]
    retrieve(index, "arm", how)
    assert made == ["by-length"]  # loaded once


def test_a_retriever_or_a_fusion_is_chosen_by_name(index):
    assert [hit.pmid for hit in search_by_name(index, "eye", "two")] == ["3", "2"]
    assert found(search_by_name(index, "eye", "fused", k=1)) == [("3", 1 / 61 + 1 / 63)]
    assert search_by_name(index, "eye", "fused-paper") == retrieve(index, "eye", Retrieval(("one", "two")))


def test_an_unknown_retriever_is_named(index):
    with pytest.raises(WardroundError, match="no retriever bge; it has one, two"):
        retrieve(index, "eye", Retrieval(("one", "bge")))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"retrievers": ()}, "no retriever"),
        ({"retrievers": ("one", "one")}, "twice"),
        ({"fusion": "sum"}, "paper or rrf, not 'sum'"),
        ({"combine": "min"}, "mean or max"),
        ({"depth": 0}, "1 or more"),
        ({"k": 0}, "1 or more"),
        ({"weights": (1.0,)}, "1 weights for 2 retrievers"),
        ({"weights": (0.0, 0.0)}, "not all 0"),
        ({"weights": (1.0, float("nan"))}, "finite"),
    ],
)
def test_impossible_settings_are_refused(settings, problem):
    with pytest.raises(WardroundError, match=problem):
        Retrieval(**settings)
