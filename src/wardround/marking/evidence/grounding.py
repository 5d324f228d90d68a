"""Grounding: whether the documents that were shown support a diagnosis (CURE, specs/protocols.md 2.2).

The support test is our choice, as the paper names none: one document holds at least 80% of the content words of one of
the diagnosis' names within 30 words that reach over no more than one sentence end, and does not deny them there
(negation.py). What is left out of a name may not decide it (acute or chronic, a side, a number). Or a judge says so
(support_judge.py). How often the rule errs is measured on labelled pairs (support_error.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import polars as pl

from wardround.asking.evidence import cited, names_of
from wardround.core.ask import Answer
from wardround.core.case import Case, Question
from wardround.core.evidence import Evidence
from wardround.marking.evidence.document import Read, joined, read
from wardround.marking.judges.judge import judged_diagnoses
from wardround.marking.judges.lexical_judge import DECIDING, NO_SYNONYMS, Synonyms, content, form, same_disease

VERSION = "support-2"
WINDOW = 30
KEPT = 500_000  # verdicts that are remembered
ENOUGH = 8  # tenths of the content words
EVIDENCE_SCHEMA: dict[str, Any] = {
    "covered": pl.Boolean,
    "relevant": pl.Int32,
    "relevant_ranks": pl.List(pl.Int32),
}
Test = Callable[[Sequence[str], Sequence[str]], bool | None]  # (names of a diagnosis, documents) -> do they support it?


def evidence_marks(
    case: Case,
    question: Question,
    answer: Answer,
    judged: dict[str, Any],
    evidence: Evidence,
    synonyms: Synonyms,
    test: Test,
) -> dict[str, Any]:
    """What the documents that were shown say of a judged answer, and what a search brought of what the case cites."""
    documents = texts(evidence)
    told: dict[str, Any] = {"covered": test(true_names(question, synonyms), documents)}
    if names := answered_names(question, answer, judged, synonyms):
        told["grounded"] = test(names, documents)
    wanted = cited(case)
    if evidence.queries or evidence.found:
        ranks = [rank for rank, pmid in enumerate(evidence.found, 1) if pmid in wanted]
        told |= {"relevant": len(wanted), "relevant_ranks": ranks}
    return told


def texts(evidence: Evidence) -> list[str]:
    """The documents as the support test reads them: a title, then the text."""
    return [f"{document.title}\n{document.text}" for document in evidence.documents]


def true_names(question: Question, synonyms: Synonyms) -> list[str]:
    """All names of the right answer: those that the case gives, and theirs in a table."""
    return _distinct([other for name in names_of(question) for other in synonyms.of(name)])


def answered_names(question: Question, answer: Answer, judged: dict[str, Any], synonyms: Synonyms) -> list[str]:
    """All names of the first diagnosis of an answer; one that was judged right has those of the truth too."""
    option = judged.get("option")
    if question.kind == "choice":
        first = None if option is None else question.choices[option]
    else:
        first = next(iter(judged_diagnoses(answer.text)), None)
    if first is None:
        return []
    names, true = synonyms.of(first), true_names(question, synonyms)
    right = judged["outcome"] == "right" or (judged["outcome"] == "unscored" and same_disease(first, true))
    return _distinct([*true, *names]) if right else names


def _distinct(names: Sequence[str]) -> list[str]:
    """The names whose words differ, the first of each."""
    return list({content(name): name for name in reversed(names)}.values())[::-1]


def supported(names: Sequence[str], documents: Sequence[str]) -> bool:
    """Whether one of the documents supports the diagnosis that has these names."""
    wanted = _wanted(names)
    return any(_supports(document, words) for document in documents for words in wanted)


def grounded(diagnosis: str, documents: Sequence[str], synonyms: Synonyms = NO_SYNONYMS) -> bool:
    """Whether one of the documents supports the diagnosis, under any of its names."""
    return supported(synonyms.of(diagnosis), documents)


def coverage(gold: str, accept: Sequence[str], documents: Sequence[str], synonyms: Synonyms = NO_SYNONYMS) -> bool:
    """Whether the documents contain the true diagnosis, under any of its names."""
    return any(grounded(name, documents, synonyms) for name in (gold, *accept))


def evidence_outcome(right: bool, grounded: bool) -> str:
    """CURE's four outcomes: whether the first diagnosis is right, and whether the documents support it."""
    if right:
        return "evidence_based_correct" if grounded else "knowledge_based_correct"
    return "evidence_misled" if grounded else "hallucination"


def _wanted(names: Sequence[str]) -> list[frozenset[str]]:
    """The content words of each name, and of the abbreviation that it gives in brackets."""
    forms = [part for name in names for part in (form(name).words, form(name).short)]
    return [frozenset(joined(words)) for words in dict.fromkeys(forms) if words]


def _supports(document: str, wanted: frozenset[str]) -> bool:
    """Whether a document supports a name. Remembered by hash: many answers are about the same documents."""
    key = (blake2b(document.encode(), digest_size=16).digest(), wanted)
    known = _known.get(key)
    if known is None:
        if len(_known) >= KEPT:
            _known.clear()
        known = _known[key] = _affirms(read(document), wanted)
    return known


_known: dict[tuple[bytes, frozenset[str]], bool] = {}


def _affirms(document: Read, wanted: frozenset[str]) -> bool:
    needed = -(-ENOUGH * len(wanted) // 10)
    if len(wanted & document.vocabulary) < needed:
        return False
    inside: dict[
        str, tuple[int, int]
    ] = {}  # words of the name that are not denied: the last place and sentence of each
    for place, (word, sentence, denied) in enumerate(document.words):
        if denied or word not in wanted:
            continue
        inside[word] = place, sentence
        near = {each for each, (last, before) in inside.items() if place - last < WINDOW and sentence - before <= 1}
        if len(near) >= needed and not (wanted - near) & DECIDING:
            return True
    return False
