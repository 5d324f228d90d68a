"""Tuning: weights for fusion that judged queries choose, and the figure of queries that did not choose."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from exam_study import wardround
from fake_index import FakeIndex

from wardround.core.errors import WardroundError
from wardround.literature.evaluation.evaluation import evaluate
from wardround.literature.evaluation.tuning import tune, weight_grid
from wardround.literature.search.hit import Hit

QUERIES = {f"q{number}": f"q{number}" for number in range(60)}
HITS = [Hit(f"{number:03}", 0.0, f"t{number}", "") for number in range(40)]


def relevant(query: str) -> str:
    return f"{random.Random(query).randrange(40):03}"


QRELS = {query: {relevant(query): 1} for query in QUERIES}


def noise(query: str, hit: Hit) -> float:
    return random.Random(f"{query} {hit.pmid}").random() + 0.01


def vague(query: str, hit: Hit) -> float:
    return noise(query, hit) + (0.6 if hit.pmid == relevant(query) else 0)


def sharp(query: str, hit: Hit) -> float:
    return noise(f"other {query}", hit) + (1.0 if hit.pmid == relevant(query) else 0)


def test_a_better_retriever_gets_the_weight_and_the_fusion_helps() -> None:
    tuning = tune(FakeIndex(HITS, {"bm25": vague, "dense": sharp}), QUERIES, QRELS)
    assert tuning.weights["dense"] > 0.5
    assert tuning.helps
    assert tuning.queries == 60


def test_a_useless_retriever_gets_no_weight_and_the_fusion_does_not_help() -> None:
    tuning = tune(FakeIndex(HITS, {"bm25": sharp, "dense": noise}), QUERIES, QRELS)
    assert tuning.weights["bm25"] >= 0.9
    assert not tuning.helps


def test_pure_noise_is_not_found_to_help() -> None:
    """Both retrievers know nothing: weights are chosen, and the held-out difference still holds 0."""
    for seed in range(5):
        scores = {name: lambda query, hit, key=f"{name} {seed}": noise(f"{key} {query}", hit) for name in ("bm25", "x")}
        assert not tune(FakeIndex(HITS, scores), QUERIES, QRELS).helps


def test_equal_weights_and_bm25_have_the_figures_of_eval() -> None:
    index = FakeIndex(HITS, {"bm25": vague, "dense": sharp})
    figures = evaluate(index, QUERIES, QRELS).figures
    held_out = tune(index, QUERIES, QRELS).held_out
    assert held_out["equal weights"] == pytest.approx(figures["fused"]["ndcg@10"])
    assert held_out["bm25"] == pytest.approx(figures["bm25"]["ndcg@10"])


def test_the_grid_sums_to_one_and_prefers_bm25_among_equals() -> None:
    for count, rows in ((2, 22), (3, 67), (4, 85)):
        grid = weight_grid(count)
        assert len(grid) == rows
        assert grid.sum(axis=1) == pytest.approx(1)
        assert grid[0].tolist() == [1.0] + [0.0] * (count - 1)


def test_too_little_to_learn_from_is_refused() -> None:
    few = dict(list(QUERIES.items())[:24])
    with pytest.raises(WardroundError, match="24 queries have a relevant document; tuning needs 25 or more"):
        tune(FakeIndex(HITS), few, QRELS)
    with pytest.raises(WardroundError, match="nothing to fuse"):
        tune(FakeIndex(HITS, {"bm25": vague}), QUERIES, QRELS)


def test_weights_are_kept_in_the_index_and_used_by_fused(tmp_path: Path) -> None:
    words = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("ane", "ile", "ose", "ium")]
    articles = [{"pmid": str(number), "title": f"{word} trial"} for number, word in enumerate(words)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(article) + "\n" for article in articles))
    (tmp_path / "q.tsv").write_text("".join(f"q{number}\t{word}\n" for number, word in enumerate(words)))
    (tmp_path / "qrels").write_text("".join(f"q{number} 0 {number} 1\n" for number in range(len(words))))
    assert wardround("literature", "build", "a.jsonl", "--out", "index", cwd=tmp_path).returncode == 0
    search = ["literature", "search", words[0], "--index", "index", "--json"]
    assert json.loads(wardround(*search, cwd=tmp_path).stdout)["retriever"] == "bm25"

    tuned = wardround("literature", "tune", "index", "--queries", "q.tsv", "--qrels", "qrels", cwd=tmp_path)

    assert "nDCG@10 of 48 queries" in tuned.stdout
    assert "fused is not shown to be better than bm25" in tuned.stdout  # the words alone find every article
    hits = json.loads(wardround(*search, "--retriever", "fused", cwd=tmp_path).stdout)["hits"]
    assert [hit["pmid"] for hit in hits] == ["0"]  # bm25 has all of the weight
