"""Evidence for a question: none, what its case cites, or what a search finds; and the controls of these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from wardround.asking.applicable import told
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.evidence import NO_EVIDENCE, Document, Evidence, documents_told
from wardround.core.examiner import Hall
from wardround.core.study import Literature

BLANK = "[...]"  # what a masked diagnosis becomes
LONGEST_QUERY = 400  # characters of a query that a candidate wrote
_QUOTES = "\"'`“”‘’ "


async def evidence_for(question: Question, hall: Hall) -> Evidence:
    """The documents that the condition shows with a question. An agent's are found while it is asked."""
    asked = hall.condition.evidence
    if asked in ("none", "agent"):
        return NO_EVIDENCE
    if asked.startswith("rag"):
        return await _searched(question, hall)
    if asked == "reference-shuffled":
        other = await hall.use("another", {"case": hall.case.id})
        return await _read(hall, other["pmids"])
    evidence = await _read(hall, cited(hall.case))
    if asked == "reference-masked":
        names = [name for each in hall.case.questions for name in names_of(each)]
        masked = tuple(masked_in(document, names) for document in evidence.documents)
        return Evidence(masked, missing=evidence.missing)
    if asked.startswith("reference+"):
        return await _with_others(evidence, int(asked.removeprefix("reference+")), hall)
    return evidence


def why_no_evidence(case: Case, condition: Condition, literature: Literature | None) -> str | None:
    """Why the condition's evidence cannot be shown, or None if it can."""
    asked = condition.evidence
    if asked == "none":
        return None
    if condition.stem != "full":
        return "evidence is shown with the full stem only"
    if asked.startswith("reference") and not cited(case):
        return "the case cites no literature"
    if asked == "agent" and condition.confidence == "logprobs":
        return "an agent's answer has no option log-probabilities"
    by_case = asked.startswith("rag") and literature is not None and literature.search_named(asked).query == "case"
    if by_case and not query_of(case, condition):
        return "there is no history or finding to search with"
    return None


def cited(case: Case) -> list[str]:
    """The PMIDs that a case cites, but for its own."""
    own = set(case.origin.pmids) if case.origin else set()
    named = (reference.pmid for reference in case.references)
    return [pmid for pmid in dict.fromkeys(named) if pmid and pmid not in own]


def excluded(case: Case) -> list[str]:
    """The PMIDs of the case's own article, which no search may find."""
    return sorted(set(case.origin.pmids)) if case.origin else []


def query_of(case: Case, condition: Condition) -> str:
    """The query of a case: its history, and its findings where they are shown."""
    history, _ = told(case, condition)
    parts = [history if condition.shows("history") else None, case.findings if condition.shows("findings") else None]
    return "\n".join(part.strip() for part in parts if part and part.strip())


def names_of(question: Question) -> list[str]:
    """All names of the right answer that the case gives."""
    gold = question.choices[int(question.gold)] if question.kind == "choice" else str(question.gold)
    return [gold, *question.accept]


def masked_in(document: Document, names: Sequence[str]) -> Document:
    """The document with these names blanked, whatever their case, hyphens, plural or spacing."""
    title, text = document.title, document.text
    for name in sorted(dict.fromkeys(names), key=len, reverse=True):
        words = re.findall(r"\w+", name)
        if words:
            pattern = re.compile(r"(?<!\w)" + r"[\W_]{1,3}".join(map(re.escape, words)) + r"(?:e?s)?(?!\w)", re.I)
            title, text = pattern.sub(BLANK, title), pattern.sub(BLANK, text)
    return Document(document.pmid, title, text)


async def _read(hall: Hall, pmids: Sequence[str]) -> Evidence:
    documents = documents_told(await hall.use("read", {"pmids": list(pmids)}))
    there = {document.pmid for document in documents}
    return Evidence(documents, missing=tuple(pmid for pmid in pmids if pmid not in there))


async def _with_others(evidence: Evidence, count: int, hall: Hall) -> Evidence:
    """The cited documents with so many drawn ones, all in a drawn order."""
    without = [*cited(hall.case), *excluded(hall.case)]
    drawn = await hall.use("draw", {"count": count, "seed": f"noise {hall.case.id}", "without": without})
    mixed = [*evidence.documents, *documents_told(drawn)]
    hall.random(f"order of {count} others").shuffle(mixed)
    return Evidence(tuple(mixed), missing=evidence.missing)


async def _searched(question: Question, hall: Hall) -> Evidence:
    search = hall.literature.search_named(hall.condition.evidence)
    query = query_of(hall.case, hall.condition)
    if search.query == "candidate":
        query = first_line((await hall.ask(question, step="query")).text)
    documents = await found(hall, query, search.model_dump(include=set(type(search).model_fields) & SETTINGS))
    return Evidence(documents, tuple(document.pmid for document in documents), (query,))


SETTINGS = {"retrievers", "depth", "fusion", "combine", "weights", "reranker", "k"}  # of a search, for its tool


async def found(hall: Hall, query: str, settings: dict[str, Any]) -> tuple[Document, ...]:
    """What a search of the study's index finds, but for the case's own article."""
    arguments = {"query": query, "without": excluded(hall.case), **settings}
    return documents_told(await hall.use("search", arguments))


def first_line(text: str) -> str:
    """A query as a candidate wrote it: the first line that says something, without quotes."""
    lines = (re.sub(r"^\s*(?:search\s+)?query\s*[:=-]\s*", "", line, flags=re.I) for line in text.splitlines())
    return next((line.strip(_QUOTES)[:LONGEST_QUERY] for line in lines if line.strip(_QUOTES)), "")
