"""How sure a reply says it is."""

from __future__ import annotations

import re

_CONFIDENCE = r"confidence|certainty|probability|konfidenz|sicherheit|confiance|certitude|confianza|certeza|置信度|信心"
_STATED = re.compile(
    rf"(?:{_CONFIDENCE})(?:[^0-9\n]{{0,20}}\(\d{{1,3}} ?%? ?(?:-|–|to) ?\d{{1,3}} ?%?\))?"  # the scale: "(0-100)"
    r"[^0-9\n]{0,40}?(\d{1,3}(?:[.,]\d{1,9})?|\.\d{1,9})(?!\d|%? ?[-–] ?\d)"
    r"(?:\s*(%)|\s*(?:/|out of)\s*(10|100|5)(?![\d.]))?"
    r"|(?<!\d)(\d{1,3}(?:\.\d{1,9})?)\s?%\s?(?:sure|certain|confident|confidence|certainty|likely|probability)"
    r"|\(\s?(\d{1,3}(?:\.\d{1,9})?)\s?%\s?\)"
)
_TOLD = re.compile(
    rf"^\W*(?:my |the )?(?:{_CONFIDENCE})\b.*$"
    r"| ?\(\s?\d{1,3}(?:\.\d{1,9})?\s?%\s?\)"
    rf"|[,;.–-]? ?(?:with (?:a )?)?(?:{_CONFIDENCE})(?: level| score)? ?[:=] ?[\d.,]*\d ?%?",
    re.M,
)


def stated_confidence(said: str) -> float | None:
    """The last confidence that a reply states, as a fraction."""
    share = None
    for percent_or_number, percent, of, sure, aside in _STATED.findall(said.lower()):
        number = float((percent_or_number or sure or aside).replace(",", "."))
        if of:
            number /= float(of)
        elif percent or sure or aside or number > 1:
            number /= 100
        share = number if 0 <= number <= 1 else None
    return share


def tells_confidence(said: str) -> bool:
    """Whether there may be a confidence to read."""
    small = said.lower()
    return (
        "%" in small
        or "conf" in small
        or "cert" in small
        or "probability" in small
        or "konfiden" in small
        or "sicherheit" in small
        or (not small.isascii() and ("置信" in small or "信心" in small))
    )


def without_confidence(said: str) -> str:
    """The reply without the lines and brackets that state a confidence."""
    kept, done = [], 0
    for told in _TOLD.finditer(said.lower()):
        kept.append(said[done : told.start()])
        done = told.end()
    return "".join([*kept, said[done:]]).strip()
