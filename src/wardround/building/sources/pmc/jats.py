"""Reads an article from JATS XML."""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from xml.etree.ElementTree import Element

from wardround.building.sources.pmc.article import (
    ArticleFigure,
    ArticleSection,
    PmcArticle,
    clean,
    mark,
    mark_references,
    strip_speaker,
)
from wardround.core.canonical import sha256_file
from wardround.core.safe_xml import UnusableFile, parse_xml

# not running text; tables are left out because their cells are not sentences
SKIPPED_TAGS = {
    *("fig", "fig-group", "table-wrap", "table-wrap-group", "disp-formula", "inline-formula", "fn", "media"),
    *("object-id", "label", "title", "supplementary-material", "graphic", "inline-graphic", "tex-math", "alt-text"),
}
_PANELS = re.compile(r"(?:[A-Z](?:\s*(?:[,&–-]|and)\s*[A-Z]\b)*|[a-z](?:\s*[,&–-]\s*[a-z]\b)*)(?!\w)")
_IS_POWER = re.compile(r"\s*[-−–+]?\d{1,2}\s*")
SUFFIXES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".bmp")


def read_jats(file: Path) -> PmcArticle:
    """The article of a file, with the figure files in its folder."""
    root = parse_xml(file)
    article = root if root.tag == "article" else root.find(".//article")
    if article is None or article.find("front") is None:
        raise UnusableFile("is not a JATS article")
    meta = article.find("front/article-meta")
    if meta is None:
        raise UnusableFile("is a JATS article without article-meta")
    body = article.find("body")
    ids = {element.get("pub-id-type", ""): clean(_text(element)) for element in meta.findall("article-id")}
    sections = [] if body is None else list(_sections(body, []))
    ids_by_number = _ids_by_number(article)
    for section in sections:
        section["paragraphs"] = [mark_references(strip_speaker(text), ids_by_number) for text in section["paragraphs"]]
    number = (ids.get("pmc") or ids.get("pmcid") or "").upper().removeprefix("PMC")
    return {
        "id": f"pmc-{number}" if number.isdigit() else f"pmc-{sha256_file(file)[:10]}",
        "pmid": ids["pmid"] if ids.get("pmid", "").isdigit() else None,
        "type": article.get("article-type", ""),
        "subjects": [clean(_text(subject)) for subject in meta.iterfind("article-categories//subject")],
        "keywords": [clean(_text(keyword)) for keyword in meta.iterfind("kwd-group//kwd")],
        "title": clean(_text(meta.find("title-group/article-title"))),
        "abstract": clean(" ".join(_text(paragraph) for paragraph in meta.iterfind("abstract//p"))),
        "published": _published(meta),
        "sections": sections,
        "figures": list(_figures(article, file)),
        "references": _pmids(article),
    }


def _text(element: Element | None) -> str:
    """The running text of an element: figures as marks, citations left out."""
    if element is None:
        return ""
    parts = [element.text or ""]
    for child in element:
        if child.tag == "xref" and child.get("ref-type") == "fig":
            parts += [mark(figure) for figure in child.get("rid", "").split()]
        elif child.tag == "xref" and child.get("ref-type") in ("bibr", "table", "fn", "supplementary-material"):
            pass
        elif child.tag == "break":
            parts.append(" ")
        elif child.tag == "sup" and _IS_POWER.fullmatch(_text(child)) and "".join(parts).rstrip().endswith("10"):
            parts.append(f"^{_text(child).strip()}")  # 10^9/L, not 109/L
        elif child.tag not in SKIPPED_TAGS:
            parts.append(_text(child))
        tail = child.tail or ""
        if child.tag == "xref" and child.get("ref-type") == "fig":
            tail = _PANELS.sub("", tail, count=1) if _PANELS.match(tail) else tail  # `<xref>Fig. 1</xref>A, B`
        parts.append(tail)
    return "".join(parts)


def _sections(element: Element, titles: list[str]) -> Iterator[ArticleSection]:
    """The paragraphs of a section, then the sections in it, in their order."""
    paragraphs: list[str] = []
    for child in element:
        if child.tag in ("sec", "boxed-text"):
            if paragraphs:
                yield {"titles": titles, "paragraphs": paragraphs}
                paragraphs = []
            title = child.find("title")
            yield from _sections(child, titles if title is None else [*titles, clean(_text(title))])
        elif child.tag not in SKIPPED_TAGS:
            paragraphs += _paragraphs(child)
    if paragraphs:
        yield {"titles": titles, "paragraphs": paragraphs}


def _paragraphs(element: Element) -> list[str]:
    """The text of an element as one paragraph; lists and quotations have several."""
    inner = [paragraph for paragraph in element.iter("p") if paragraph is not element]
    if element.tag == "p" or not inner:
        text = clean(_text(element))
        return [text] if text else []
    return [text for paragraph in inner if (text := clean(_text(paragraph)))]


def _figures(article: Element, file: Path) -> Iterator[ArticleFigure]:
    for number, figure in enumerate(article.iter("fig"), start=1):
        caption = figure.find("caption")
        text = "" if caption is None else " ".join([_text(caption.find("title")), _text(caption)])
        graphic = figure.find(".//graphic")
        image_file = None if graphic is None else find_figure_file(graphic.get("href", ""), file)
        yield {
            "id": figure.get("id") or f"figure-{number}",
            "caption": clean(text),
            "file": str(image_file) if image_file else None,
        }


def _ids_by_number(article: Element) -> dict[str, list[str]]:
    """The figures of each number, as labels give it; a figure without one has that of its place."""
    ids: dict[str, list[str]] = {}
    for place, figure in enumerate(article.iter("fig"), start=1):
        label = clean(_text(figure.find("label")))
        number = re.search(r"\d+", label)
        if number is None or re.fullmatch(r"(?:fig(?:ure)?\.?)?\s*\d+\s*[a-z]?\W*", label, re.IGNORECASE):
            ids.setdefault(number[0] if number else str(place), []).append(figure.get("id") or f"figure-{place}")
    return ids


def find_figure_file(name: str, article: Path) -> Path | None:
    """The image file of a name in the article's folder; the name often has no suffix."""
    if not name or "\0" in name:
        return None
    folder = article.parent.resolve()
    for file_name in (name, *(name + suffix for suffix in SUFFIXES)):
        file = (folder / file_name).resolve()
        if file.suffix.lower() in SUFFIXES and file.is_relative_to(folder) and file.is_file():
            return file
    return None


def _published(meta: Element) -> str | None:
    """The earliest complete date of publication; else the earliest year."""
    days, years = [], []
    for element in meta.findall("pub-date"):
        year, month, day = (clean(_text(element.find(name))) for name in ("year", "month", "day"))
        if year.isdigit():
            years.append(year)
            try:
                days.append(date(int(year), int(month), int(day)).isoformat())
            except ValueError:
                continue
    return min(days or years, default=None)


def _pmids(article: Element) -> list[str]:
    pmids = (clean(_text(element)) for element in article.iterfind(".//ref-list//pub-id[@pub-id-type='pmid']"))
    return list(dict.fromkeys(pmid for pmid in pmids if pmid.isascii() and pmid.isdigit()))
