"""Real judged data through the commands: SciFact's claims, and PubMedQA's questions with their own abstracts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from wardround.cli.main import main
from wardround.literature.index.index import Index

DATA = Path(__file__).parents[3] / "shared" / "data"
DOCS = Path(__file__).parents[2] / "docs" / "literature"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA / "retrieval" / "scifact.zip").exists(), reason="the shared data is not here"),
]


@pytest.fixture
def measure(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import measure

    return measure


@pytest.fixture
def wardround(monkeypatch, capfd):
    """Runs a command; returns what it printed."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["wardround", "literature", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capfd.readouterr()
        assert ended.value.code == 0, said.err
        return said.out

    return run


def test_bm25_on_scifact_is_a_serious_baseline(measure, wardround, tmp_path):
    articles = measure.scifact_articles(DATA / "retrieval" / "scifact.zip", tmp_path)
    wardround("build", articles, "--out", tmp_path / "index", "--column", "wordllama")
    constants = Index.open(tmp_path / "index").about["bm25"]
    assert (constants["k1"], constants["b"]) == (1.2, 0.75)  # LanceDB's own: nothing here was fitted to test queries
    queries = ["--queries", DATA / "retrieval" / "topics.scifact.tsv.gz"]
    qrels = ["--qrels", DATA / "retrieval" / "qrels.scifact.txt"]
    told = json.loads(wardround("eval", "--index", tmp_path / "index", *queries, *qrels, "--json"))
    assert list(told) == ["bm25", "wordllama", "fused", "fused-paper", "fused - bm25"]
    assert told["bm25"]["ndcg@10"]["value"] >= 0.675
    assert told["bm25"]["ndcg@10"]["low"] < told["bm25"]["ndcg@10"]["value"] < told["bm25"]["ndcg@10"]["high"]
    assert told["fused"]["ndcg@10"]["value"] > told["wordllama"]["ndcg@10"]["value"]


def test_questions_find_their_own_abstracts(measure, wardround, tmp_path):
    articles, queries, qrels = measure.pubmedqa_files(DATA / "pubmedqa" / "ori_pqal.json", tmp_path)
    wardround("build", articles, "--out", tmp_path / "index", "--column", "wordllama")
    asked = ["--queries", queries, "--qrels", qrels, "--k", "1", "10"]
    told = json.loads(wardround("eval", "--index", tmp_path / "index", *asked, "--json"))
    assert told["wordllama"]["recall@1"]["value"] == pytest.approx(0.786, abs=0.02)
    assert told["bm25"]["recall@1"]["value"] > 0.9
    assert told["fused"]["recall@10"]["value"] > told["wordllama"]["recall@10"]["value"]
