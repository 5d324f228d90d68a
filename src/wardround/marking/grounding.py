"""Grounding: whether the documents that were shown support a diagnosis (CURE, specs/protocols.md 2.2).

The support test is our choice: a document names the diagnosis, or holds at least 80% of its content words within
30 words; or a judge says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from wardround.asking.prompts import Prompts
from wardround.candidates.candidate import Request
from wardround.core.ask import Answer, Identity, Sampling
from wardround.marking.judge import YES_OR_NO, judge_request, stated, within
from wardround.marking.lexical import NO_SYNONYMS, Synonyms, content, tokens

WINDOW = 30
ENOUGH = 8  # tenths of the content words
LONGEST_DOCUMENTS = 24_000  # characters that a judge is shown


def grounded(diagnosis: str, documents: Sequence[str], synonyms: Synonyms = NO_SYNONYMS) -> bool:
    """Whether one of the documents supports the diagnosis, under any of its names."""
    names = [name for name in synonyms.of(diagnosis) if content(name)]
    return any(_supports(tokens(document), name) for document in documents for name in names)


def coverage(gold: str, accept: Sequence[str], documents: Sequence[str], synonyms: Synonyms = NO_SYNONYMS) -> bool:
    """Whether the documents contain the true diagnosis, under any of its names."""
    return any(grounded(name, documents, synonyms) for name in (gold, *accept))


def evidence_outcome(right: bool, grounded: bool) -> str:
    """CURE's four outcomes: whether the first diagnosis is right, and whether the documents support it."""
    if right:
        return "evidence_based_correct" if grounded else "knowledge_based_correct"
    return "evidence_misled" if grounded else "hallucination"


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
