"""Open answers: a ranked list of diagnoses in any usual shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from wardround.marking.parser.clean import spoken
from wardround.marking.parser.confidence import stated_confidence

_ITEM = re.compile(r"(?:#?\(?\d{1,2}(?:[.):、]|\s[–-])\s*|#\d{1,2}\s+|[-•–]\s+)(?=\S)(.+)")
_NUMBERED = re.compile(r"#?\(?\d")
_ROW = re.compile(r"\|(.+)\|")
_BRACKET = re.compile(r"[\[{]")
_TRAILING_COMMA = re.compile(r",\s*(?=[\]}])")
_NAMES = ("diagnosis", "name", "disease", "condition", "label", "title")
_NO_NAMES = (
    "confidence",
    "probability",
    "reason",
    "reasoning",
    "rationale",
    "explanation",
    "rank",
    "score",
    "likelihood",
)

_SHARE = re.compile(
    r"[\s(,:–-]{0,4}(?:probability|likelihood|confidence)?[:\s]*(?<![\w.])(?:\d{1,3}(?:\.\d+)?\s?%|0?\.\d+)\)?\s*\Z",
    re.I,
)
_SHARE_FIRST = re.compile(r"\A\d{1,3}(?:\.\d+)?\s?%\s*[:–-]?\s*")
_REASON = re.compile(
    r"\s+[–—-]+\s+.*|:\s.*|,?\s+(?:because|since|given|based on|as (?:the|he|she|there|it))\b.*", re.I | re.S
)
_HEADED = re.compile(
    r"(?:(?:my |the )?(?:most likely|final|primary|main|top|working|leading|differential|other|alternative)? ?"
    r"(?:diagnos[ie]s|differentials?|possibilities|answer|most likely)|most likely)\s*:\s*(?=\S)",
    re.I,
)
_LEAD_IN = re.compile(
    r"(?:(?:the|my|this|it|that|he|she|i|we|other|further|also)\b[^,;.]*?\b)?"
    r"(?:(?:is|was|would be)(?: most)?(?: likely| probably)?(?: consistent with| compatible with| an?| the| to be)?"
    r"|(?:think|believe|suspect)(?: (?:this|it) is| that (?:this|it) is)?"
    r"|(?:most likely |probably )?has|include|includes|suggests?|indicates?|points to)(?: an?\b| the\b)?\s+(?=\S)",
    re.I,
)
_FOREIGN_LEAD_IN = re.compile(
    r"\A.*?\b(?:diagnose|diagnostic|diagn[óo]stico)\b[^,;.]*?\b(?:ist|est|es)(?: eine?n?| une?| una?)?\s+"
    r"|\A.*?诊断(?:是|为)",
    re.I,
)
_SEPARATOR = re.compile(
    r"\s*[;>]\s*|\s*,\s*(?:(?:followed by|and then|then|and|or)\s+)?|\s+(?:or|followed by)\s+",
    re.I,
)
_ORDINAL = re.compile(r"(?:(?<=\A)|(?<=; )|(?<=, ))(?:first|second|third|fourth|fifth|final)(?:ly)?[,:]\s+", re.I)
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not (?:sure|able))|i (?:cannot|can't|don't know|do not know)|as an ai"
    r"|not enough information)\b",
    re.I,
)
_SENTENCE = re.compile(r"(?<=[^\s.]{3})\.\s+")


def ranked_diagnoses(reply: str) -> list[str]:
    """The diagnoses that a reply names, the likeliest first, each once and without numbers, reasons and shares."""
    said = spoken(reply)
    found = _from_json(said)
    if found is None:
        found = list(_from_lines(said))
    named: dict[str, str] = {}
    for diagnosis in map(_cleaned, found):
        if diagnosis:
            named.setdefault(diagnosis.casefold(), diagnosis)
    return list(named.values())


def _from_json(said: str) -> list[str] | None:
    """Names in the first JSON array or object; None if there is none."""
    opened = _BRACKET.search(said)
    if opened is None:
        return None
    closed = max(said.rfind("]"), said.rfind("}"))
    try:
        told = json.loads(_TRAILING_COMMA.sub("", said[opened.start() : closed + 1]))
    except (ValueError, RecursionError):
        return None
    return list(_names(told))


def _names(told: Any) -> Iterator[str]:
    if isinstance(told, str):
        yield told
    elif isinstance(told, list):
        for entry in told:
            yield from _names(entry)
    elif isinstance(told, dict):
        entries = {key.casefold(): value for key, value in told.items()}
        named = [entries[name] for name in _NAMES if name in entries]
        for value in named[:1] or [value for key, value in entries.items() if key not in _NO_NAMES]:
            yield from _names(value)


def _from_lines(said: str) -> Iterator[str]:
    """The entries of a numbered list, else of a bulleted one or a table, else of prose."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    rows = [row for line in lines if (row := _row(line)) is not None]
    if rows:
        yield from rows
        return
    items = [(line, found[1]) for line in lines if (found := _ITEM.fullmatch(line))]
    numbered = [item for line, item in items if _NUMBERED.match(line)]
    if items:
        for item in numbered or [item for _, item in items]:
            yield _SHARE.sub("", item)
        return
    for line in lines:
        if not _says_nothing(line):
            yield from _from_prose(_SHARE.sub("", line))


def _row(line: str) -> str | None:
    """The name in a row of a table: its first cell with words. None for headings and rulers."""
    if not (row := _ROW.fullmatch(line)):
        return None
    cells = [cell.strip() for cell in row[1].split("|")]
    names = [cell for cell in cells if re.search(r"[^\W\d_]{3}", cell)]
    return None if len(names) != 1 else names[0]


def _says_nothing(line: str) -> bool:
    """Whether a line names no diagnosis: a heading, a number alone, a confidence, a refusal."""
    alone = re.fullmatch(r"(?:my |the )?confidence\b.*", line, re.I)
    return bool(
        line.endswith(":")
        or _REFUSAL.search(line)
        or not re.search(r"[^\W\d_]", line)
        or (alone and stated_confidence(line) is not None)
    )


def _from_prose(line: str) -> Iterator[str]:
    """The names in a line of prose, in order."""
    for sentence in _SENTENCE.split(line.rstrip(".。 ")):
        said = _SHARE_FIRST.sub("", sentence)
        if headed := _HEADED.match(said):
            said = said[headed.end() :]
        said = _FOREIGN_LEAD_IN.sub("", said, count=1)
        led = _LEAD_IN.match(said)
        listed = said[led.end() :] if led else said
        if led is None and len(listed.split()) > 12 and not re.search(r"[;>,]| or ", listed):
            continue  # a sentence about something else
        parts = _SEPARATOR.split(_ORDINAL.sub("", listed))
        if (led or len(parts) > 1) and parts[-1].count(" and ") == 1 and " of " not in parts[-1]:
            parts[-1:] = parts[-1].split(" and ")
        yield from parts


def _cleaned(diagnosis: str) -> str:
    """A name alone: without its share, its reason, marks around it."""
    diagnosis = _SHARE_FIRST.sub("", _SHARE.sub("", diagnosis.strip(" *_`\"'")))
    diagnosis = _REASON.sub("", diagnosis)
    diagnosis = _SHARE.sub("", diagnosis).strip(" *_.`\"',;:。")
    return diagnosis if re.search(r"[^\W\d_]", diagnosis) else ""
