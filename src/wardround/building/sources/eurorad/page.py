"""A saved Eurorad page as lines of text under headings, and its images with their captions.

Nothing is taken from where it stands in the markup, only from headings and labels: sites change their classes.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

HEADINGS = {
    "section": "section",
    "clinical history": "history",
    "imaging findings": "findings",
    "final diagnosis": "diagnosis",
    "differential diagnosis list": "differential",
    "references": "references",
    "imaging technique": "technique",
    "imaging techniques": "technique",
    "patient": "patient",
    "patient details": "patient",
    "age": "age",
    "gender": "sex",
    "sex": "sex",
    "published": "published",
    "published on": "published",
    "publication date": "published",
}
# what tells the diagnosis, or is not of the case: known so that it ends the section before it
DROPPED = {
    *("title", "discussion", "background", "clinical perspective", "imaging perspective", "outcome", "conclusion"),
    *("take home message", "take home message / teaching points", "take-home message", "teaching points"),
    *("differential diagnosis", "keywords", "area of interest", "procedure", "imaging procedure", "special focus"),
    *(
        "authors",
        "author",
        "affiliation",
        "case type",
        "figures",
        "license",
        "doi",
        "case id",
        "citation",
        "written by",
    ),
    *("most active authors", "useful links", "follow us", "brought to you by the european society of radiology"),
    *("written informed patient consent for publication has been obtained", "related cases", "share", "download"),
}
BLOCKS = {
    *("address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "div", "dl", "dt", "fieldset"),
    *("figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "legend", "li"),
    *("main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
VOID = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"),
}
HIDDEN = {"script", "style", "noscript", "template", "svg", "nav", "footer", "button", "select", "textarea", "iframe"}
HOLDS_FIGURES = re.compile(r"figure|gallery|image|carousel|slide|swiper|thumb|lightbox|caption", re.IGNORECASE)
NUMBER = re.compile(r"/case/(\d+)")
PMID = re.compile(
    r"\bPMID\s*:?\s*(\d{1,8})\b|(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/(\d{1,8})", re.I
)
SAVED_FROM = re.compile(r"saved from url=\(\d+\)(\S+)")


class Line(NamedTuple):
    """A line of text; the level of a heading, 0 for other text."""

    text: str
    level: int


@dataclass
class Figure:
    """An image with every address that the page gives for it, the best first, and the words about it."""

    addresses: list[str]
    words: list[str]
    holder: int


@dataclass
class Page:
    """What a page says, by heading; `other` stands under none that is known."""

    sections: dict[str, list[str]] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    number: str | None = None
    published: str | None = None  # as the page's own metadata tell it
    pmids: list[str] = field(default_factory=list)

    def text(self, name: str) -> str:
        return "\n".join(self.sections.get(name, []))


def read_page(html: str) -> Page:
    """The page of a case."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.end_line()
    page = Page(figures=reader.figures, number=reader.number, published=reader.published)
    page.pmids = list(dict.fromkeys(reader.linked))
    _share_captions(page.figures)
    _sort_into_sections(page, reader.lines)
    told = PMID.findall(page.text("references"))
    page.pmids = list(dict.fromkeys([one or other for one, other in told] + page.pmids))
    return page


class _Open(NamedTuple):
    tag: str
    hides: bool
    holds: int  # the number of the figure's container, 0 for none


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[Line] = []
        self.figures: list[Figure] = []
        self.linked: list[str] = []
        self.number: str | None = None
        self.published: str | None = None
        self._open: list[_Open] = []
        self._tags: Counter[str] = Counter()
        self._hiding = 0
        self._holders: list[int] = []
        self._made = 0
        self._text: list[str] = []
        self._level = 0
        self._link = ""
        self._waiting: list[str] = []  # words of a figure before its image

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        if tag in BLOCKS:
            self.end_line()
        self._metadata(tag, told)
        if tag == "img" and not self._hiding:
            self._image(told)
        if tag == "a":
            self._link = told.get("href", "")
            if pmid := PMID.search(self._link):
                self.linked.append(pmid[1] or pmid[2])
        if tag in VOID:
            return
        named = f"{told.get('class', '')} {told.get('id', '')}"
        holds = tag == "figure" or (tag not in ("html", "body", "main") and bool(HOLDS_FIGURES.search(named)))
        self._made += holds
        opened = _Open(tag, tag in HIDDEN, self._made if holds else 0)
        self._open.append(opened)
        self._tags[tag] += 1
        self._hiding += opened.hides
        if holds:
            self._holders.append(opened.holds)
        if re.fullmatch("h[1-6]", tag):
            self._level = int(tag[1])

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS:
            self.end_line()
        if tag == "a":
            self._link = ""
        if not self._tags[tag]:
            return  # it was never opened
        while self._open:
            closed = self._open.pop()
            self._tags[closed.tag] -= 1
            self._hiding -= closed.hides
            if closed.holds and self._holders and self._holders[-1] == closed.holds:
                self._holders.pop()
                self._waiting = []
            if closed.tag == tag:
                return

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)  # <div/> opens in HTML

    def handle_data(self, data: str) -> None:
        if not self._hiding and not self._tags["title"]:
            self._text.append(data)

    def handle_comment(self, data: str) -> None:
        if found := SAVED_FROM.search(data):
            self._numbered(found[1])

    def end_line(self) -> None:
        """What was read since the last block is one line."""
        text = clean("".join(self._text))
        level, self._text, self._level = self._level, [], 0
        if not text:
            self._level = level  # a block inside the heading
            return
        if self._holders and not _heading(text)[0]:
            if self.figures and self.figures[-1].holder == self._holders[-1]:
                self.figures[-1].words.append(text)
            else:
                self._waiting.append(text)
            return
        self._holders.clear()  # what holds a section of the case is no figure, whatever its class says
        self.lines.append(Line(text, level))

    def _image(self, told: dict[str, str]) -> None:
        words = [clean(told.get(name, "")) for name in ("alt", "title")]
        if not self._holders and not any(re.match(r"fig", word, re.IGNORECASE) for word in words):
            return  # a logo, an icon
        sources = [self._link, told.get("data-full", ""), told.get("src", ""), told.get("data-src", "")]
        holder = self._holders[-1] if self._holders else 0
        self.figures.append(Figure([each for each in sources if each], [*filter(None, words), *self._waiting], holder))
        self._waiting = []

    def _metadata(self, tag: str, told: dict[str, str]) -> None:
        if tag == "meta":
            named = told.get("property") or told.get("name") or ""
            if named == "article:published_time" or named.lower() in ("dcterms.date", "citation_publication_date"):
                self.published = self.published or told.get("content")
            if named == "og:url":
                self._numbered(told.get("content", ""))
        elif tag == "link" and told.get("rel") == "canonical":
            self._numbered(told.get("href", ""))

    def _numbered(self, address: str) -> None:
        if self.number is None and (found := NUMBER.search(address)):
            self.number = found[1]


def clean(text: str) -> str:
    """A text in one form of its letters, on one line."""
    return " ".join(unicodedata.normalize("NFC", text).replace("\u00ad", "").split())


def _heading(text: str) -> tuple[str | None, str]:
    """The section that a line begins, `` for one that is dropped, None for none; and what of the line belongs to it."""
    whole = text.casefold().strip(" :.")
    if whole in HEADINGS or whole in DROPPED:
        return HEADINGS.get(whole, ""), ""
    label, colon, rest = text.partition(":")
    named = HEADINGS.get(label.casefold().strip())
    return (named, rest.strip()) if colon and named else (None, "")


def _sort_into_sections(page: Page, lines: list[Line]) -> None:
    """The first heading of a name that has text counts; a page may repeat them as tabs."""
    now: list[str] | None = None
    level = 0
    for line in lines:
        named, rest = _heading(line.text)
        if named is not None:
            now, level = None, line.level or 6
            if named and not page.sections.get(named):
                now = page.sections[named] = [rest] if rest else []
            elif not named:
                now = []  # dropped
        elif line.level and line.level <= level:
            now = None  # a heading that we do not know ends a section of its level
        elif now is None:
            page.other.append(line.text)
        else:
            now.append(line.text)


def _share_captions(figures: list[Figure]) -> None:
    """Images that stand together under one caption have it all."""
    after: dict[int, list[str]] = {}
    for figure in reversed(figures):
        if figure.words:
            after[figure.holder] = figure.words
        elif figure.holder in after:
            figure.words = after[figure.holder]
