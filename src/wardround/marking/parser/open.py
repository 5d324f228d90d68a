"""The ranked list of diagnoses in an open answer, in any usual format."""

import json
import re
from collections.abc import Iterator
from typing import Any

from wardround.marking.parser.clean import clean_reply
from wardround.marking.parser.confidence import stated_confidence

_ITEM = re.compile(r"(?:#?\(?\d{1,2}(?:[.):、]|\s[–-])\s*|#\d{1,2}\s+|[-•–]\s+)(?=\S)(.+)")
_NUMBERED = re.compile(r"#?\(?\d")
_ROW = re.compile(r"\|(.+)\|")
_BRACKET = re.compile(r"[\[{]")
_TRAILING_COMMA = re.compile(r",\s*(?=[\]}])")
_NAME_KEYS = ("diagnosis", "name", "disease", "condition", "label", "title")
_OTHER_KEYS = (
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
    """The diagnoses of a reply, the likeliest first, without repeats, numbers, reasons and probabilities."""
    text = clean_reply(reply)
    names = _from_json(text)
    if names is None:
        names = list(_from_lines(text))
    diagnoses: dict[str, str] = {}
    for diagnosis in map(_clean_name, names):
        if diagnosis:
            diagnoses.setdefault(diagnosis.casefold(), diagnosis)
    return list(diagnoses.values())


def _from_json(text: str) -> list[str] | None:
    """Names in the first JSON array or object; None if there is none."""
    opened = _BRACKET.search(text)
    if opened is None:
        return None
    closed = max(text.rfind("]"), text.rfind("}"))
    try:
        value = json.loads(_TRAILING_COMMA.sub("", text[opened.start() : closed + 1]))
    except (ValueError, RecursionError):
        return None
    return list(_names_in(value))


def _names_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for entry in value:
            yield from _names_in(entry)
    elif isinstance(value, dict):
        fields = {key.casefold(): field for key, field in value.items()}
        names = [fields[key] for key in _NAME_KEYS if key in fields]
        for name in names[:1] or [field for key, field in fields.items() if key not in _OTHER_KEYS]:
            yield from _names_in(name)


def _from_lines(text: str) -> Iterator[str]:
    """The entries of a numbered list, else of a bulleted one or a table, else of prose."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    rows = [row for line in lines if (row := _table_name(line)) is not None]
    if rows:
        yield from rows
        return
    items = [(line, match[1]) for line in lines if (match := _ITEM.fullmatch(line))]
    numbered = [item for line, item in items if _NUMBERED.match(line)]
    if items:
        for item in numbered or [item for _, item in items]:
            yield _SHARE.sub("", item)
        return
    for line in lines:
        if not _names_no_diagnosis(line):
            yield from _from_prose(_SHARE.sub("", line))


def _table_name(line: str) -> str | None:
    """The name in a row of a table: its first cell with words. None for headings and rulers."""
    if not (row := _ROW.fullmatch(line)):
        return None
    cells = [cell.strip() for cell in row[1].split("|")]
    names = [cell for cell in cells if re.search(r"[^\W\d_]{3}", cell)]
    return None if len(names) != 1 else names[0]


def _names_no_diagnosis(line: str) -> bool:
    """Whether a line is a heading, a number alone, a confidence or a refusal."""
    is_confidence = re.fullmatch(r"(?:my |the )?confidence\b.*", line, re.I)
    return bool(
        line.endswith(":")
        or _REFUSAL.search(line)
        or not re.search(r"[^\W\d_]", line)
        or (is_confidence and stated_confidence(line) is not None)
    )


def _from_prose(line: str) -> Iterator[str]:
    """The names in a line of prose, in order."""
    for sentence in _SENTENCE.split(line.rstrip(".。 ")):
        text = _SHARE_FIRST.sub("", sentence)
        if heading := _HEADED.match(text):
            text = text[heading.end() :]
        text = _FOREIGN_LEAD_IN.sub("", text, count=1)
        lead_in = _LEAD_IN.match(text)
        names = text[lead_in.end() :] if lead_in else text
        if lead_in is None and len(names.split()) > 12 and not re.search(r"[;>,]| or ", names):
            continue  # a sentence about something else
        parts = _SEPARATOR.split(_ORDINAL.sub("", names))
        if (lead_in or len(parts) > 1) and parts[-1].count(" and ") == 1 and " of " not in parts[-1]:
            parts[-1:] = parts[-1].split(" and ")
        yield from parts


def _clean_name(diagnosis: str) -> str:
    """A name without its probability, its reason and marks around it."""
    diagnosis = _SHARE_FIRST.sub("", _SHARE.sub("", diagnosis.strip(" *_`\"'")))
    diagnosis = _REASON.sub("", diagnosis)
    diagnosis = _SHARE.sub("", diagnosis).strip(" *_.`\"',;:。")
    return diagnosis if re.search(r"[^\W\d_]", diagnosis) else ""
