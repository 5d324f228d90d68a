"""One <PubmedArticle> as a record: scanned if it is formatted as NLM formats it, else parsed.

An XML parser spends its time on authors, affiliations and references, which no record keeps. The scan jumps between
the relevant tags and leaves whatever it does not fully understand to the parser. So both agree on all well-formed
articles; the scan may accept some malformed ones that the parser refuses.
"""

import re
import xml.etree.ElementTree as ET
from functools import lru_cache
from typing import Any

from wardround.core.text import single_line
from wardround.literature.ingest.publication_date import published_date
from wardround.literature.ingest.record import ArticleRecord, join_sections

INLINE = re.compile(r"</?(?:i|b|u|sub|sup)/?>")
ENTITY = re.compile(r"&(?:#x([0-9a-fA-F]{1,6});|#([0-9]{1,7});|(amp|lt|gt|quot|apos);|)")
ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}

PMID = re.compile(rb'<MedlineCitation[^>]*>\s*<PMID(?: Version="([0-9]+)")?>([0-9]+)</PMID>')
SECTION = re.compile(r'<AbstractText(?: Label="([^"<]*)")?(?: NlmCategory="[^"<]*")?(?:/>|>([^<]*)</AbstractText>)')
TITLE = re.compile(r"<Title>([^<]*)</Title>")
DESCRIPTOR = re.compile(r"<DescriptorName [^>]*>([^<]*)</DescriptorName>")
LANGUAGE = re.compile(rb"<Language>([^<]*)</Language>")
TAG = re.compile(r"<[^>]*>")
TYPE = re.compile(r"<PublicationType [^>]*>([^<]*)</PublicationType>")
IDENTIFIER = re.compile(r'<ArticleId IdType="([^"<]*)">([^<]*)</ArticleId>')
LOCATION = re.compile(r'<ELocationID EIdType="([^"<]*)"(?: ValidYN="([YN])")?>([^<]*)</ELocationID>')


class UnusualMarkup(Exception):
    """Markup that the scan leaves to the parser."""


def parse_article(source: bytes) -> ArticleRecord:
    """The record of an article; ValueError if it has none."""
    try:
        return scan_article(source)
    except (UnusualMarkup, ValueError):  # the parser decides
        return parse_with_etree(source)


def scan_article(source: bytes) -> ArticleRecord:
    """The record by scanning for the relevant tags; UnusualMarkup if the format is not NLM's."""
    if b"!" in source and b"<!" in source:  # comments and CDATA; the first test is far cheaper
        raise UnusualMarkup
    pmid = PMID.search(source)
    if pmid is None:
        raise UnusualMarkup
    journal = _inside(source, b"Journal")
    title = _text(INLINE.sub("", _inside(source, b"ArticleTitle")))
    if not title:
        title = _text(INLINE.sub("", _inside(source, b"VernacularTitle")))
    abstract = INLINE.sub("", _inside(source, b"Abstract"))
    sections = [(_text(label), _text(text)) for label, text in _find_all(SECTION, abstract, "<AbstractText")]
    return _record(
        pmid=pmid[2].decode(),
        version=(pmid[1] or b"1").decode(),
        title=title,
        sections=sections,
        issue_date=_date(_between(journal, "<PubDate>", "</PubDate>")),
        electronic_date=_date(_electronic_date(source)),
        journal=_term(_find_all(TITLE, journal, "<Title")[0]) if "<Title" in journal else "",
        mesh=[_term(name) for name in _find_all(DESCRIPTOR, _inside(source, b"MeshHeadingList"), "<DescriptorName")],
        types=[_term(name) for name in _find_all(TYPE, _inside(source, b"PublicationTypeList"), "<PublicationType")],
        languages=_languages(source),
        doi=_doi(source),
    )


def parse_with_etree(source: bytes) -> ArticleRecord:
    """The record by xml.etree, however the article is formatted."""
    try:
        tree = ET.XML(source)
    except ET.ParseError as error:
        raise ValueError(f"is not well-formed: {error}") from None
    citation = tree.find("MedlineCitation")
    pmid = citation.find("PMID") if citation is not None else None
    article = citation.find("Article") if citation is not None else None
    if citation is None or pmid is None or not (pmid.text or "").strip().isdecimal():
        raise ValueError("has no PMID")
    if article is None:
        raise ValueError(f"PMID {single_line(pmid.text or '')} has no Article")
    identifiers = tree.iterfind("PubmedData/ArticleIdList/ArticleId[@IdType='doi']")
    locations = (
        element for element in article.iterfind("ELocationID[@EIdType='doi']") if element.get("ValidYN") != "N"
    )
    return _record(
        pmid=single_line(pmid.text or ""),
        version=pmid.get("Version", "1"),
        title=_content(article.find("ArticleTitle")) or _content(article.find("VernacularTitle")),
        sections=[
            (single_line(element.get("Label", "")), _content(element))
            for element in article.iterfind("Abstract/AbstractText")
        ],
        issue_date=_content(article.find("Journal/JournalIssue/PubDate"), between=" "),
        electronic_date=_content(article.find("ArticleDate"), between=" "),
        journal=_content(article.find("Journal/Title")),
        mesh=[_content(element) for element in citation.iterfind("MeshHeadingList/MeshHeading/DescriptorName")],
        types=[_content(element) for element in article.iterfind("PublicationTypeList/PublicationType")],
        languages=[_content(element) for element in article.iterfind("Language")],
        doi=next(filter(None, map(_content, (*identifiers, *locations))), ""),
    )


def _record(
    pmid: str,
    version: str,
    title: str,
    sections: list[tuple[str, str]],
    issue_date: str,
    electronic_date: str,
    journal: str,
    mesh: list[str],
    types: list[str],
    languages: list[str],
    doi: str,
) -> ArticleRecord:
    abstract, labels = join_sections(sections)
    if not title and not abstract:
        raise ValueError(f"PMID {pmid} has neither title nor abstract")
    if not (version.isdecimal() and len(version) < 7):
        raise ValueError(f"PMID {pmid} has the version {version!r}")
    published = published_date(issue_date, electronic_date)
    return ArticleRecord(
        pmid=pmid,
        version=int(version),
        title=title,
        abstract=abstract,
        labels=labels,
        year=int(published[:4]) if published else None,
        published=published,
        journal=journal or None,
        mesh=list(filter(None, mesh)),
        publication_types=list(filter(None, types)),
        languages=list(filter(None, languages)),
        doi=doi or None,
    )


def _date(markup: str) -> str:
    """The text of a date, its parts separated by spaces."""
    return _term(TAG.sub(" ", markup))


def _electronic_date(source: bytes) -> str:
    start = source.find(b"<ArticleDate")
    return source[source.find(b">", start) + 1 : source.find(b"</ArticleDate>", start)].decode() if start >= 0 else ""


def _languages(source: bytes) -> list[str]:
    languages = LANGUAGE.findall(source)
    if len(languages) != source.count(b"<Language"):
        raise UnusualMarkup
    return [_term(language.decode()) for language in languages]


def _doi(source: bytes) -> str:
    """The DOI in the article's own list of ids (not a reference's), else a valid one among the locations."""
    start = source.rfind(b"<PubmedData>")
    if start >= 0:
        end = source.find(b"<ReferenceList", start)
        ids = _inside(source[start:end] if end >= 0 else source[start:], b"ArticleIdList")
        if not ids and b"<ArticleIdList>" in source:
            raise UnusualMarkup
        for kind, identifier in _find_all(IDENTIFIER, ids, "<ArticleId "):
            if kind == "doi" and (doi := _text(identifier)):
                return doi
    if b"<ELocationID" not in source:
        return ""
    start = source.find(b"<ELocationID")
    end = source.rfind(b"</ELocationID>") + len(b"</ELocationID>")
    for kind, valid, location in _find_all(LOCATION, source[start:end].decode(), "<ELocationID"):
        if kind == "doi" and valid != "N" and (doi := _text(location)):
            return doi
    return ""


def _inside(source: bytes, tag: bytes) -> str:
    """The source inside the first element of this name; empty if there is none."""
    start = source.find(b"<" + tag + b">")
    if start < 0:
        if b"<" + tag + b" " in source or b"<" + tag + b"\n" in source:
            raise UnusualMarkup  # it has attributes
        return ""
    start += len(tag) + 2
    end = source.find(b"</" + tag + b">", start)
    if end < 0:
        raise UnusualMarkup
    return source[start:end].decode()


def _between(text: str, opening: str, closing: str) -> str:
    start = text.find(opening)
    return text[start + len(opening) : text.find(closing, start)] if start >= 0 else ""


def _find_all(pattern: re.Pattern[str], text: str, opening: str) -> list[Any]:
    """All elements with this opening; UnusualMarkup if one does not match the pattern."""
    matches = pattern.findall(text)
    if len(matches) != text.count(opening):
        raise UnusualMarkup
    return matches


def _text(markup: str) -> str:
    """The text of markup without tags, with entities resolved."""
    if "<" in markup:
        raise UnusualMarkup
    return single_line(ENTITY.sub(_character, markup) if "&" in markup else markup)


_term = lru_cache(maxsize=1 << 16)(_text)  # headings, types and journals recur often


def _character(entity: re.Match[str]) -> str:
    hexadecimal, decimal, name = entity.groups()
    if name:
        return ENTITIES[name]
    code = int(hexadecimal, 16) if hexadecimal else int(decimal or 0)
    if not (code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000):
        raise UnusualMarkup  # not a character of XML, or not an entity
    return chr(code)


def _content(element: ET.Element | None, between: str = "") -> str:
    return single_line(between.join(element.itertext())) if element is not None else ""
