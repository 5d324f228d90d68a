"""Evidence for a question: none, the literature that its case cites, or search results; and their controls."""

import re
from collections.abc import Sequence
from typing import Any

from wardround.asking.reasoning import without_reasoning
from wardround.asking.tellings import shown_texts
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.evidence import NO_EVIDENCE, Document, Evidence, parse_documents
from wardround.core.examiner import Examiner
from wardround.core.study_tables.literature import Literature

BLANK = "[...]"  # replaces a masked diagnosis
SEARCH_KEYS = {"retrievers", "depth", "fusion", "combine", "weights", "reranker", "k"}  # arguments of the search tool
MAX_QUERY = 400  # characters of a query that a candidate wrote
_QUERY_LABEL = re.compile(r"^\s*(?:search\s+)?query\s*[:=-]\s*", re.I)
_QUOTES = "\"'`“”‘’ "


async def evidence_for(question: Question, examiner: Examiner) -> Evidence:
    """The documents that the condition shows with a question. An agent finds its own while it is asked."""
    axis_value = examiner.condition.evidence
    if axis_value in ("none", "agent"):
        return NO_EVIDENCE
    if axis_value.startswith("rag"):
        return await _search_evidence(question, examiner)
    if axis_value == "reference-shuffled":
        other = await examiner.use("another", {"case": examiner.case.id})
        return await _read_evidence(examiner, other["pmids"])
    evidence = await _read_evidence(examiner, cited_pmids(examiner.case))
    if axis_value == "reference-masked":
        names = [name for sibling in examiner.case.questions for name in answer_names(sibling)]
        documents = tuple(mask_names(document, names) for document in evidence.documents)
        return Evidence(documents, missing=evidence.missing)
    if axis_value.startswith("reference+"):
        return await _add_unrelated(evidence, int(axis_value.removeprefix("reference+")), examiner)
    return evidence


def cited_pmids(case: Case) -> list[str]:
    """The PMIDs that a case cites, except its own."""
    own = set(case.origin.pmids) if case.origin else set()
    pmids = (reference.pmid for reference in case.references)
    return [pmid for pmid in dict.fromkeys(pmids) if pmid and pmid not in own]


def excluded_pmids(case: Case) -> list[str]:
    """The PMIDs of the case's own article, which no search may find."""
    return sorted(set(case.origin.pmids)) if case.origin else []


def case_query(case: Case, condition: Condition) -> str:
    """The history and the findings of a case, as far as the condition shows them."""
    return "\n".join(text.strip() for text in shown_texts(case, condition).values() if text.strip())


def answer_names(question: Question) -> list[str]:
    """All names of the right answer that the case gives."""
    return [] if question.kind == "rubric" else [question.gold_text, *question.accept]


def mask_names(document: Document, names: Sequence[str]) -> Document:
    """The document with these names blanked, in any case, hyphenation, spacing and number."""
    title, text = document.title, document.text
    for name in sorted(dict.fromkeys(names), key=len, reverse=True):
        words = re.findall(r"\w+", name)
        if words:
            pattern = re.compile(r"(?<!\w)" + r"[\W_]{1,3}".join(map(re.escape, words)) + r"(?:e?s)?(?!\w)", re.I)
            title, text = pattern.sub(BLANK, title), pattern.sub(BLANK, text)
    return Document(document.pmid, title, text)


async def _read_evidence(examiner: Examiner, pmids: Sequence[str]) -> Evidence:
    documents = parse_documents(await examiner.use("read", {"pmids": list(pmids)}))
    present = {document.pmid for document in documents}
    return Evidence(documents, missing=tuple(pmid for pmid in pmids if pmid not in present))


async def _add_unrelated(evidence: Evidence, count: int, examiner: Examiner) -> Evidence:
    """The cited documents with `count` random ones, in random order."""
    without = [*cited_pmids(examiner.case), *excluded_pmids(examiner.case)]
    unrelated = await examiner.use("draw", {"count": count, "seed": f"noise {examiner.case.id}", "without": without})
    documents = [*evidence.documents, *parse_documents(unrelated)]
    examiner.random(f"order of {count} others").shuffle(documents)
    return Evidence(tuple(documents), missing=evidence.missing)


async def _search_evidence(question: Question, examiner: Examiner) -> Evidence:
    search = examiner.literature.search_named(examiner.condition.evidence)
    query = case_query(examiner.case, examiner.condition)
    if search.query == "candidate":
        query = parse_query((await examiner.ask(question, step="query")).text)
    documents = await search_documents(examiner, query, search.model_dump(include=SEARCH_KEYS))
    return Evidence(documents, tuple(document.pmid for document in documents), (query,))


async def search_documents(examiner: Examiner, query: str, settings: dict[str, Any]) -> tuple[Document, ...]:
    """The articles that a search of the study's index returns, without the case's own."""
    return parse_documents(await examiner.use("search", _search_arguments(examiner.case, query, settings)))


def planned_search(case: Case, condition: Condition, literature: Literature | None) -> dict[str, Any] | None:
    """The arguments of the search for a case under a condition, if they are known before anybody is asked."""
    if literature is None or not condition.evidence.startswith("rag"):
        return None
    search = literature.search_named(condition.evidence)
    if search.query == "candidate":
        return None
    return _search_arguments(case, case_query(case, condition), search.model_dump(include=SEARCH_KEYS))


def _search_arguments(case: Case, query: str, settings: dict[str, Any]) -> dict[str, Any]:
    return {"query": query, "without": excluded_pmids(case), **settings}


def parse_query(text: str) -> str:
    """The query in a candidate's reply: its first line with content, without reasoning and quotes."""
    lines = (_QUERY_LABEL.sub("", line) for line in without_reasoning(text).splitlines())
    return next((line.strip(_QUOTES)[:MAX_QUERY] for line in lines if line.strip(_QUOTES)), "")
