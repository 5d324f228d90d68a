"""Judged data through the commands, invented and real: SciFact's claims, and PubMedQA's questions."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from invented_articles import invented_articles, write_pubmedqa, write_scifact

from wardround.cli.main import main
from wardround.literature.index.index import Index

DATA = Path(__file__).parents[3] / "shared" / "data"
DOCS = Path(__file__).parents[2] / "docs" / "literature"


def real_data(test):
    """Marks a test that needs the real data, and says so if they are not here."""
    has_data = (DATA / "retrieval" / "scifact.zip").exists()
    return pytest.mark.slow(
        pytest.mark.skipif(not has_data, reason="real judgements: ../shared/data is not here")(test)
    )


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


def evaluate_scifact(data, measure, wardround, folder):
    articles = measure.scifact_articles(data / "retrieval" / "scifact.zip", folder)
    wardround("build", articles, "--out", folder / "index", "--column", "wordllama")
    queries = ["--queries", data / "retrieval" / "topics.scifact.tsv.gz"]
    qrels = ["--qrels", data / "retrieval" / "qrels.scifact.txt"]
    figures = json.loads(wardround("eval", "--index", folder / "index", *queries, *qrels, "--json"))
    assert list(figures) == ["bm25", "wordllama", "fused", "fused-paper", "fused - bm25"]
    return figures


def evaluate_pubmedqa(data, measure, wardround, folder):
    articles, queries, qrels = measure.pubmedqa_files(data / "pubmedqa" / "ori_pqal.json", folder)
    wardround("build", articles, "--out", folder / "index", "--column", "wordllama")
    asked = ["--queries", queries, "--qrels", qrels, "--k", "1", "10"]
    return json.loads(wardround("eval", "--index", folder / "index", *asked, "--json"))


def test_bm25_finds_the_one_abstract_that_names_the_drug_of_a_claim(measure, wardround, tmp_path):
    write_scifact(tmp_path, invented_articles(60))
    figures = evaluate_scifact(tmp_path, measure, wardround, tmp_path)
    assert figures["bm25"]["ndcg@10"]["value"] == 1
    assert figures["wordllama"]["ndcg@10"]["value"] < 1


def test_bm25_finds_the_abstract_of_each_invented_question(measure, wardround, tmp_path):
    write_pubmedqa(tmp_path, invented_articles(60))
    figures = evaluate_pubmedqa(tmp_path, measure, wardround, tmp_path)
    assert figures["bm25"]["recall@1"]["value"] == 1
    assert figures["fused"]["recall@10"]["value"] >= figures["wordllama"]["recall@10"]["value"]


@real_data
def test_bm25_on_scifact_is_a_serious_baseline(measure, wardround, tmp_path):
    figures = evaluate_scifact(DATA, measure, wardround, tmp_path)
    constants = Index.open(tmp_path / "index").about["bm25"]
    assert (constants["k1"], constants["b"]) == (1.2, 0.75)  # LanceDB's own: nothing here was fitted to test queries
    bm25 = figures["bm25"]["ndcg@10"]
    assert bm25["value"] >= 0.675
    assert bm25["low"] < bm25["value"] < bm25["high"]
    assert figures["fused"]["ndcg@10"]["value"] > figures["wordllama"]["ndcg@10"]["value"]


@real_data
def test_real_questions_find_their_own_abstracts(measure, wardround, tmp_path):
    figures = evaluate_pubmedqa(DATA, measure, wardround, tmp_path)
    assert figures["wordllama"]["recall@1"]["value"] == pytest.approx(0.786, abs=0.02)
    assert figures["bm25"]["recall@1"]["value"] > 0.9
    assert figures["fused"]["recall@10"]["value"] > figures["wordllama"]["recall@10"]["value"]
