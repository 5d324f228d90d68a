"""Open answers: a ranked list of diagnoses, and the offline judge that compares names."""

from __future__ import annotations

import re
import unicodedata

from wardround.core.case import Question
from wardround.marking.choice import stated_confidence

_ITEM = re.compile(r"^\s*(?:\(?\d{1,2}[.):]|[-*•])\s*(.+)$")
LEXICAL = "lexical-1"


def ranked_diagnoses(reply: str) -> list[str]:
    """The diagnoses of a numbered or bulleted list, or of plain lines, in order."""
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    lines = [line for line in lines if stated_confidence(line) is None]
    items = [found[1] for line in lines if (found := _ITEM.match(line))]
    cleaned = (item.strip(" *_.`\"'") for item in items or lines)
    return [item for item in cleaned if item]


def lexical_hits(reply: str, question: Question) -> list[bool]:
    """For each diagnosis of the reply, whether its name is the gold's or one of the accepted names."""
    names = {folded(str(question.gold)), *(folded(name) for name in question.accept)}
    return [folded(diagnosis) in names for diagnosis in ranked_diagnoses(reply)]


def folded(name: str) -> str:
    """A name without case, accents, punctuation and articles."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    words = re.findall(r"\w+", "".join(letter for letter in plain if not unicodedata.combining(letter)))
    return " ".join(word for word in words if word not in {"a", "an", "the"})
