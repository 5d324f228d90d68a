"""Many queries scored together have the best documents that adding up every posting gives."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from wardround.literature.words import batch_scoring
from wardround.literature.words.batch_scoring import BestDocuments, PartLists, WeightedTerms, score_part_for_all
from wardround.literature.words.lists import invert
from wardround.literature.words.terms import Occurrences

DOCUMENTS = 2 * batch_scoring.WINDOW + 1_000
TERMS, QUERIES, FIRST = 30, 40, 7_000


@pytest.fixture(scope="module")
def counts() -> NDArray[np.int64]:
    """How often each document has each term: the first terms are in most documents, the last in a few."""
    random = np.random.default_rng(3)
    rates = np.geomspace(1.5, 1e-4, TERMS)
    return random.poisson(rates, (DOCUMENTS, TERMS))


@pytest.mark.parametrize("limit", [1, 13])
def test_many_queries_find_what_adding_up_everything_finds(
    counts: NDArray[np.int64], limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_scoring, "TOGETHER", 7)
    random = np.random.default_rng(4)
    lengths = counts.sum(axis=1).astype(np.uint16)
    norms = random.random(int(lengths.max()) + 1).astype(np.float32) + np.float32(0.3)
    allowed = random.random(DOCUMENTS) < 0.9
    document, term = np.nonzero(counts)
    repeats = counts[document, term]
    names = pl.Series("term", [f"t{number:02}" for number in range(TERMS)])
    lists = invert(Occurrences(names, np.repeat(term, repeats), np.repeat(document, repeats), lengths.astype(np.int64)))
    lists_of_terms = PartLists(lists.data, lists.starts[:-1], lists.sizes)
    chosen = [random.choice(TERMS, random.integers(0, 20), replace=False) for _ in range(QUERIES)]
    weights = [np.sort(random.random(len(terms)).astype(np.float32))[::-1] * 9 for terms in chosen]
    starts = np.cumsum([0, *map(len, chosen)])
    queries = WeightedTerms(starts, np.concatenate(chosen), np.concatenate(weights))
    best = BestDocuments.none(QUERIES, limit)

    with ThreadPoolExecutor(2) as pool:
        score_part_for_all(lists_of_terms, queries, lengths, norms, allowed, FIRST, best, pool)

    for query, (terms, own) in enumerate(zip(chosen, weights, strict=True)):
        scores = np.zeros(DOCUMENTS, np.float32)
        for number, weight in zip(terms, own, strict=True):
            often = counts[:, number].astype(np.float32)
            scores += weight * (often / (often + norms[lengths]))
        scores[~allowed] = 0
        expected = np.sort(scores[scores > 0])[::-1][:limit]
        count = best.counts[query]
        assert np.sort(best.scores[query, :count])[::-1].tolist() == expected.tolist()
        assert scores[best.documents[query, :count] - FIRST].tolist() == best.scores[query, :count].tolist()
