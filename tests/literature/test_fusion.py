"""Fusion: hand-computed cases, properties, and reciprocal rank fusion against a small table-based reckoning."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.literature.search.fusion import fuse_paper, fuse_rrf, normalize_scores
from wardround.literature.search.hit import Hit

scores = st.floats(-1e6, 1e6)
pmids = st.integers(1, 12).map(str)


@st.composite
def one_retriever(draw):
    pairs = draw(st.lists(st.tuples(pmids, scores), max_size=10, unique_by=lambda pair: pair[0]))
    return sorted((hit(pmid, score) for pmid, score in pairs), key=lambda each: (-each.score, each.pmid))


found = st.lists(one_retriever(), min_size=1, max_size=4)


def hit(pmid, score):
    return Hit(pmid, score, f"title of {pmid}", f"abstract of {pmid}")


def fused(hits):
    return [(each.pmid, each.score) for each in hits]


# 0.9, 0.75, 0.6 -> 1, 0.5, 0; 70, 60, 50, 30 -> 1, 0.75, 0.5, 0
BGE = [hit("11", 0.9), hit("22", 0.75), hit("33", 0.6)]
MEDCPT = [hit("22", 70), hit("44", 60), hit("11", 50), hit("55", 30)]


class TestPaper:
    def test_mean_with_zero_where_absent(self):
        assert fused(fuse_paper([BGE, MEDCPT])) == [
            ("11", pytest.approx(0.75)),
            ("22", pytest.approx(0.75)),
            ("44", pytest.approx(0.375)),
            ("33", 0.0),
            ("55", 0.0),
        ]

    def test_max_takes_the_best_score(self):
        hits = fuse_paper([BGE, MEDCPT], combine="max")
        assert fused(hits) == [("11", 1.0), ("22", 1.0), ("44", 0.75), ("33", 0.0), ("55", 0.0)]

    def test_only_the_first_of_each_retriever_count_and_are_normalised(self):
        # 0.9, 0.75 -> 1, 0; 70, 60 -> 1, 0
        assert fused(fuse_paper([BGE, MEDCPT], depth=2)) == [("11", 0.5), ("22", 0.5), ("44", 0.0)]

    def test_weights_scale_the_scores_of_a_retriever(self):
        hits = fuse_paper([BGE, MEDCPT], weights=(3, 1))
        assert fused(hits)[:3] == [
            ("11", pytest.approx((3 * 1 + 0.5) / 4)),
            ("22", pytest.approx((3 * 0.5 + 1) / 4)),
            ("44", pytest.approx(0.75 / 4)),
        ]
        assert dict(fused(fuse_paper([BGE, MEDCPT], weights=(2, 1), combine="max")))["44"] == 0.375

    def test_the_order_of_retrievers_breaks_no_tie(self):
        lists = [[hit("1", 0.1), hit("2", 0.7), hit("3", 0.0), hit("4", 1.0)]]
        lists += [[hit("1", 0.7), hit("2", 0.3), hit("3", 0.0), hit("4", 1.0)]]
        lists += [[hit("1", 0.3), hit("2", 0.1), hit("3", 0.0), hit("4", 1.0)]]
        hits = fuse_paper(lists)
        assert [each.pmid for each in hits] == ["4", "1", "2", "3"]
        assert hits[1].score == hits[2].score

    def test_equal_scores_are_one_each(self):
        assert normalize_scores([0.4, 0.4, 0.4]) == [1.0, 1.0, 1.0]
        assert fused(fuse_paper([[hit("9", 5.0)], []])) == [("9", 0.5)]

    @given(found, st.integers(1, 12), st.sampled_from(["mean", "max"]))
    def test_union_of_the_first_hits_in_zero_to_one_best_first(self, found, depth, combine):
        hits = fuse_paper(found, depth, combine=combine)
        assert sorted(each.pmid for each in hits) == sorted({each.pmid for some in found for each in some[:depth]})
        assert all(0 <= each.score <= 1 + 1e-12 for each in hits)
        assert hits == sorted(hits, key=lambda each: (-each.score, each.pmid))
        assert all(each.title == f"title of {each.pmid}" for each in hits)

    @given(found, st.sampled_from([0.25, 2.0, 1024.0]))
    def test_the_unit_of_a_score_changes_nothing(self, found, factor):
        scaled = [[each._replace(score=each.score * factor) for each in some] for some in found]
        first, second = dict(fused(fuse_paper(found))), dict(fused(fuse_paper(scaled)))
        assert first == pytest.approx(second, abs=1e-9)

    @given(one_retriever())
    def test_one_retriever_keeps_its_order(self, hits):
        assert sorted(fused(fuse_paper([hits], 10)), key=lambda pair: -pair[1]) == fused(fuse_paper([hits], 10))
        values = dict(fused(fuse_paper([hits], 10)))
        ranked = [values[each.pmid] for each in hits]
        assert ranked == sorted(ranked, reverse=True)


def table_rrf(found, depth, weights, k):
    """The same by another way: a table of ranks (articles x retrievers), infinite where absent."""
    names = sorted({each.pmid for some in found for each in some[:depth]})
    ranks = np.full((len(names), len(found)), np.inf)
    for column, some in enumerate(found):
        for rank, each in enumerate(some[:depth]):
            ranks[names.index(each.pmid), column] = rank + 1
    return dict(zip(names, (np.array(weights) / (k + ranks)).sum(axis=1), strict=True))


class TestReciprocalRank:
    def test_reciprocal_ranks_are_as_by_hand(self):
        hits = fuse_rrf([[hit("1", 9), hit("2", 8)], [hit("2", 0.3), hit("3", 0.2)]])
        assert fused(hits) == [
            ("2", pytest.approx(1 / 62 + 1 / 61)),
            ("1", pytest.approx(1 / 61)),
            ("3", pytest.approx(1 / 62)),
        ]

    def test_ties_are_ordered_by_pmid(self):
        assert [each.pmid for each in fuse_rrf([[hit("7", 1)], [hit("5", 1)], [hit("6", 1)]])] == ["5", "6", "7"]

    @given(found, st.integers(1, 12), st.integers(0, 100), st.data())
    def test_fusion_is_that_of_a_plain_table(self, found, depth, k, data):
        weights = data.draw(st.lists(st.floats(0.1, 10), min_size=len(found), max_size=len(found)))
        hits = fuse_rrf(found, depth, weights, k)
        assert dict(fused(hits)) == pytest.approx(table_rrf(found, depth, weights, k))
        assert hits == sorted(hits, key=lambda each: (-each.score, each.pmid))

    @given(found)
    def test_only_ranks_count(self, found):
        monotone = [[each._replace(score=100.0 - place) for place, each in enumerate(some)] for some in found]
        assert fused(fuse_rrf(found)) == fused(fuse_rrf(monotone))
