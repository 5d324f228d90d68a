"""JATS XML as an article."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from xml.etree.ElementTree import Element

from wardround.building.sources.pmc.article import Article, Figure, Section, clean, mark
from wardround.building.sources.pmc.xml import NotUsable, parsed
from wardround.core.canonical import sha256_file

# what is no running text; tables are left out because their cells make no sentences
LEFT_OUT = {"fig", "fig-group", "table-wrap", "table-wrap-group", "disp-formula", "inline-formula", "fn", "media"}
LEFT_OUT |= {
    "object-id",
    "label",
    "title",
    "supplementary-material",
    "graphic",
    "inline-graphic",
    "tex-math",
    "alt-text",
}
SUFFIXES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".bmp")


def read_jats(file: Path) -> Article:
    """The article of a file, with the figure files that stand beside it."""
    root = parsed(file)
    article = root if root.tag == "article" else root.find(".//article")
    if article is None or article.find("front") is None:
        raise NotUsable("is not a JATS article")
    meta = article.find("front/article-meta")
    if meta is None:
        raise NotUsable("is a JATS article without article-meta")
    ids = {each.get("pub-id-type", ""): clean(_text(each)) for each in meta.findall("article-id")}
    number = (ids.get("pmc") or ids.get("pmcid") or "").upper().removeprefix("PMC")
    return {
        "id": f"pmc-{number}" if number.isdigit() else f"pmc-{sha256_file(file)[:10]}",
        "pmid": ids["pmid"] if ids.get("pmid", "").isdigit() else None,
        "type": article.get("article-type", ""),
        "subjects": [clean(_text(each)) for each in meta.iterfind("article-categories//subject")],
        "title": clean(_text(meta.find("title-group/article-title"))),
        "abstract": clean(" ".join(_text(each) for each in meta.iterfind("abstract//p"))),
        "published": _published(meta),
        "sections": list(_sections(article)),
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
        elif child.tag not in LEFT_OUT:
            parts.append(_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _sections(article: Element) -> Iterator[Section]:
    body = article.find("body")
    if body is not None:
        yield from _inside(body, [])


def _inside(element: Element, titles: list[str]) -> Iterator[Section]:
    """The paragraphs of a section, then the sections in it, in their order."""
    paragraphs: list[str] = []
    for child in element:
        if child.tag in ("sec", "boxed-text"):
            if paragraphs:
                yield {"titles": titles, "paragraphs": paragraphs}
                paragraphs = []
            title = child.find("title")
            yield from _inside(child, titles if title is None else [*titles, clean(_text(title))])
        elif child.tag not in LEFT_OUT:
            found = _paragraphs(child)
            paragraphs += found
    if paragraphs:
        yield {"titles": titles, "paragraphs": paragraphs}


def _paragraphs(element: Element) -> list[str]:
    """An element's own text as one paragraph; lists and quotations by theirs."""
    inner = [each for each in element.iter("p") if each is not element]
    if element.tag == "p" or not inner:
        text = clean(_text(element))
        return [text] if text else []
    return [text for each in inner if (text := clean(_text(each)))]


def _figures(article: Element, file: Path) -> Iterator[Figure]:
    for number, figure in enumerate(article.iter("fig"), start=1):
        caption = figure.find("caption")
        told = "" if caption is None else " ".join([_text(caption.find("title")), _text(caption)])
        graphic = figure.find(".//graphic")
        there = None if graphic is None else beside(graphic.get("href", ""), file)
        yield {
            "id": figure.get("id") or f"figure-{number}",
            "caption": clean(told),
            "file": str(there) if there else None,
        }


def beside(name: str, article: Path) -> Path | None:
    """The image file of a name that stands in the article's folder; the name has often no suffix."""
    if not name or "\0" in name:
        return None
    folder = article.parent.resolve()
    for each in (name, *(name + suffix for suffix in SUFFIXES)):
        file = (folder / each).resolve()
        if file.suffix.lower() in SUFFIXES and file.is_relative_to(folder) and file.is_file():
            return file
    return None


def _published(meta: Element) -> str | None:
    """The earliest date of publication that is whole; else the earliest year."""
    days, years = [], []
    for each in meta.findall("pub-date"):
        year, month, day = (clean(_text(each.find(name))) for name in ("year", "month", "day"))
        if year.isdigit():
            years.append(year)
            try:
                days.append(date(int(year), int(month), int(day)).isoformat())
            except ValueError:
                continue
    return min(days or years, default=None)


def _pmids(article: Element) -> list[str]:
    found = (clean(_text(each)) for each in article.iterfind(".//ref-list//pub-id[@pub-id-type='pmid']"))
    return list(dict.fromkeys(pmid for pmid in found if pmid.isascii() and pmid.isdigit()))
