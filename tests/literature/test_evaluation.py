"""Evaluation: figures against trec_eval (pytrec_eval), intervals against SciPy's bootstrap, and what is left out."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import pytrec_eval
from fake_index import FakeIndex
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from wardround.core.errors import BadInput, WardroundError
from wardround.literature.evaluation.evaluation import evaluate, intervals, query_figures, rankings
from wardround.literature.evaluation.judgements import read_qrels, read_queries
from wardround.literature.search.hit import Hit

DOCUMENTS = [f"d{number}" for number in range(30)]
rankings_of_documents = st.lists(st.sampled_from(DOCUMENTS), max_size=30, unique=True)
judgements = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 3), min_size=1).filter(
    lambda grades: max(grades.values()) > 0
)
OURS = {
    "ndcg@10": "ndcg_cut_10",
    "ndcg@5": "ndcg_cut_5",
    "recall@5": "recall_5",
    "recall@10": "recall_10",
    "precision@5": "P_5",
    "precision@10": "P_10",
    "map": "map",
    "mrr": "recip_rank",
}


@settings(max_examples=60)
@given(st.lists(st.tuples(rankings_of_documents, judgements), min_size=1, max_size=5))
def test_figures_are_those_of_trec_eval(ranked_and_judged):
    queries = [f"q{number}" for number in range(len(ranked_and_judged))]
    ranked = dict(zip(queries, (documents for documents, _ in ranked_and_judged), strict=True))
    judged = dict(zip(queries, (grades for _, grades in ranked_and_judged), strict=True))
    ours = query_figures(queries, ranked, judged, [5, 10])
    run = {query: {each: -float(rank) for rank, each in enumerate(documents)} for query, documents in ranked.items()}
    measures = {"ndcg_cut.5,10", "recall.5,10", "P.5,10", "map", "recip_rank"}
    theirs = pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(run)
    for place, query in enumerate(queries):
        for name, their_name in OURS.items():
            expected = theirs[query][their_name] if ranked[query] else 0.0  # it leaves out a query that found nothing
            assert ours[name][place] == pytest.approx(expected, abs=1e-9), name


def test_intervals_are_those_of_a_percentile_bootstrap():
    random = np.random.default_rng(3)
    values = random.beta(2, 1, 200)
    found = intervals({"bm25": {"map": values}})["bm25"]["map"]
    expected = bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=4).confidence_interval
    assert found.value == pytest.approx(values.mean())
    width = expected.high - expected.low
    assert found.low == pytest.approx(expected.low, abs=0.05 * width)
    assert found.high == pytest.approx(expected.high, abs=0.05 * width)


def articles(*titles):
    return [Hit(str(number), 0.0, title, "") for number, title in enumerate(titles, 1)]


@pytest.fixture
def index():
    hits = articles("optic neuritis", "optic glioma", "brachial neuritis", "appendicitis", "acute appendicitis")
    first_letter = {"bm25": None, "letter": lambda query, hit: float(hit.title[0] == query[0])}
    first_letter["bm25"] = lambda query, hit: float(len(set(query.split()) & set(hit.title.split())))
    return FakeIndex(hits, first_letter)


QUERIES = {"a": "optic neuritis", "b": "appendicitis", "c": "glioma", "d": "brachial", "e": "xylophone"}
JUDGED = {"a": {"1": 2, "3": 1, "99": 1}, "b": {"5": 1}, "c": {"1": 0}, "e": {"2": 1}, "z": {"1": 1}}


def test_every_retriever_and_fusion_is_evaluated(index):
    found = evaluate(index, QUERIES, JUDGED, depths=(1, 2))
    assert list(found.figures) == ["bm25", "letter", "fused", "fused-paper", "fused - bm25"]
    assert list(found.figures["bm25"]) == [
        *(f"{name}@{k}" for name in ("ndcg", "recall", "precision") for k in (1, 2, 10)),
        *("map", "mrr"),
    ]
    # a: 1, 2, 3 in this order, of which 1 and 3 are relevant, of three; b: 4, 5; e: nothing
    assert found.figures["bm25"]["recall@1"].value == pytest.approx((1 / 3 + 0 + 0) / 3)
    assert found.figures["bm25"]["mrr"].value == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found.figures["bm25"]["map"].value == pytest.approx(((1 + 2 / 3) / 3 + 1 / 2 + 0) / 3)
    difference = found.figures["fused - bm25"]["mrr"]
    assert difference.value == pytest.approx(found.figures["fused"]["mrr"].value - found.figures["bm25"]["mrr"].value)
    assert difference.low <= difference.value <= difference.high


def test_queries_and_documents_left_out_are_listed(index):
    found = evaluate(index, QUERIES, JUDGED)
    assert (found.queries, found.unjudged, found.irrelevant) == (3, ["d"], ["c"])
    assert (found.unasked, found.missing) == (["z"], ["99"])


def test_json_is_figures_by_retriever_and_measure(index):
    figures_by_retriever = evaluate(index, QUERIES, JUDGED, compare=True).to_dict()
    assert {"letter - bm25", "fused - bm25", "fused-paper - bm25"} < set(figures_by_retriever)
    assert all(
        set(figure) == {"value", "low", "high"}
        for figures in figures_by_retriever.values()
        for figure in figures.values()
    )


def test_only_the_named_retrievers_are_evaluated(index):
    found = evaluate(index, QUERIES, JUDGED, retrievers=["letter"])
    assert list(found.figures) == ["letter", "fused", "fused-paper"]
    with pytest.raises(WardroundError, match="no retriever bge; it has bm25, letter"):
        evaluate(index, QUERIES, JUDGED, retrievers=["bge"])


def test_qrels_of_other_queries_are_refused(index):
    with pytest.raises(WardroundError, match="no query has a document"):
        evaluate(index, QUERIES, {"other": {"1": 1}})


def test_one_search_serves_every_fusion(index):
    found = rankings(index, {"a": "optic neuritis"}, ["bm25", "letter"], 100)
    assert found["bm25"]["a"] == ["1", "2", "3"]
    assert found["fused"]["a"] == ["1", "2", "3"]
    assert found["fused-paper"]["a"] == ["1", "2", "3"]
    assert len(index.asked) == 2


def test_the_same_again(index):
    assert evaluate(index, QUERIES, JUDGED) == evaluate(index, QUERIES, JUDGED)


class TestFiles:
    def test_queries_are_read_by_id_in_order(self, tmp_path):
        file = tmp_path / "queries.tsv"
        file.write_text("\ufeff1\tPain, in the\teye\r\n\n2\t\n")
        assert read_queries(file) == {"1": "Pain, in the\teye", "2": ""}
        packed = tmp_path / "queries.tsv.gz"
        packed.write_bytes(gzip.compress(file.read_bytes()))
        assert read_queries(packed) == read_queries(file)

    def test_qrels_are_grades_by_query_and_document(self, tmp_path):
        file = tmp_path / "qrels.txt"
        file.write_text("1 0 31 1\n1\t0\t32\t0\n2 Q0 31 2\n2 0 33 -1\n")
        assert read_qrels(file) == {"1": {"31": 1, "32": 0}, "2": {"31": 2, "33": -1}}

    @pytest.mark.parametrize(
        ("read", "text", "said"),
        [
            (read_queries, b"1\ta\nno tab here\n", r"queries:2: expected `id<TAB>text`"),
            (read_queries, b"1\ta\n1\tb\n", "queries:2: query 1 is listed twice"),
            (read_queries, b"\n", "contains no queries"),
            (read_queries, b"1\t\xff\xfe\n", "not UTF-8"),
            (read_qrels, b"1 0 31 1\n1 0 31\n", "queries:2: expected `query iteration document relevance`"),
            (read_qrels, b"query-id corpus-id x score\n", "queries:1: expected"),
            (read_qrels, b"1 0 31 1\n1 0 31 0\n", "queries:2: document 31 is judged twice for query 1"),
            (read_qrels, b"", "contains no judgements"),
        ],
    )
    def test_what_is_wrong_is_named_with_its_line(self, tmp_path, read, text, said):
        (tmp_path / "queries").write_bytes(text)
        with pytest.raises(BadInput, match=said):
            read(tmp_path / "queries")

    def test_a_broken_gzip_file_is_refused(self, tmp_path):
        (tmp_path / "queries.gz").write_bytes(gzip.compress(b"1\ta\n" * 1000)[:-20])
        with pytest.raises(BadInput, match="gzip"):
            read_queries(tmp_path / "queries.gz")
