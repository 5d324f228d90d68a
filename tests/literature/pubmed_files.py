"""PubMed files for tests: written from parts, and read again by xml.etree as the oracle."""

from __future__ import annotations

import calendar
import gzip
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

ODD = r"""
<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">1</PMID>
  <Article PubModel="Print"><Journal><JournalIssue CitedMedium="Print"><PubDate><Year>1998</Year><Month>12</Month><Day>01</Day></PubDate></JournalIssue>
    <Title>Brain &amp; spine</Title><ISOAbbreviation>B &amp; S</ISOAbbreviation></Journal>
    <ArticleTitle>The <i>BRCA1</i> gene, H<sub>2</sub>O and &#946;-blockers at p &lt; 0.05 &#x2013; &quot;a&quot; &apos;view&apos;.</ArticleTitle>
    <ELocationID EIdType="pii" ValidYN="Y">S1</ELocationID><ELocationID EIdType="doi" ValidYN="N">10.1/wrong</ELocationID><ELocationID EIdType="doi" ValidYN="Y">10.1/right</ELocationID>
    <Abstract><AbstractText Label="AIMS &amp; METHODS" NlmCategory="METHODS">We  asked
      <b>1<sup>st</sup></b>.</AbstractText><AbstractText Label="UNLABELLED" NlmCategory="UNASSIGNED">No label.</AbstractText><AbstractText Label="EMPTY"/>
      <AbstractText Label="RESULTS">x&#160;&gt;&#8201;y &amp;amp; so.</AbstractText><CopyrightInformation>Copyright &#169; nobody.</CopyrightInformation></Abstract>
    <AuthorList CompleteYN="Y"><Author ValidYN="Y"><CollectiveName>The <i>Trial</i> Group</CollectiveName></Author></AuthorList>
    <Language>eng</Language><PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType><PublicationType UI="D016449">Randomized Controlled Trial</PublicationType></PublicationTypeList></Article>
  <CommentsCorrectionsList><CommentsCorrections RefType="CommentIn"><RefSource>X</RefSource><PMID Version="3">99</PMID></CommentsCorrections></CommentsCorrectionsList>
  <MeshHeadingList><MeshHeading><DescriptorName UI="D1" MajorTopicYN="N">Humans</DescriptorName></MeshHeading>
    <MeshHeading><DescriptorName UI="D2" MajorTopicYN="Y">Drugs &amp; Doses</DescriptorName><QualifierName UI="Q1" MajorTopicYN="N">adverse effects</QualifierName></MeshHeading></MeshHeadingList>
  <OtherAbstract Type="Publisher" Language="spa"><AbstractText>En otra lengua.</AbstractText></OtherAbstract></MedlineCitation>
  <PubmedData><ArticleIdList><ArticleId IdType="pubmed">1</ArticleId></ArticleIdList>
    <ReferenceList><Reference><Citation>Y</Citation><ArticleIdList><ArticleId IdType="doi">10.1/of-a-reference</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>
<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="2">2</PMID>
  <Article PubModel="Print"><Journal><JournalIssue CitedMedium="Print"><PubDate><MedlineDate>1998 Dec-1999 Jan</MedlineDate></PubDate></JournalIssue><Title>J</Title></Journal>
    <ArticleTitle>No abstract of its own.</ArticleTitle><PublicationTypeList><PublicationType UI="D1">Letter</PublicationType></PublicationTypeList></Article>
  <OtherAbstract Type="plain-language-summary"><AbstractText>Plainly.</AbstractText></OtherAbstract></MedlineCitation>
  <PubmedData><ArticleIdList><ArticleId IdType="doi">10.2/SICI&lt;1::AID&gt;3.0</ArticleId></ArticleIdList></PubmedData></PubmedArticle>
<PubmedArticle><MedlineCitation Status="Publisher" Owner="NLM"><PMID Version="1">3</PMID>
  <Article PubModel="Print"><Journal><JournalIssue CitedMedium="Print"><PubDate><Season>Winter</Season></PubDate></JournalIssue></Journal>
    <ArticleTitle/><Abstract><AbstractText>E = <mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML" alt="a>b"><mml:mi>m</mml:mi><mml:mi>c</mml:mi></mml:math> holds.</AbstractText></Abstract>
    <VernacularTitle>Über die Ärzte.</VernacularTitle></Article></MedlineCitation></PubmedArticle>
<PubmedArticle><!-- <Abstract><AbstractText>not this</AbstractText></Abstract> --><MedlineCitation Status='MEDLINE'><PMID Version='4'> 4 </PMID>
  <Article><Journal><JournalIssue><PubDate><Year>2001</Year></PubDate></JournalIssue><Title ><![CDATA[Cells & <Organs>]]></Title ></Journal>
    <ArticleTitle book="b">Otherwise written</ArticleTitle><ELocationID ValidYN='Y' EIdType='doi'>10.4/x</ELocationID>
    <Abstract><AbstractText NlmCategory='RESULTS' Label='RESULTS'>Found.</AbstractText></Abstract>
    <PublicationTypeList><PublicationType>Review</PublicationType></PublicationTypeList></Article>
  <MeshHeadingList><MeshHeading><DescriptorName>Mice</DescriptorName></MeshHeading></MeshHeadingList></MedlineCitation></PubmedArticle>
"""  # noqa: E501

INDENTED = """
\t<PubmedArticle>
\t\t<MedlineCitation Owner="NLM" Status="MEDLINE">
\t\t\t<PMID Version="1">900001</PMID>
\t\t\t<DateRevised>
\t\t\t\t<Year>2023</Year>
\t\t\t</DateRevised>
\t\t\t<Article PubModel="Print">
\t\t\t\t<Journal>
\t\t\t\t\t<JournalIssue CitedMedium="Internet">
\t\t\t\t\t\t<PubDate>
\t\t\t\t\t\t\t<Year>2019</Year>
\t\t\t\t\t\t</PubDate>
\t\t\t\t\t</JournalIssue>
\t\t\t\t\t<Title>The invented journal</Title>
\t\t\t\t</Journal>
\t\t\t\t<ArticleTitle>An indented record.</ArticleTitle>
\t\t\t\t<ELocationID EIdType="doi" ValidYN="Y">10.5/inv.2019</ELocationID>
\t\t\t\t<Abstract>
\t\t\t\t\t<AbstractText Label="BACKGROUND">A &#946;
\t\t\t\t\t\t<sub>2</sub>-agonist, as invented.
\t\t\t\t\t</AbstractText>
\t\t\t\t\t<AbstractText Label="RESULTS">Better (34.4% vs. 31.1%).</AbstractText>
\t\t\t\t</Abstract>
\t\t\t\t<PublicationTypeList>
\t\t\t\t\t<PublicationType UI="D016428">Journal Article</PublicationType>
\t\t\t\t</PublicationTypeList>
\t\t\t</Article>
\t\t</MedlineCitation>
\t</PubmedArticle>
"""

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet SYSTEM "pubmed.dtd">\n<PubmedArticleSet>\n'


def pubmed(*articles: str, deleted: list[tuple[int, int]] | None = None) -> bytes:
    """A file of articles, then the PMIDs and versions that it deletes."""
    gone = "".join(f'<PMID Version="{version}">{pmid}</PMID>\n' for pmid, version in deleted or ())
    end = f"<DeleteCitation>\n{gone}</DeleteCitation>\n" if gone else ""
    return f"{HEAD}{''.join(articles)}{end}</PubmedArticleSet>\n".encode()


def written(
    pmid: int | str,
    title: str,
    sections: list[tuple[str, str]] | None = None,
    *,
    version: int = 1,
    year: int | None = 2020,
    journal: str | None = "J",
    mesh: list[str] | None = None,
    types: list[str] | None = None,
    doi: str | None = None,
) -> str:
    """One article as NLM writes it."""
    sections = "".join(
        element("AbstractText", escape(text), label and f" Label={quoted(label)}") for label, text in sections or ()
    )
    headings = "".join(
        element("MeshHeading", element("DescriptorName", escape(name), ' UI="D" MajorTopicYN="N"'))
        for name in mesh or ()
    )
    kinds = "".join(element("PublicationType", escape(name), ' UI="D"') for name in types or ())
    date = element("Year", str(year)) + element("Month", "05") if year else ""
    return (
        f'<PubmedArticle><MedlineCitation Owner="NLM"><PMID Version="{version}">{pmid}</PMID><Article><Journal>'
        f'<JournalIssue CitedMedium="Internet">{element("PubDate", date)}</JournalIssue>'
        f"{element('Title', escape(journal or ''))}</Journal><ArticleTitle>{escape(title)}</ArticleTitle>"
        f"{element('Abstract', sections)}<AuthorList><Author><LastName>Who</LastName></Author></AuthorList>"
        f"{element('PublicationTypeList', kinds)}</Article>{element('MeshHeadingList', headings)}</MedlineCitation>"
        f'<PubmedData><ArticleIdList><ArticleId IdType="pubmed">{pmid}</ArticleId>'
        f"{element('ArticleId', escape(doi or ''), ' IdType=' + quoted('doi'))}"
        f"</ArticleIdList></PubmedData></PubmedArticle>\n"
    )


def element(name: str, content: str, attributes: str = "") -> str:
    """An element, where it holds anything."""
    return f"<{name}{attributes}>{content}</{name}>" if content else ""


def by_etree(file: Path) -> list[dict[str, object]]:
    """All articles of a file by a plain parse of the whole."""
    with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as opened:
        root = ET.parse(opened).getroot()
    found = []
    for each in root.findall("PubmedArticle"):
        pmid = each.find("MedlineCitation/PMID")
        date = each.find("MedlineCitation/Article/Journal/JournalIssue/PubDate")
        years = [part for part in (date.findtext("Year"), date.findtext("MedlineDate")) if part]
        dois = [text(part) for part in each.findall("PubmedData/ArticleIdList/ArticleId[@IdType='doi']")]
        places = each.findall("MedlineCitation/Article/ELocationID[@EIdType='doi']")
        dois += [text(part) for part in places if part.get("ValidYN") == "Y"]
        titles = ("ArticleTitle", "VernacularTitle")
        abstract = each.findall("MedlineCitation/Article/Abstract/AbstractText")
        found.append(
            {
                "pmid": pmid.text.strip(),
                "version": int(pmid.get("Version")),
                "title": next(
                    filter(None, (text(each.find(f"MedlineCitation/Article/{name}")) for name in titles)), ""
                ),
                "sections": [
                    (part.get("Label", "").replace("UNLABELLED", ""), text(part)) for part in abstract if text(part)
                ],
                "year": int(re.search(r"\d{4}", years[0])[0]) if years else None,
                "published": published(date, each.find("MedlineCitation/Article/ArticleDate")),
                "languages": [text(part) for part in each.findall("MedlineCitation/Article/Language")],
                "journal": text(each.find("MedlineCitation/Article/Journal/Title")) or None,
                "mesh": [text(part) for part in each.findall(".//DescriptorName")],
                "publication_types": [text(part) for part in each.findall(".//PublicationType")],
                "doi": dois[0] if dois else None,
            }
        )
    return found


def published(date: ET.Element, electronic: ET.Element | None) -> str | None:
    """The parts of the date of the issue, and those of the electronic date if it goes on from there."""
    months = [calendar.month_abbr[number] for number in range(13)]
    if (year := date.findtext("Year")) is None:
        years = re.findall(r"\d{4}", date.findtext("MedlineDate") or "")
        return years[0] if years else None
    parts = [year]
    if month := date.findtext("Month"):
        parts.append(f"{int(month) if month.isdigit() else months.index(month):02}")
        parts += [f"{int(day):02}" for day in [date.findtext("Day")] if day]
    online = [f"{int(part.text):02}" for part in electronic] if electronic is not None else []
    return "-".join(online if online[: len(parts)] == parts else parts)


def text(element: ET.Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def quoted(value: str) -> str:
    return quoteattr(value, {'"': "&quot;"})
