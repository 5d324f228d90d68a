"""Evaluation: how well an index finds what was judged relevant, per retriever and fused, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from wardround.core.canonical import blake
from wardround.core.errors import WardroundError
from wardround.literature.evaluation.judgements import Judgements
from wardround.literature.evaluation.relevance import Floats, discount, figures_by_rank
from wardround.literature.search.hit import Hit
from wardround.literature.search.retrieval import NAMED, Searched, fused

DEPTH = 100  # hits over which MAP and MRR are taken
RESAMPLES = 2_000
BASELINE = "bm25"

Ranked = dict[str, list[str]]  # query -> documents, best first


class Judged(Searched, Protocol):
    """An index whose articles can be looked up."""

    def articles(self, pmids: Sequence[str]) -> dict[str, Hit]: ...


class Figure(NamedTuple):
    """A mean over queries with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Evaluation:
    """Figures by retriever and measure, and what they were not taken over."""

    figures: dict[str, dict[str, Figure]]
    queries: int  # over which they were taken
    unjudged: list[str] = field(default_factory=list)  # queries without judgements
    irrelevant: list[str] = field(default_factory=list)  # queries for which nothing was judged relevant
    unasked: list[str] = field(default_factory=list)  # judged queries that are not among the queries
    missing: list[str] = field(default_factory=list)  # judged documents that the index does not hold

    def told(self) -> dict[str, dict[str, dict[str, float]]]:
        """As JSON: {retriever: {measure: {value, low, high}}}."""
        return {
            name: {measure: figure._asdict() for measure, figure in figures.items()}
            for name, figures in self.figures.items()
        }


def evaluate(
    index: Judged,
    queries: Mapping[str, str],
    judged: Judgements,
    *,
    retrievers: Sequence[str] = (),
    depths: Sequence[int] = (10, DEPTH),
    compare: bool = False,
    seed: int = 0,
    tell: Callable[[str], None] = lambda text: None,
) -> Evaluation:
    """Asks every query with judgements of every retriever (all of the index unless named) and of their fusions.

    `fused` is reciprocal rank fusion at depth 100, `fused-paper` CURE's fusion of five hits each; `fused - bm25` is
    the paired difference. `compare` adds that of each other retriever. Judged documents that the index does not hold
    stay in the denominators.
    """
    names = list(retrievers) or index.retrievers
    if unknown := [name for name in names if name not in index.retrievers]:
        raise WardroundError(f"the index has no retriever {', '.join(unknown)}; it has {', '.join(index.retrievers)}")
    asked = [query for query in queries if any(grade > 0 for grade in judged.get(query, {}).values())]
    if not asked:
        raise WardroundError("no query has a document that was judged relevant: are these the qrels of these queries?")
    ranked = rankings(index, {query: queries[query] for query in asked}, names, max(DEPTH, *depths), tell)
    values = {name: query_figures(asked, found, judged, sorted({10, *depths})) for name, found in ranked.items()}
    if BASELINE in names:
        pairs = [name for name in values if name != BASELINE] if compare else ["fused"]
        values |= {f"{name} - {BASELINE}": _difference(values[name], values[BASELINE]) for name in pairs}
    documents = sorted({document for query in asked for document in judged[query]})
    held = index.articles(documents)
    return Evaluation(
        figures=intervals(values, seed),
        queries=len(asked),
        unjudged=[query for query in queries if query not in judged],
        irrelevant=[query for query in queries if query in judged and query not in set(asked)],
        unasked=[query for query in judged if query not in queries],
        missing=[document for document in documents if document not in held],
    )


def rankings(
    index: Searched,
    queries: Mapping[str, str],
    retrievers: Sequence[str],
    depth: int,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Ranked]:
    """What each retriever and each fusion of them finds for each query."""
    found: dict[str, dict[str, list[Hit]]] = {}
    for name in retrievers:
        tell(f"{name}: {len(queries)} queries")
        found[name] = {query: index.search(text, name, depth) for query, text in queries.items()}
    each = {query: [found[name][query] for name in retrievers] for query in queries}
    for name, retrieval in NAMED.items():
        found[name] = {query: fused(hits, retrieval)[:depth] for query, hits in each.items()}
    return {
        name: {query: [hit.pmid for hit in hits] for query, hits in ranked.items()} for name, ranked in found.items()
    }


def query_figures(
    queries: Sequence[str], ranked: Ranked, judged: Judgements, depths: Sequence[int]
) -> dict[str, Floats]:
    """nDCG@k, recall@k, precision@k, MAP and MRR of each query; each has a document that was judged relevant.

    Gains are the judged grades themselves, as in trec_eval.
    """
    relevant = [{document: grade for document, grade in judged[query].items() if grade > 0} for query in queries]
    told = [
        (place, rank, relevant[place][document])
        for place, query in enumerate(queries)
        for rank, document in enumerate(ranked[query], 1)
        if document in relevant[place]
    ]
    search, rank, gain = np.array(told, dtype=np.int64).reshape(-1, 3).T
    figures = figures_by_rank(
        search,
        rank.astype(np.float64),
        np.array([len(documents) for documents in relevant]),
        depths,
        gain.astype(np.float64),
        {k: np.array([_best_dcg(documents.values(), k) for documents in relevant]) for k in depths},
    )
    order = [f"{name}@{k}" for name in ("ndcg", "recall", "precision") for k in depths]
    return {name: figures[name] for name in [*order, "map", "mrr"]}


def intervals(values: Mapping[str, Mapping[str, Floats]], seed: int = 0) -> dict[str, dict[str, Figure]]:
    """Means over queries with percentile bootstrap intervals: all figures over the same resamples of the queries."""
    columns = [(name, measure) for name, figures in values.items() for measure in figures]
    table = np.column_stack([values[name][measure] for name, measure in columns])
    random = np.random.default_rng(int.from_bytes(blake([seed, "literature eval"])[:16], "big"))
    many = len(table)
    means = np.array([table[random.integers(0, many, many)].mean(axis=0) for _ in range(RESAMPLES)])
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    told: dict[str, dict[str, Figure]] = {name: {} for name in values}
    for (name, measure), *figure in zip(columns, table.mean(axis=0), low, high, strict=True):
        told[name][measure] = Figure(*map(float, figure))
    return told


def _best_dcg(grades: Iterable[int], k: int) -> float:
    best = np.sort(np.fromiter(grades, dtype=np.float64))[::-1][:k]
    return float((best * discount(np.arange(1, len(best) + 1))).sum())


def _difference(a: Mapping[str, Floats], b: Mapping[str, Floats]) -> dict[str, Floats]:
    return {measure: a[measure] - b[measure] for measure in a}
