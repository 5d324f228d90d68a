"""One <PubmedArticle> as a Record: scanned where it is written as NLM writes it, else parsed.

A parser spends its time on authors, affiliations and references, which no record keeps. The scan jumps from tag to
tag that matters, and takes nothing that it does not wholly understand: the record then goes to the parser. So both
agree on all that is well-formed; of what is not, the scan may read what the parser would refuse.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import lru_cache
from typing import Any

from wardround.literature.ingest.record import Record, joined, plain

YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")  # the first of "1998 Dec-1999 Jan"
INLINE = re.compile(r"</?(?:i|b|u|sub|sup)/?>")
ENTITY = re.compile(r"&(?:#x([0-9a-fA-F]{1,6});|#([0-9]{1,7});|(amp|lt|gt|quot|apos);|)")
NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}

PMID = re.compile(rb'<MedlineCitation[^>]*>\s*<PMID(?: Version="([0-9]+)")?>([0-9]+)</PMID>')
SECTION = re.compile(r'<AbstractText(?: Label="([^"<]*)")?(?: NlmCategory="[^"<]*")?(?:/>|>([^<]*)</AbstractText>)')
TITLE = re.compile(r"<Title>([^<]*)</Title>")
DESCRIPTOR = re.compile(r"<DescriptorName [^>]*>([^<]*)</DescriptorName>")
TYPE = re.compile(r"<PublicationType [^>]*>([^<]*)</PublicationType>")
IDENTIFIER = re.compile(r'<ArticleId IdType="([^"<]*)">([^<]*)</ArticleId>')
LOCATION = re.compile(r'<ELocationID EIdType="([^"<]*)"(?: ValidYN="([YN])")?>([^<]*)</ELocationID>')


class Unusual(Exception):
    """The scan met something that it leaves to the parser."""


def article(source: bytes) -> Record:
    """The record of an article. ValueError says what is wrong with it."""
    try:
        return scanned(source)
    except (Unusual, ValueError):  # whatever the scan refuses, the parser has the last word
        return parsed(source)


def scanned(source: bytes) -> Record:
    """The record by jumping to what matters; Unusual where the article is not written as NLM writes them."""
    if b"!" in source and b"<!" in source:  # comments and CDATA could hold anything; the first look is far cheaper
        raise Unusual
    named = PMID.search(source)
    if named is None:
        raise Unusual
    journal = _inside(source, b"Journal")
    title = _text(INLINE.sub("", _inside(source, b"ArticleTitle")))
    if not title:
        title = _text(INLINE.sub("", _inside(source, b"VernacularTitle")))
    abstract = INLINE.sub("", _inside(source, b"Abstract"))
    told = [(_text(label), _text(text)) for label, text in _all(SECTION, abstract, "<AbstractText")]
    return _record(
        pmid=named[2].decode(),
        version=(named[1] or b"1").decode(),
        title=title,
        told=told,
        date=_between(journal, "<PubDate>", "</PubDate>"),
        journal=_term(_all(TITLE, journal, "<Title")[0]) if "<Title" in journal else "",
        mesh=[_term(name) for name in _all(DESCRIPTOR, _inside(source, b"MeshHeadingList"), "<DescriptorName")],
        types=[_term(name) for name in _all(TYPE, _inside(source, b"PublicationTypeList"), "<PublicationType")],
        doi=_doi(source),
    )


def parsed(source: bytes) -> Record:
    """The record by xml.etree, whatever way the article is written."""
    try:
        tree = ET.XML(source)
    except ET.ParseError as error:
        raise ValueError(f"is not well-formed: {error}") from None
    citation = tree.find("MedlineCitation")
    found = citation.find("PMID") if citation is not None else None
    told = citation.find("Article") if citation is not None else None
    if citation is None or found is None or not (found.text or "").strip().isdecimal():
        raise ValueError("has no PMID")
    if told is None:
        raise ValueError(f"PMID {plain(found.text or '')} has no Article")
    identifiers = tree.iterfind("PubmedData/ArticleIdList/ArticleId[@IdType='doi']")
    locations = (each for each in told.iterfind("ELocationID[@EIdType='doi']") if each.get("ValidYN") != "N")
    return _record(
        pmid=plain(found.text or ""),
        version=found.get("Version", "1"),
        title=_content(told.find("ArticleTitle")) or _content(told.find("VernacularTitle")),
        told=[(plain(each.get("Label", "")), _content(each)) for each in told.iterfind("Abstract/AbstractText")],
        date=_content(told.find("Journal/JournalIssue/PubDate"), between=" "),
        journal=_content(told.find("Journal/Title")),
        mesh=[_content(each) for each in citation.iterfind("MeshHeadingList/MeshHeading/DescriptorName")],
        types=[_content(each) for each in told.iterfind("PublicationTypeList/PublicationType")],
        doi=next(filter(None, map(_content, (*identifiers, *locations))), ""),
    )


def _record(
    pmid: str,
    version: str,
    title: str,
    told: list[tuple[str, str]],
    date: str,
    journal: str,
    mesh: list[str],
    types: list[str],
    doi: str,
) -> Record:
    abstract, labels = joined(told)
    if not title and not abstract:
        raise ValueError(f"PMID {pmid} has neither title nor abstract")
    if not (version.isdecimal() and len(version) < 7):
        raise ValueError(f"PMID {pmid} has the version {version!r}")
    found = YEAR.search(date)
    year = int(found[0]) if found else None
    mesh, types = list(filter(None, mesh)), list(filter(None, types))
    return Record(pmid, int(version), False, title, abstract, labels, year, journal or None, mesh, types, doi or None)


def _doi(source: bytes) -> str:
    """That of the list of ids, not of a reference's; where it has none, a valid one among the locations."""
    start = source.rfind(b"<PubmedData>")
    if start >= 0:
        end = source.find(b"<ReferenceList", start)
        ids = _inside(source[start:end] if end >= 0 else source[start:], b"ArticleIdList")
        if not ids and b"<ArticleIdList>" in source:
            raise Unusual
        for kind, identifier in _all(IDENTIFIER, ids, "<ArticleId "):
            if kind == "doi" and (doi := _text(identifier)):
                return doi
    if b"<ELocationID" not in source:
        return ""
    start = source.find(b"<ELocationID")
    end = source.rfind(b"</ELocationID>") + len(b"</ELocationID>")
    for kind, valid, location in _all(LOCATION, source[start:end].decode(), "<ELocationID"):
        if kind == "doi" and valid != "N" and (doi := _text(location)):
            return doi
    return ""


def _inside(source: bytes, tag: bytes) -> str:
    """What the first element of this name holds, as it is written; empty where there is none."""
    start = source.find(b"<" + tag + b">")
    if start < 0:
        if b"<" + tag + b" " in source or b"<" + tag + b"\n" in source:
            raise Unusual  # it has attributes
        return ""
    start += len(tag) + 2
    end = source.find(b"</" + tag + b">", start)
    if end < 0:
        raise Unusual
    return source[start:end].decode()


def _between(text: str, opening: str, closing: str) -> str:
    start = text.find(opening)
    return text[start + len(opening) : text.find(closing, start)] if start >= 0 else ""


def _all(pattern: re.Pattern[str], text: str, opening: str) -> list[Any]:
    """All elements that begin so; Unusual where one of them is not of the form that the pattern knows."""
    found = pattern.findall(text)
    if len(found) != text.count(opening):
        raise Unusual
    return found


def _text(written: str) -> str:
    """Text as it is meant, of text as it is written, without tags."""
    if "<" in written:
        raise Unusual
    return plain(ENTITY.sub(_character, written) if "&" in written else written)


_term = lru_cache(maxsize=1 << 16)(_text)  # headings, types and journals come again and again


def _character(entity: re.Match[str]) -> str:
    hexadecimal, decimal, name = entity.groups()
    if name:
        return NAMED[name]
    code = int(hexadecimal, 16) if hexadecimal else int(decimal or 0)
    if not (code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000):
        raise Unusual  # no character of XML, or no entity at all
    return chr(code)


def _content(element: ET.Element | None, between: str = "") -> str:
    return plain(between.join(element.itertext())) if element is not None else ""
