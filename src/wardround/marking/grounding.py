"""Grounding: whether the documents that were shown support a diagnosis (CURE, specs/protocols.md 2.2).

The support test is our choice: a document names the diagnosis, or holds at least 80% of its content words within
30 words; or a judge says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import polars as pl

from wardround.asking.evidence import cited, names_of
from wardround.asking.prompts import Prompts
from wardround.candidates.candidate import Request
from wardround.core.ask import Answer, Identity, Sampling
from wardround.core.case import Case, Question
from wardround.core.evidence import Evidence
from wardround.marking.judge import YES_OR_NO, judge_request, stated, within
from wardround.marking.judges import judged_diagnoses
from wardround.marking.lexical import NO_SYNONYMS, Synonyms, content, tokens

WINDOW = 30
ENOUGH = 8  # tenths of the content words
LONGEST_DOCUMENTS = 24_000  # characters that a judge is shown
EVIDENCE_SCHEMA: dict[str, Any] = {
    "covered": pl.Boolean,
    "relevant": pl.Int32,
    "relevant_ranks": pl.List(pl.Int32),
}


def evidence_marks(
    case: Case, question: Question, answer: Answer, option: int | None, evidence: Evidence
) -> dict[str, Any]:
    """What the documents that were shown say of an answer, and what a search brought of what the case cites."""
    documents = [f"{document.title}\n{document.text}" for document in evidence.documents]
    names = names_of(question)
    synonyms = Synonyms([(names[0], other) for other in names[1:]])
    told: dict[str, Any] = {"covered": coverage(names[0], names[1:], documents)}
    first = question.choices[option] if option is not None else next(iter(_diagnoses(question, answer)), None)
    if first is not None:
        told["grounded"] = grounded(first, documents, synonyms)
    wanted = cited(case)
    if evidence.queries or evidence.found:
        ranks = [rank for rank, pmid in enumerate(evidence.found, 1) if pmid in wanted]
        told |= {"relevant": len(wanted), "relevant_ranks": ranks}
    return told


def _diagnoses(question: Question, answer: Answer) -> list[str]:
    return judged_diagnoses(answer.text) if question.kind == "open" else []


def grounded(diagnosis: str, documents: Sequence[str], synonyms: Synonyms = NO_SYNONYMS) -> bool:
    """Whether one of the documents supports the diagnosis, under any of its names."""
    names = [name for name in synonyms.of(diagnosis) if content(name)]
    return any(_supports(_words(document), name) for document in documents for name in names)


def coverage(gold: str, accept: Sequence[str], documents: Sequence[str], synonyms: Synonyms = NO_SYNONYMS) -> bool:
    """Whether the documents contain the true diagnosis, under any of its names."""
    return any(grounded(name, documents, synonyms) for name in (gold, *accept))


def evidence_outcome(right: bool, grounded: bool) -> str:
    """CURE's four outcomes: whether the first diagnosis is right, and whether the documents support it."""
    if right:
        return "evidence_based_correct" if grounded else "knowledge_based_correct"
    return "evidence_misled" if grounded else "hallucination"


@lru_cache(4096)
def _words(document: str) -> list[str]:
    return tokens(document)


def _supports(document: list[str], name: str) -> bool:
    if f" {' '.join(tokens(name))} " in f" {' '.join(document)} ":
        return True
    wanted = set(content(name))
    needed = -(-ENOUGH * len(wanted) // 10)
    places = [(place, word) for place, word in enumerate(document) if word in wanted]
    inside: dict[str, int] = {}  # words of the name in the window that ends here, each with its last place
    for place, word in places:
        inside[word] = place
        if sum(last > place - WINDOW for last in inside.values()) >= needed:
            return True
    return False


def support_request(
    diagnosis: str, documents: Sequence[str], identity: Identity, sampling: Sampling, prompts: Prompts
) -> Request:
    """Asks a judge whether the documents support the diagnosis."""
    shown = "\n".join(f"[{number}] {' '.join(document.split())}" for number, document in enumerate(documents, 1))
    slots = {"diagnosis": within(diagnosis), "documents": shown[:LONGEST_DOCUMENTS]}
    gold = 0 if grounded(diagnosis, documents) else 1
    return judge_request("support", slots, ["yes", "no"], gold, identity, sampling, prompts)


def read_support(answer: Answer | None) -> bool | None:
    """Whether the judge said yes; None where it said nothing that can be read."""
    return None if answer is None else stated(answer.text, YES_OR_NO)
