"""Full text from PMC: the article with its abstract, then its passages, which are searched as articles of their own.

A passage has the PMID of its article and a number ("29768149#3"), the titles of its article and section, and the
paragraphs of one section up to PASSAGE_WORDS. Whatever excludes the article excludes its passages.
"""

import io
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast
from xml.etree.ElementTree import Element

from wardround.core.dates import parse_partial_date
from wardround.core.errors import Problem
from wardround.core.safe_xml import MAX_BYTES, UnusableFile, parse_stream
from wardround.core.text import single_line
from wardround.literature.ingest.record import ArticleRecord, join_sections

PASSAGE_WORDS = 250  # our choice: encoders read 512 tokens
NOT_TEXT = {
    *("fig", "fig-group", "table-wrap", "table-wrap-group", "disp-formula", "fn", "media", "object-id", "label"),
    *("supplementary-material", "graphic", "inline-graphic", "tex-math", "alt-text", "ref-list", "title"),
}
CITATIONS = {"bibr", "fig", "table", "fn", "supplementary-material"}


def read_article(file: Path, pieces: Iterable[bytes]) -> Iterator[ArticleRecord | Problem]:
    """The records of one JATS file (.nxml)."""
    yield from _read(file, None, io.BytesIO(b"".join(pieces)))


def read_package(file: Path, pieces: Iterable[bytes]) -> Iterator[ArticleRecord | Problem]:
    """The records of all JATS files in a package, as PMC's open-access subset is distributed (.tar.gz)."""
    try:
        with tarfile.open(fileobj=cast(BinaryIO, _Stream(pieces)), mode="r|") as package:
            for member in package:
                if not member.isfile() or not member.name.endswith((".nxml", ".xml")):
                    continue
                if member.size > MAX_BYTES:
                    yield Problem(file, None, None, f"{member.name}: has more than {MAX_BYTES >> 20} MB")
                elif content := package.extractfile(member):
                    yield from _read(file, member.name, cast(BinaryIO, content))
    except tarfile.TarError as error:
        yield Problem(file, None, None, f"is not a whole tar file ({error}); the articles before that are kept")


def _read(file: Path, name: str | None, content: BinaryIO) -> Iterator[ArticleRecord | Problem]:
    try:
        yield from article_records(parse_stream(content))
    except UnusableFile as error:
        yield Problem(file, None, None, f"{name}: {error}" if name else str(error))


def article_records(root: Element) -> Iterator[ArticleRecord]:
    """The article, then its passages."""
    article = root if root.tag == "article" else root.find(".//article")
    meta = article.find("front/article-meta") if article is not None else None
    if article is None or meta is None:
        raise UnusableFile("is not a JATS article")
    ids = {element.get("pub-id-type", ""): _text(element) for element in meta.findall("article-id")}
    number = (ids.get("pmc") or ids.get("pmcid") or "").upper().removeprefix("PMC")
    pmid = ids.get("pmid", "")
    if not pmid.isdecimal():
        if not number.isdecimal():
            raise UnusableFile("has neither a PMID nor a PMCID")
        pmid = f"PMC{number}"
    title = _text(meta.find("title-group/article-title"))
    abstract, labels = join_sections(list(_abstract(meta)))
    if not title and not abstract:
        raise UnusableFile("has neither title nor abstract")
    published = _published(meta)
    record = ArticleRecord(
        pmid=pmid,
        title=title,
        abstract=abstract,
        labels=labels,
        year=int(published[:4]) if published else None,
        published=published,
        journal=_text(article.find("front/journal-meta//journal-title")) or None,
        doi=ids.get("doi") or None,
    )
    yield record
    body = article.find("body")
    passages = _passages(body, []) if body is not None else iter(())
    for position, (titles, text) in enumerate(passages, 1):
        heading = ": ".join(filter(None, [title, " - ".join(titles)]))
        yield record._replace(pmid=f"{pmid}#{position}", title=heading, abstract=text, labels=[])


def _abstract(meta: Element) -> Iterator[tuple[str, str]]:
    """The sections of the article's own abstract: label and text. Summaries and graphical abstracts are others."""
    abstract = next((element for element in meta.findall("abstract") if element.get("abstract-type") is None), None)
    if abstract is None:
        return
    sections = abstract.findall("sec")
    for section in sections or [abstract]:
        yield _text(section.find("title")), single_line(" ".join(map(_text, section.iter("p"))))


def _passages(element: Element, titles: list[str]) -> Iterator[tuple[list[str], str]]:
    """The texts of a section, then those of the sections in it, in their order."""
    paragraphs: list[str] = []
    for child in element:
        if child.tag in ("sec", "boxed-text"):
            yield from _joined(titles, paragraphs)
            paragraphs = []
            yield from _passages(child, [*titles, *filter(None, [_text(child.find("title"))])])
        elif child.tag not in NOT_TEXT:
            texts = [_text(paragraph) for paragraph in child.iter("p") if paragraph is not child]
            paragraphs += filter(None, texts if texts and child.tag != "p" else [_text(child)])
    yield from _joined(titles, paragraphs)


def _joined(titles: list[str], paragraphs: list[str]) -> Iterator[tuple[list[str], str]]:
    """Paragraphs together up to the size of a passage; a longer one alone."""
    joined: list[str] = []
    words = 0
    for paragraph in paragraphs:
        count = len(paragraph.split())
        if joined and words + count > PASSAGE_WORDS:
            yield titles, "\n".join(joined)
            joined, words = [], 0
        joined.append(paragraph)
        words += count
    if joined:
        yield titles, "\n".join(joined)


def _text(element: Element | None) -> str:
    """The running text of an element on one line, without figures, tables, formulas and citations."""
    return single_line("".join(_pieces(element))) if element is not None else ""


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        is_citation = child.tag == "xref" and child.get("ref-type") in CITATIONS
        if child.tag == "break":
            yield " "
        elif child.tag not in NOT_TEXT and not is_citation:
            yield from _pieces(child)
        yield child.tail or ""


def _published(meta: Element) -> str | None:
    """The earliest date of publication, as precisely as it is stated."""
    dates = []
    for element in meta.findall("pub-date"):
        year, month, day = (_text(element.find(name)) for name in ("year", "month", "day"))
        parts = [year.zfill(4), *([month.zfill(2), *([day.zfill(2)] if day else [])] if month.isdecimal() else [])]
        try:
            dates.append(parse_partial_date("-".join(parts)))
        except ValueError:
            continue
    return min(dates, key=lambda date: (date[:4], -len(date), date), default=None)


class _Stream:
    """Pieces as a file that tarfile reads."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._buffer = b""

    def read(self, size: int) -> bytes:
        while len(self._buffer) < size and (piece := next(self._pieces, b"")):
            self._buffer += piece
        result, self._buffer = self._buffer[:size], self._buffer[size:]
        return result
