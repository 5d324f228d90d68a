"""The [literature] settings of a named study: its retrievers and its named searches (`rag@bm25`, `rag@fused`, ...)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wardround.benchmarks.engine.named_study import StudyTemplate
from wardround.literature.index.index import BM25, Index
from wardround.literature.index.location import is_address
from wardround.reporting.numbers import join_words

DEPTH, SHOWN = 50, 10  # of each search: hits of a retriever that are fused, and documents that are shown
NAMED_SEARCHES = ("rag@bm25", "rag@dense", "rag@fused", "rag@reranked")
UNAVAILABLE = {
    "rag@dense": "the index has no vectors",
    "rag@fused": "the index has no vectors",
    "rag@reranked": "no reranker was named (--reranker)",
}


def needs_literature(template: StudyTemplate) -> bool:
    return any(value != "none" for value in template.conditions.get("evidence", []))


def literature_settings(template: StudyTemplate, index: str, reranker: str | None = None) -> dict[str, Any]:
    """The study's [literature]: the paper's retrievers if the index has them, else its usual ones."""
    opened = Index.open(index)
    available = opened.retrievers
    has_paper_retrievers = bool(template.retrievers) and set(template.retrievers) <= set(available)
    settings: dict[str, Any] = {
        "index": index if is_address(index) else str(Path(index).absolute()),
        "retrievers": template.retrievers if has_paper_retrievers else opened.default_retrievers,
    }
    searches = named_searches(available, reranker)
    asked = [value for value in template.conditions["evidence"] if value in searches]
    return settings | ({"searches": {value.removeprefix("rag@"): searches[value] for value in asked}} if asked else {})


def named_searches(retrievers: Sequence[str], reranker: str | None) -> dict[str, dict[str, Any]]:
    """The named searches that an index allows: by words, by vectors, by both, and by both with a reranker.

    All show the same number of documents, so that only the search differs. Fusion is by reciprocal rank.
    """
    dense = [name for name in retrievers if name != BM25]
    fused = {"depth": DEPTH, "fusion": "rrf", "k": SHOWN}
    searches: dict[str, dict[str, Any]] = {"rag@bm25": {**fused, "retrievers": [BM25]}}
    if dense:
        searches["rag@dense"] = {**fused, "retrievers": dense}
        searches["rag@fused"] = {**fused, "retrievers": [BM25, *dense]}
    if reranker:
        searches["rag@reranked"] = {**fused, "retrievers": [BM25, *dense], "reranker": reranker}
    return searches


def available_conditions(template: StudyTemplate, literature: Mapping[str, Any]) -> dict[str, list[str]]:
    """The study's conditions without the searches that the index does not allow."""
    available = {f"rag@{name}" for name in literature.get("searches", {})}
    evidence = [value for value in template.conditions["evidence"] if value not in NAMED_SEARCHES or value in available]
    return {**template.conditions, "evidence": evidence}


def literature_notes(template: StudyTemplate, settings: Mapping[str, Any]) -> list[str]:
    """Notes on a run's searches: retrievers other than the paper's, and named searches that it lacks."""
    asked = (settings.get("conditions") or {}).get("evidence", [])
    notes = []
    if other := other_retrievers(template, settings):
        paper = join_words(template.retrievers)
        notes.append(f"Searched by {join_words(other)} (our choice); the paper's retrievers are {paper}.")
    missing: dict[str, list[str]] = {}
    for value in template.conditions.get("evidence", []):
        if value in NAMED_SEARCHES and value not in asked:
            missing.setdefault(UNAVAILABLE[value], []).append(value)
    return notes + [f"Without {join_words(values)}: {reason}." for reason, values in missing.items()]


def other_retrievers(template: StudyTemplate, settings: Mapping[str, Any]) -> list[str]:
    """The run's retrievers if they are not the paper's; empty if they are, or if the run has no search."""
    asked = (settings.get("conditions") or {}).get("evidence", [])
    own = list((settings.get("literature") or {}).get("retrievers", []))
    if not template.retrievers or not {"rag", "agent"} & set(asked) or own == template.retrievers:
        return []
    return own
