"""A saved Eurorad page: lines of text under headings, and images with their captions.

Only headings and labels decide where a text belongs, never the markup: sites change their classes.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

from wardround.core.text import single_line

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
# headings of sections that reveal the diagnosis or do not belong to the case; each ends the section before it
DROPPED = {
    *("title", "discussion", "background", "clinical perspective", "imaging perspective", "outcome", "conclusion"),
    *("take home message", "take home message / teaching points", "take-home message", "teaching points"),
    *("differential diagnosis", "keywords", "area of interest", "procedure", "imaging procedure", "special focus"),
    *("authors", "author", "affiliation", "case type", "figures", "license", "doi", "case id", "citation"),
    *("written by",),
    *("most active authors", "useful links", "follow us", "brought to you by the european society of radiology"),
    *("written informed patient consent for publication has been obtained", "related cases", "share", "download"),
}
CATEGORIES = (
    "area of interest",
    "imaging techniques",
    "imaging technique",
    "imaging procedure",
    "procedure",
    "special focus",
)
_STARTS_CATEGORIES = re.compile(
    r"(?:area of interest|imaging (?:techniques?|procedure)|special focus|procedure\s*:)\b", re.I
)
_CATEGORY = re.compile(rf"(?:^|(?<=[;|•\s]))({'|'.join(CATEGORIES)})\b\s*:?\s*", re.IGNORECASE)
BLOCKS = {
    *("address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "div", "dl", "dt", "fieldset"),
    *("figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "legend", "li"),
    *("main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
VOID = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"),
}
HIDDEN = {"script", "style", "noscript", "template", "svg", "nav", "footer", "button", "select", "textarea", "iframe"}
FIGURE_CONTAINER = re.compile(r"figure|gallery|image|carousel|slide|swiper|thumb|lightbox|caption", re.IGNORECASE)
CASE_NUMBER = re.compile(r"/case/(\d+)")
PMID = re.compile(
    r"\bPMID\s*:?\s*(\d{1,8})\b|(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/(\d{1,8})", re.I
)
SAVED_FROM = re.compile(r"saved from url=\(\d+\)(\S+)")


class TextLine(NamedTuple):
    """A line of text; the level of a heading, 0 for other text."""

    text: str
    level: int


@dataclass
class PageFigure:
    """An image: every address that the page has for it, the best first, and the texts about it."""

    addresses: list[str]
    texts: list[str]
    container: int


@dataclass
class EuroradPage:
    """The texts of a page by heading; `other` has those under no known heading."""

    sections: dict[str, list[str]] = field(default_factory=dict)
    figures: list[PageFigure] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    number: str | None = None
    published: str | None = None  # from the page's metadata
    pmids: list[str] = field(default_factory=list)

    def text(self, name: str) -> str:
        return "\n".join(self.sections.get(name, []))


def read_page(html: str) -> EuroradPage:
    """The page of a case."""
    parser = _PageParser()
    parser.feed(html)
    parser.close()
    parser.end_line()
    page = EuroradPage(figures=parser.figures, number=parser.number, published=parser.published)
    _share_captions(page.figures)
    _sort_into_sections(page, parser.lines)
    pmids = [cited or linked for cited, linked in PMID.findall(page.text("references"))]
    page.pmids = list(dict.fromkeys([*pmids, *parser.linked_pmids]))
    return page


class _OpenTag(NamedTuple):
    tag: str
    is_hidden: bool
    container: int  # the number of a container of figures, 0 for none
    is_block: bool


class _PageParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[TextLine] = []
        self.figures: list[PageFigure] = []
        self.linked_pmids: list[str] = []
        self.number: str | None = None
        self.published: str | None = None
        self._open_tags: list[_OpenTag] = []
        self._tag_counts: Counter[str] = Counter()
        self._hidden_depth = 0
        self._containers: list[int] = []
        self._container_count = 0
        self._text: list[str] = []
        self._heading_level = 0
        self._link = ""
        self._waiting_texts: list[str] = []  # texts of a figure before its image

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        is_block = tag in BLOCKS or "d-block" in attributes.get("class", "").split()
        if is_block:
            self.end_line()
        self._read_metadata(tag, attributes)
        if tag == "img" and not self._hidden_depth:
            self._add_figure(attributes)
        if tag == "a":
            self._link = attributes.get("href", "")
            if pmid := PMID.search(self._link):
                self.linked_pmids.append(pmid[1] or pmid[2])
        if tag in VOID:
            return
        names = f"{attributes.get('class', '')} {attributes.get('id', '')}"
        is_container = tag == "figure" or (tag not in ("html", "body", "main") and bool(FIGURE_CONTAINER.search(names)))
        self._container_count += is_container
        open_tag = _OpenTag(tag, tag in HIDDEN, self._container_count if is_container else 0, is_block)
        self._open_tags.append(open_tag)
        self._tag_counts[tag] += 1
        self._hidden_depth += open_tag.is_hidden
        if is_container:
            self._containers.append(open_tag.container)
        if re.fullmatch("h[1-6]", tag):
            self._heading_level = int(tag[1])

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS or (self._open_tags and self._open_tags[-1].tag == tag and self._open_tags[-1].is_block):
            self.end_line()
        if tag == "a":
            self._link = ""
        if not self._tag_counts[tag]:
            return  # it was never opened
        while self._open_tags:
            open_tag = self._open_tags.pop()
            self._tag_counts[open_tag.tag] -= 1
            self._hidden_depth -= open_tag.is_hidden
            if open_tag.container and self._containers and self._containers[-1] == open_tag.container:
                self._containers.pop()
                self._waiting_texts = []
            if open_tag.tag == tag:
                return

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)  # <div/> opens in HTML

    def handle_data(self, data: str) -> None:
        if not self._hidden_depth and not self._tag_counts["title"]:
            self._text.append(data)

    def handle_comment(self, data: str) -> None:
        if match := SAVED_FROM.search(data):
            self._read_number(match[1])

    def end_line(self) -> None:
        """Ends the line of text that began with the last block."""
        text = clean("".join(self._text))
        level, self._text, self._heading_level = self._heading_level, [], 0
        if not text:
            self._heading_level = level  # a block inside the heading
            return
        if self._containers and not _heading(text)[0]:
            if self.figures and self.figures[-1].container in self._containers:  # its own, or one around the caption
                self.figures[-1].texts.append(text)
            else:
                self._waiting_texts.append(text)
            return
        self._containers.clear()  # a section of the case is not in a figure, whatever the class of its container
        self.lines.append(TextLine(text, level))

    def _add_figure(self, attributes: dict[str, str]) -> None:
        texts = [clean(attributes.get(name, "")) for name in ("alt", "title")]
        if not self._containers and not any(re.match(r"fig", text, re.IGNORECASE) for text in texts):
            return  # a logo, an icon
        addresses = [self._link, *(attributes.get(name, "") for name in ("data-full", "src", "data-src"))]
        container = self._containers[-1] if self._containers else 0
        texts = [*filter(None, texts), *self._waiting_texts]
        self.figures.append(PageFigure([*filter(None, addresses)], texts, container))
        self._waiting_texts = []

    def _read_metadata(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "meta":
            name = attributes.get("property") or attributes.get("name") or ""
            if name == "article:published_time" or name.lower() in ("dcterms.date", "citation_publication_date"):
                self.published = self.published or attributes.get("content")
            if name == "og:url":
                self._read_number(attributes.get("content", ""))
        elif tag == "link" and attributes.get("rel") == "canonical":
            self._read_number(attributes.get("href", ""))

    def _read_number(self, address: str) -> None:
        if self.number is None and (match := CASE_NUMBER.search(address)):
            self.number = match[1]


def clean(text: str) -> str:
    """A text on one line, with composed letters and without soft hyphens."""
    return single_line(unicodedata.normalize("NFC", text).replace("\u00ad", ""))


def _heading(text: str) -> tuple[str | None, str]:
    """The section that a line begins (empty if it is dropped, None if it begins none), and the rest of the line."""
    heading = text.casefold().strip(" :.")
    if heading in HEADINGS or heading in DROPPED:
        return HEADINGS.get(heading, ""), ""
    label, colon, rest = text.partition(":")
    label = label.casefold().strip()
    if colon and (label in HEADINGS or label in CATEGORIES):
        return HEADINGS.get(label, ""), rest.strip()
    return None, ""


def _split_categories(line: TextLine) -> list[TextLine]:
    """A line of categories by their labels: `Area of Interest: Liver ; Imaging Technique: CT, MR`."""
    if not _STARTS_CATEGORIES.match(line.text):
        return [line]
    parts = _CATEGORY.split(line.text)  # what is before the first label, then label and text by turns
    return [
        TextLine(f"{label}: {text.strip(' ;|•')}", line.level)
        for label, text in zip(parts[1::2], parts[2::2], strict=True)
    ]


def _sort_into_sections(page: EuroradPage, lines: list[TextLine]) -> None:
    """Of repeated headings the first with text is used; a page may repeat them as tabs."""
    current: list[str] | None = None
    level = 0
    for line in (part for whole in lines for part in _split_categories(whole)):
        name, rest = _heading(line.text)
        if name is not None:
            current, level = None, line.level or 6
            if name and not page.sections.get(name):
                current = page.sections[name] = [rest] if rest else []
            elif not name:
                current = []  # dropped
        elif line.level and line.level <= level:
            current = None  # an unknown heading ends a section of its level
        elif current is None:
            page.other.append(line.text)
        else:
            current.append(line.text)


def _share_captions(figures: list[PageFigure]) -> None:
    """Images in one container without a text of their own get the caption after them."""
    texts_by_container: dict[int, list[str]] = {}
    for figure in reversed(figures):
        if figure.texts:
            texts_by_container[figure.container] = figure.texts
        elif figure.container in texts_by_container:
            figure.texts = texts_by_container[figure.container]
