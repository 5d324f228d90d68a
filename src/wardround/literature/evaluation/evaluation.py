"""Evaluation: how well an index finds relevant documents, per retriever and fused, with intervals."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from wardround.core.canonical import blake
from wardround.core.errors import WardroundError
from wardround.literature.evaluation.judgements import Judgements
from wardround.literature.evaluation.relevance import Floats, discount, ranking_measures
from wardround.literature.search.hit import Hit
from wardround.literature.search.retrieval import NAMED_FUSIONS, Searchable, fuse

DEPTH = 100  # hits for MAP and MRR
RESAMPLES = 2_000
BASELINE = "bm25"

Ranking = dict[str, list[str]]  # query -> documents, best first


class JudgedIndex(Searchable, Protocol):
    """An index whose articles can be looked up."""

    def articles(self, pmids: Sequence[str]) -> dict[str, Hit]: ...


class QueryMean(NamedTuple):
    """A mean over queries with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Evaluation:
    """Figures by retriever and measure, and the queries and documents that are not in them."""

    figures: dict[str, dict[str, QueryMean]]
    queries: int  # in the figures
    unjudged: list[str] = field(default_factory=list)  # queries without judgements
    irrelevant: list[str] = field(default_factory=list)  # queries without a relevant document
    unasked: list[str] = field(default_factory=list)  # judged queries that were not asked
    missing: list[str] = field(default_factory=list)  # judged documents that are not in the index

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """As JSON: {retriever: {measure: {value, low, high}}}."""
        return {
            name: {measure: figure._asdict() for measure, figure in figures.items()}
            for name, figures in self.figures.items()
        }


def evaluate(
    index: JudgedIndex,
    queries: Mapping[str, str],
    judgements: Judgements,
    *,
    retrievers: Sequence[str] = (),
    depths: Sequence[int] = (10, DEPTH),
    compare: bool = False,
    seed: int = 0,
    note: Callable[[str], None] = lambda text: None,
) -> Evaluation:
    """Runs every judged query with every retriever (default: all of the index) and with their fusions.

    `fused` is reciprocal rank fusion at depth 100, `fused-paper` CURE's fusion of five hits each; `fused - bm25` is
    the paired difference. `compare` adds that of every other retriever. Judged documents that are not in the index
    stay in the denominators.
    """
    names = list(retrievers) or index.retrievers
    if unknown := [name for name in names if name not in index.retrievers]:
        raise WardroundError(f"the index has no retriever {', '.join(unknown)}; it has {', '.join(index.retrievers)}")
    asked = [query for query in queries if any(grade > 0 for grade in judgements.get(query, {}).values())]
    if not asked:
        raise WardroundError("no query has a document that was judged relevant: are these the qrels of these queries?")
    ranked = rankings(index, {query: queries[query] for query in asked}, names, max(DEPTH, *depths), note)
    values = {
        name: query_figures(asked, ranking, judgements, sorted({10, *depths})) for name, ranking in ranked.items()
    }
    if BASELINE in names:
        pairs = [name for name in values if name != BASELINE] if compare else ["fused"]
        values |= {f"{name} - {BASELINE}": _difference(values[name], values[BASELINE]) for name in pairs}
    documents = sorted({document for query in asked for document in judgements[query]})
    known = index.articles(documents)
    return Evaluation(
        figures=intervals(values, seed),
        queries=len(asked),
        unjudged=[query for query in queries if query not in judgements],
        irrelevant=[query for query in queries if query in judgements and query not in set(asked)],
        unasked=[query for query in judgements if query not in queries],
        missing=[document for document in documents if document not in known],
    )


def rankings(
    index: Searchable,
    queries: Mapping[str, str],
    retrievers: Sequence[str],
    depth: int,
    note: Callable[[str], None] = lambda text: None,
) -> dict[str, Ranking]:
    """The documents that each retriever and each fusion returns for each query."""
    hits_by_name: dict[str, dict[str, list[Hit]]] = {}
    for name in retrievers:
        note(f"{name}: {len(queries)} queries")
        hits_by_name[name] = dict(zip(queries, index.search_all(list(queries.values()), name, depth), strict=True))
    hit_lists = {query: [hits_by_name[name][query] for name in retrievers] for query in queries}
    for name, retrieval in NAMED_FUSIONS.items():
        hits_by_name[name] = {query: fuse(hits, retrieval)[:depth] for query, hits in hit_lists.items()}
    return {
        name: {query: [hit.pmid for hit in hits] for query, hits in ranked.items()}
        for name, ranked in hits_by_name.items()
    }


def query_figures(
    queries: Sequence[str], ranked: Ranking, judgements: Judgements, depths: Sequence[int]
) -> dict[str, Floats]:
    """nDCG@k, recall@k, precision@k, MAP and MRR of each query; each has a relevant document.

    Gains are the judged grades, as in trec_eval.
    """
    relevant = [{document: grade for document, grade in judgements[query].items() if grade > 0} for query in queries]
    hits = [
        (index, rank, relevant[index][document])
        for index, query in enumerate(queries)
        for rank, document in enumerate(ranked[query], 1)
        if document in relevant[index]
    ]
    search, rank, gain = np.array(hits, dtype=np.int64).reshape(-1, 3).T
    figures = ranking_measures(
        search,
        rank.astype(np.float64),
        np.array([len(documents) for documents in relevant]),
        depths,
        gain.astype(np.float64),
        {k: np.array([_best_dcg(documents.values(), k) for documents in relevant]) for k in depths},
    )
    order = [f"{name}@{k}" for name in ("ndcg", "recall", "precision") for k in depths]
    return {name: figures[name] for name in [*order, "map", "mrr"]}


def intervals(values: Mapping[str, Mapping[str, Floats]], seed: int = 0) -> dict[str, dict[str, QueryMean]]:
    """Means over queries with percentile bootstrap intervals; all figures use the same resamples of the queries."""
    columns = [(name, measure) for name, figures in values.items() for measure in figures]
    table = np.column_stack([values[name][measure] for name, measure in columns])
    random = np.random.default_rng(int.from_bytes(blake([seed, "literature eval"])[:16], "big"))
    count = len(table)
    means = np.array([table[random.integers(0, count, count)].mean(axis=0) for _ in range(RESAMPLES)])
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    means_by_name: dict[str, dict[str, QueryMean]] = {name: {} for name in values}
    for (name, measure), *numbers in zip(columns, table.mean(axis=0), low, high, strict=True):
        means_by_name[name][measure] = QueryMean(*map(float, numbers))
    return means_by_name


def _best_dcg(grades: Iterable[int], k: int) -> float:
    best = np.sort(np.fromiter(grades, dtype=np.float64))[::-1][:k]
    return float((best * discount(np.arange(1, len(best) + 1))).sum())


def _difference(first: Mapping[str, Floats], second: Mapping[str, Floats]) -> dict[str, Floats]:
    return {measure: first[measure] - second[measure] for measure in first}
