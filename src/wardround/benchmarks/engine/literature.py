"""The literature of a named study: what searches its index, and the rungs of the ladder of searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wardround.benchmarks.engine.named_study import Put
from wardround.literature.index.index import BM25, Index
from wardround.literature.index.location import is_address
from wardround.reporting.numbers import listed

DEPTH, SHOWN = 50, 10  # of each rung: hits of a retriever that are fused, and documents that are shown
RUNGS = ("rag@bm25", "rag@dense", "rag@fused", "rag@reranked")
LACKING = {
    "rag@dense": "the index has no vectors",
    "rag@fused": "the index has no vectors",
    "rag@reranked": "no reranker was named (--reranker)",
}


def asks_for_literature(put: Put) -> bool:
    return any(value != "none" for value in put.conditions.get("evidence", []))


def literature_of(put: Put, index: str, reranker: str | None = None) -> dict[str, Any]:
    """The study's [literature]: the paper's retrievers if the index has them, else its usual ones."""
    opened = Index.open(index)
    there = opened.retrievers
    paper = bool(put.retrievers) and set(put.retrievers) <= set(there)
    told: dict[str, Any] = {
        "index": index if is_address(index) else str(Path(index).absolute()),
        "retrievers": put.retrievers if paper else opened.usual,
    }
    searches = rungs(there, reranker)
    asked = [value for value in put.conditions["evidence"] if value in searches]
    return told | ({"searches": {value.removeprefix("rag@"): searches[value] for value in asked}} if asked else {})


def rungs(retrievers: Sequence[str], reranker: str | None) -> dict[str, dict[str, Any]]:
    """The named searches that an index allows: by words, by vectors, by both, and by both read again.

    Each shows as many documents, so that only what finds them differs. Fused is by reciprocal rank.
    """
    dense = [name for name in retrievers if name != BM25]
    fused = {"depth": DEPTH, "fusion": "rrf", "k": SHOWN}
    found: dict[str, dict[str, Any]] = {"rag@bm25": {**fused, "retrievers": [BM25]}}
    if dense:
        found["rag@dense"] = {**fused, "retrievers": dense}
        found["rag@fused"] = {**fused, "retrievers": [BM25, *dense]}
    if reranker:
        found["rag@reranked"] = {**fused, "retrievers": [BM25, *dense], "reranker": reranker}
    return found


def conditions_there(put: Put, literature: Mapping[str, Any]) -> dict[str, list[str]]:
    """The study's conditions without the searches that the index does not allow."""
    named = {f"rag@{name}" for name in literature.get("searches", {})}
    kept = [value for value in put.conditions["evidence"] if value not in RUNGS or value in named]
    return {**put.conditions, "evidence": kept}


def literature_notes(put: Put, declared: Mapping[str, Any]) -> list[str]:
    """What of a run's searches is our choice, and which rungs it lacks."""
    asked = (declared.get("conditions") or {}).get("evidence", [])
    notes = []
    if other := other_retrievers(put, declared):
        notes.append(f"Searched by {listed(other)} (our choice); the paper's retrievers are {listed(put.retrievers)}.")
    lacking: dict[str, list[str]] = {}
    for value in put.conditions.get("evidence", []):
        if value in RUNGS and value not in asked:
            lacking.setdefault(LACKING[value], []).append(value)
    return notes + [f"Without {listed(values)}: {why}." for why, values in lacking.items()]


def other_retrievers(put: Put, declared: Mapping[str, Any]) -> list[str]:
    """What searched instead of the paper's retrievers; empty where these did, or nothing was searched by itself."""
    asked = (declared.get("conditions") or {}).get("evidence", [])
    own = list((declared.get("literature") or {}).get("retrievers", []))
    if not put.retrievers or not {"rag", "agent"} & set(asked) or own == put.retrievers:
        return []
    return own
