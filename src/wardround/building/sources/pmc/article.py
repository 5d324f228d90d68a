"""An article as the pipeline knows it, from whatever it was read. Figures are referred to by marks in the text."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, TypedDict

OPEN, CLOSE = "⟦", "⟧"
MARK = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}")
_EMPTY = re.compile(r" ?[(\[][\s,;–-]*[)\]]")  # where citations stood
_ENGLISH = frozenset(["the", "of", "and", "a", "an", "was", "were", "with", "in", "to", "is", "for", "on", "had", "at"])
FEWEST_ENGLISH = 0.12  # of all words; the share in English prose is a third
PMC = re.compile(r"PMC\s*(\d{4,9})", re.IGNORECASE)


class Section(TypedDict):
    """Titles from the outermost to its own, and paragraphs."""

    titles: list[str]
    paragraphs: list[str]


class Figure(TypedDict):
    id: str
    caption: str
    file: str | None


class Article(TypedDict):
    """One article. `type` is what the journal calls it, empty where nothing says so."""

    id: str
    pmid: str | None
    type: str
    subjects: list[str]
    title: str
    abstract: str
    published: str | None
    sections: list[Section]
    figures: list[Figure]
    references: list[str]


def mark(figure: str) -> str:
    return f"{OPEN}{figure}{CLOSE}"


def marks_in(text: str) -> list[str]:
    """The figures that a text refers to."""
    return list(dict.fromkeys(MARK.findall(text)))


def clean(text: str) -> str:
    """A text on one line, in one form of its letters, without the brackets of citations."""
    text = " ".join(unicodedata.normalize("NFC", text).replace("\u00ad", "").split())
    return re.sub(r" ([.,;:])", r"\1", _EMPTY.sub("", text))


def without_marks(text: str) -> str:
    """A text as people read it who see no figure: `(Fig. 1)` goes, `Figure 1 shows` becomes `The image shows`."""
    refers = rf"(?:\b(?:see|cf\.?|also)\s+)*(?:\b(?:fig(?:ure)?s?\.?)\s*)?{MARK.pattern}"
    several = rf"{refers}(?:\s*(?:,|;|and|&|to|[-–])\s*{refers})*"
    text = re.sub(rf"\s*[(\[]\s*{several}\s*[)\]]", "", text, flags=re.IGNORECASE)
    text = re.sub(rf"([(\[;,])\s*{several}", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(rf"^{several}", "The image", text, flags=re.IGNORECASE)
    text = re.sub(rf"(?:\bthe\s+)?{several}", "the image", text, flags=re.IGNORECASE)
    return clean(re.sub(r"([(\[])\s*[,;]\s*|\s*[,;]\s*([)\]])", r"\1\2", text))


def is_english(article: Article | dict[str, Any]) -> bool:
    """Whether the small words of English are among its words as often as in English."""
    words = re.findall(
        r"[^\W\d_]+", " ".join(text for each in article["sections"] for text in each["paragraphs"]).lower()
    )
    return not words or sum(word in _ENGLISH for word in words) >= FEWEST_ENGLISH * len(words)
