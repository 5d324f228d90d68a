"""Removes phrases that reveal the diagnosis from a text. How much is removed around a name: our choice.

A clause (between commas, semicolons, colons, brackets and dashes) that names the diagnosis is removed; if it describes
findings before the name ("a mass with calcification, consistent with X"; "rim enhancement suggesting X"), that part
stays. A whole sentence is removed if the words of the name are spread over its clauses, if too little of it would be
left, or if it says what pathology or follow-up confirmed.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from wardround.building.audit.mentions import find_mention, split_words
from wardround.core.names import content_words, normalized_words
from wardround.marking.evidence.document import split_sentences

MIN_WORDS = 3  # of a clause or sentence worth keeping
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


class Redaction(NamedTuple):
    """The text that is left, and the sentences that were changed or removed."""

    text: str
    removed: list[str]


def redact_diagnosis(text: str, names: Sequence[str]) -> Redaction:
    """A text without the phrases that reveal the diagnosis under any of these names."""
    paragraphs, removed = [], []
    for paragraph in text.split("\n"):
        remaining = []
        for sentence in map(str.strip, split_sentences(paragraph)):
            redacted = _redact_sentence(sentence, names)
            if redacted != sentence:
                removed.append(sentence)
            if redacted:
                remaining.append(redacted)
        if remaining:
            paragraphs.append(" ".join(remaining))
    return Redaction("\n".join(paragraphs), removed)


def find_revealed_name(text: str, names: Iterable[str]) -> str | None:
    """The first of these names that a text reveals."""
    words = split_words(text)
    return next((name for name in names if find_mention(name, words)), None)


def _redact_sentence(sentence: str, names: Sequence[str]) -> str:
    if _CONFIRMED.search(sentence):
        return ""
    if not find_revealed_name(sentence, names):
        return sentence
    clauses = _BETWEEN.split(sentence)
    for index in range(0, len(clauses), 2):
        if find_revealed_name(clauses[index], names):
            clauses[index] = _before_the_name(clauses[index], names)
    redacted = _tidy("".join(clauses))
    return "" if find_revealed_name(redacted, names) or len(content_words(redacted)) < MIN_WORDS else redacted


def _before_the_name(clause: str, names: Sequence[str]) -> str:
    """The part of a clause before it leads over to the name; empty if there is none."""
    start = _LEADING.sub("", clause)
    return "" if find_revealed_name(start, names) or len(normalized_words(start)) < MIN_WORDS else start


def _tidy(sentence: str) -> str:
    """A sentence without empty brackets and repeated punctuation."""
    text = re.sub(r"[(\[]\s*[)\]]", "", sentence)
    text = re.sub(r"\s*[,;:–—-](?:\s*[,;:–—])+\s*", ", ", text)
    text = re.sub(r"^[\s,;:–—)\]]+|[\s,;:–—(\[]+(?=[.!?]?$)", "", text)
    text = re.sub(r"\s+([.,;:)])", r"\1", " ".join(text.split()))
    text = re.sub(r"[,;:]\.", ".", text)
    text = re.sub(r"[,;:]\s*(?=[(\[])", " ", text)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) or not text else f"{text}."
