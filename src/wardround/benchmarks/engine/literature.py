"""The [literature] settings of a named study: its retrievers and its named searches (`rag@bm25`, `rag@fused`, ...)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wardround.benchmarks.engine.named_study import NamedStudy, StudyTemplate
from wardround.core.study import CandidateSettings
from wardround.core.study_tables.literature import AgentLimits
from wardround.literature.index.index import BM25, Index
from wardround.literature.index.location import is_address
from wardround.reporting.numbers import join_words
from wardround.reporting.run_files import RunFiles

CLOSED_CORPUS = "closed corpus"
UNSTATED = "a corpus that is not stated"
DEPTH, SHOWN = 50, 10  # of each search: hits of a retriever that are fused, and documents that are shown
NAMED_SEARCHES = ("rag@bm25", "rag@dense", "rag@fused", "rag@reranked")
UNAVAILABLE = {
    "rag@dense": "the index has no vectors",
    "rag@fused": "the index has no vectors",
    "rag@reranked": "no reranker was named (--reranker)",
}


def needs_literature(template: StudyTemplate) -> bool:
    return any(value != "none" for value in template.conditions.get("evidence", []))


def literature_settings(
    template: StudyTemplate, index: str, reranker: str | None = None, *, unlimited_agent: bool = False
) -> dict[str, Any]:
    """The study's [literature]: the paper's retrievers if the index has them, else its usual ones."""
    opened = Index.open(index)
    available = opened.retrievers
    has_paper_retrievers = bool(template.retrievers) and set(template.retrievers) <= set(available)
    settings: dict[str, Any] = {
        "index": index if is_address(index) else str(Path(index).absolute()),
        "retrievers": template.retrievers if has_paper_retrievers else opened.default_retrievers,
    }
    if unlimited_agent:
        settings["agent"] = {"turns": "unlimited", "searches": "unlimited"}
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


def name_agents(study: NamedStudy, run: RunFiles) -> NamedStudy:
    """The study with `{searched}` and `{agents}` in its headings and notes replaced by what this run's agents searched.

    An `external` agent searches what its `corpus` says; all other candidates search the study's index.
    """
    candidates, literature = run.study.candidates, run.study.literature
    corpora = {candidate.name: candidate.corpus or UNSTATED for candidate in candidates if _has_own_search(candidate)}
    closed = [candidate.name for candidate in candidates if candidate.name not in corpora]
    parts = [CLOSED_CORPUS] if closed else []
    if len(set(corpora.values())) == 1 and not closed:
        parts += set(corpora.values())
    else:
        parts += [f"{name}: {corpus}" for name, corpus in corpora.items()]
    agents = [f"{name} searches {corpus}" for name, corpus in corpora.items()]
    if closed and literature is not None:
        agents.insert(0, f"wardround's own agent over the given index, {_describe_limits(literature.agent)}")
    words = {"{searched}": "; ".join(parts), "{agents}": "; ".join(agents)}
    definition = study.definition
    columns = [column.model_copy(update={"over": _fill(column.over, words)}) for column in definition.columns]
    update = {
        "columns": columns,
        "choices": [_fill(choice, words) for choice in definition.choices],
        "differs": {_fill(name, words): reason for name, reason in definition.differs.items()},
    }
    return replace(study, definition=definition.model_copy(update=update))


def _has_own_search(candidate: CandidateSettings) -> bool:
    return candidate.provider == "external"


def _describe_limits(limits: AgentLimits) -> str:
    numbers = [(limits.turns, "replies"), (limits.searches, "searches")]
    limited = [f"{limit} {noun}" for limit, noun in numbers if limit != "unlimited"]
    limited.append(f"a transcript of {limits.tokens:,} tokens")
    return f"limited to {join_words(limited)}"


def _fill(text: str, words: Mapping[str, str]) -> str:
    for place, word in words.items():
        text = text.replace(place, word)
    return text


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
