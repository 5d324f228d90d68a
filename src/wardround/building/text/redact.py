"""Phrases that reveal the diagnosis are cut out of a text. How much is cut around a name: our choice.

A clause (between commas, semicolons, colons, brackets and dashes) that names the diagnosis goes; where it says before
the name what is seen ("a mass with calcification, consistent with X"; "rim enhancement suggesting X"), that part stays.
A sentence goes where the words of the name are spread over its clauses, where too little of it would be left, and where
it tells what pathology or follow-up confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from wardround.building.audit.mentions import as_text, mentioned
from wardround.marking.evidence.document import sentences
from wardround.marking.judges.lexical_judge import content, tokens

FEWEST_WORDS = 3  # of a clause or sentence that is worth keeping
_BETWEEN = re.compile(r"(\s*[;,:()\[\]–—]\s*|\s+-\s+)")
_LEADING = re.compile(
    r"[\s,]*\b(?:(?:a|the|all)\s+)?(?:(?:these|this|which|that|it)\s+)?(?:findings?|features?|appearances?|pattern)?\s*"
    r"(?:(?:is|are|was|were|being|and|most|highly|thus|therefore|all)\s+){0,4}"
    r"(?:consistent|compatible|keeping|line|suggest\w*|indicat\w*|diagnos\w*|typical|characteristic|pathognomonic"
    r"|suspicious|concerning|represent\w*|confirm\w*|favou?r\w*|correspond\w*|likely|probabl\w*|due|known|caused"
    r"|classic\w*|evocative|rais\w+|in\s+(?:keeping|line)|as\s+(?:in|seen))\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_CONFIRMED = re.compile(
    r"\b(?:histo\w*|patholog\w*|biops\w+|cytolog\w*|immunohisto\w*|autops\w+|final diagnosis|diagnosis)\b[^.]*"
    r"\b(?:confirm\w*|prove[dn]?|establish\w*|made|reveal\w*|diagnos\w*|was)\b",
    re.IGNORECASE,
)


class Cut(NamedTuple):
    """What is left of a text, and what was cut."""

    text: str
    cut: list[str]


def without_diagnosis(text: str, names: Sequence[str]) -> Cut:
    """A text without the phrases that reveal the diagnosis under any of these names."""
    kept, cut = [], []
    for paragraph in text.split("\n"):
        left = []
        for sentence in sentences(paragraph):
            stays = _sentence(sentence.strip(), names)
            if stays != sentence.strip():
                cut.append(sentence.strip())
            if stays:
                left.append(stays)
        if left:
            kept.append(" ".join(left))
    return Cut("\n".join(kept), cut)


def reveals(text: str, names: Iterable[str]) -> str | None:
    """The first of these names that a text gives away."""
    read = as_text(text)
    return next((name for name in names if mentioned(name, read)), None)


def _sentence(sentence: str, names: Sequence[str]) -> str:
    if _CONFIRMED.search(sentence):
        return ""
    if not reveals(sentence, names):
        return sentence
    pieces = _BETWEEN.split(sentence)
    for place in range(0, len(pieces), 2):
        if reveals(pieces[place], names):
            pieces[place] = _before_the_name(pieces[place], names)
    left = _tidy("".join(pieces))
    return "" if reveals(left, names) or len(content(left)) < FEWEST_WORDS else left


def _before_the_name(clause: str, names: Sequence[str]) -> str:
    """What a clause says before it leads over to the name; nothing if it does not."""
    stays = _LEADING.sub("", clause)
    return "" if reveals(stays, names) or len(tokens(stays)) < FEWEST_WORDS else stays


def _tidy(sentence: str) -> str:
    """A sentence without empty brackets and marks that follow each other."""
    text = re.sub(r"[(\[]\s*[)\]]", "", sentence)
    text = re.sub(r"\s*[,;:–—-](?:\s*[,;:–—])+\s*", ", ", text)
    text = re.sub(r"^[\s,;:–—)\]]+|[\s,;:–—(\[]+(?=[.!?]?$)", "", text)
    text = re.sub(r"\s+([.,;:)])", r"\1", " ".join(text.split()))
    text = re.sub(r"[,;:]\.", ".", text)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) or not text else f"{text}."
