"""The record of an article, whatever its file format. Marks in the text refer to figures."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from wardround.core.text import single_line

OPEN, CLOSE = "⟦", "⟧"
MARK = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}")
_EMPTY_BRACKETS = re.compile(r" ?[(\[][\s,;–-]*[)\]]")  # of removed citations
_ENGLISH_WORDS = frozenset(
    ["the", "of", "and", "a", "an", "was", "were", "with", "in", "to", "is", "for", "on", "had", "at"]
)
MIN_ENGLISH = 0.12  # of all words; the share in English prose is a third
_PANEL = r"(?:[A-Za-z]|\s[A-H])?(?!\w)"  # `2A`, `2 A`; not `2 a`, which may begin a phrase
_NUMBERED = rf"\d+{_PANEL}(?!\.\d|\s*(?:%|(?:[mck]?m|[mk]?g|m?l|days?|weeks?|months?|years?)\b))"
_AND = r"\s*(?:,\s*and\b|,|;|\band\b|&|\bto\b|[-–])\s*"
_FIGURE_REFERENCE = re.compile(
    rf"(\b(?i:suppl\w*\.?|additional|extended data|online|e)[ -]?)?\b(?i:fig(?:ure)?s?\.?)\s*"
    rf"({_NUMBERED}(?:{_AND}(?:(?i:fig(?:ure)?s?\.?)\s*)?(?:{_NUMBERED}|[A-Z]\b))*)"
)
_RANGE = re.compile(rf"(\d+){_PANEL}\s*(?:[-–]|\bto\b)\s*(\d+)")
PMC = re.compile(r"PMC\s*(\d{4,9})", re.IGNORECASE)


class ArticleSection(TypedDict):
    """Titles from the outermost to its own, and paragraphs."""

    titles: list[str]
    paragraphs: list[str]


class ArticleFigure(TypedDict):
    id: str
    caption: str
    file: str | None


class PmcArticle(TypedDict):
    """One article. `type` is the journal's article type, empty if unknown."""

    id: str
    pmid: str | None
    type: str
    subjects: list[str]
    keywords: list[str]
    title: str
    abstract: str
    published: str | None
    sections: list[ArticleSection]
    figures: list[ArticleFigure]
    references: list[str]


class Sentence(NamedTuple):
    """A sentence, the part of the case that it belongs to, and its paragraph."""

    text: str
    part: str
    paragraph: int


_WITHOUT_TABLE = re.compile(
    r"\s*[(\[](?:see )?(?:supplement\w* )?(?:tables?|videos?)\s*(?:(?:and|,|&)\s*)*[)\]]", re.IGNORECASE
)
_SPEAKER = re.compile(
    r"^(?:(?:To the|Dear) Editors?\b[,:.]?\s*|(?:Dr|Prof|Mr|Ms|Mrs)\.? (?:[A-Z][\w.'’-]* ?){1,4}(?:\([^)]*\))?\s*:\s*)"
)


def strip_speaker(text: str) -> str:
    """A paragraph without who speaks, or to whom: `Dr. Ann Lee (Medicine): A 58-year-old man`, `To the Editor:`."""
    return _SPEAKER.sub("", text)


def mark(figure: str) -> str:
    return f"{OPEN}{figure}{CLOSE}"


def find_marks(text: str) -> list[str]:
    """The figures that a text refers to."""
    return list(dict.fromkeys(MARK.findall(text)))


def mark_references(text: str, ids_by_number: Mapping[str, Sequence[str]]) -> str:
    """A text with marks for `Fig. 1`, `Figure 2A` and `Figures 1-3`, if there are such figures.

    A figure of a supplement has a number of its own and stays as it is.
    """

    def replace(match: re.Match[str]) -> str:
        if match[1]:
            return match[0]
        numbers = [int(number) for number in re.findall(r"\d{1,3}", match[2])]
        for first, last in _RANGE.findall(match[2]):
            if int(first) < int(last) <= int(first) + 30:
                numbers += range(int(first), int(last))
        ids = [id for number in sorted(set(numbers)) for id in ids_by_number.get(str(number), ())]
        return ", ".join(map(mark, ids)) or match[0]

    parts = re.split(rf"({OPEN}[^{CLOSE}]*{CLOSE})", text)  # marks, such as ⟦fig1⟧, stay as they are
    return "".join(part if part.startswith(OPEN) else _FIGURE_REFERENCE.sub(replace, part) for part in parts)


def clean(text: str) -> str:
    """A text on one line, with composed letters, without soft hyphens and the brackets of citations."""
    text = single_line(unicodedata.normalize("NFC", text).replace("\u00ad", ""))
    return re.sub(r" ([.,;:])", r"\1", _WITHOUT_TABLE.sub("", _EMPTY_BRACKETS.sub("", text)))


def strip_marks(text: str) -> str:
    """A text for readers who see no figure: without `(Fig. 1)`; `Figure 1 shows` becomes `The image shows`."""
    reference = rf"(?:\b(?:see|cf\.?|also)\s+)*(?:\b(?:fig(?:ure)?s?\.?)\s*)?{MARK.pattern}"
    references = rf"{reference}(?:\s*(?:,|;|and|&|to|[-–])\s*{reference})*"
    text = re.sub(rf"\s*[(\[]\s*{references}\s*[)\]]", "", text, flags=re.IGNORECASE)
    text = re.sub(rf"([(\[])\s*{references}\s*:\s*", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(rf"([(\[;,])\s*{references}", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(rf"^{references}", "The image", text, flags=re.IGNORECASE)
    text = re.sub(rf"(?:\bthe\s+)?{references}", "the image", text, flags=re.IGNORECASE)
    return clean(re.sub(r"([(\[])\s*[,;]\s*|\s*[,;]\s*([)\]])", r"\1\2", text))


def is_english(article: PmcArticle | dict[str, Any]) -> bool:
    """Whether the frequent short words of English are as frequent as in English."""
    text = " ".join(paragraph for section in article["sections"] for paragraph in section["paragraphs"])
    words = re.findall(r"[^\W\d_]+", text.lower())
    return not words or sum(word in _ENGLISH_WORDS for word in words) >= MIN_ENGLISH * len(words)
