"""The confidence that a reply states."""

import re

_CONFIDENCE = r"confidence|certainty|probability|konfidenz|sicherheit|confiance|certitude|confianza|certeza|置信度|信心"
_HINTS = ("%", "conf", "cert", "probability", "konfiden", "sicherheit", "置信", "信心")
_STATED = re.compile(
    rf"(?:{_CONFIDENCE})(?:[^0-9\n]{{0,20}}\(\d{{1,3}} ?%? ?(?:-|–|to) ?\d{{1,3}} ?%?\))?"  # the scale: "(0-100)"
    r"[^0-9\n]{0,40}?(\d{1,3}(?:[.,]\d{1,9})?|\.\d{1,9})(?!\d|%? ?[-–] ?\d)"
    r"(?:\s*(%)|\s*(?:/|out of)\s*(10|100|5)(?![\d.]))?"
    r"|(?<!\d)(\d{1,3}(?:\.\d{1,9})?)\s?%\s?(?:sure|certain|confident|confidence|certainty|likely|probability)"
    r"|[(\[]\s?(\d{1,3}(?:\.\d{1,9})?)\s?%\s?[)\]]"
)
_CONFIDENCE_SPAN = re.compile(
    rf"^\W*(?:my |the )?(?:{_CONFIDENCE})\b.*$"
    r"| ?[(\[]\s?\d{1,3}(?:\.\d{1,9})?\s?%\s?[)\]]"
    rf"|[,;.–-]? ?(?:with (?:a )?)?(?:{_CONFIDENCE})(?: level| score)? ?[:=] ?[\d.,]*\d ?%?",
    re.M,
)


def stated_confidence(text: str) -> float | None:
    """The last confidence that a reply states, as a fraction."""
    share = None
    for percent_or_number, percent, scale, sure, bracketed in _STATED.findall(text.lower()):
        number = float((percent_or_number or sure or bracketed).replace(",", "."))
        if scale:
            number /= float(scale)
        elif percent or sure or bracketed or number > 1:
            number /= 100
        share = number if 0 <= number <= 1 else None
    return share


def may_state_confidence(text: str) -> bool:
    """Whether the text may state a confidence: a fast test."""
    lower = text.lower()
    return any(map(lower.__contains__, _HINTS))


def without_confidence(text: str) -> str:
    """The reply without the lines and brackets that state a confidence."""
    parts, end = [], 0
    for span in _CONFIDENCE_SPAN.finditer(text.lower()):
        parts.append(text[end : span.start()])
        end = span.end()
    return "".join([*parts, text[end:]]).strip()
