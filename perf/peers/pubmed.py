"""Other ways to read a PubMed file: each returns how many records it read."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pubmed_parser
from lxml import etree

END = b"</PubmedArticle>"
CUT = [(b"<AuthorList", b"</AuthorList>"), (b"<History>", b"</History>"), (b"<ReferenceList>", b"</ReferenceList>")]


def split_and_cut(file: Path) -> int:
    """Each article by itself, without its long lists: the fastest parser that was measured before ours was written."""
    with gzip.open(file) as opened:
        rest, count = b"", 0
        while chunk := opened.read1(1 << 20):
            *articles, rest = (rest + chunk).split(END)
            for article in articles:
                fields(etree.fromstring(without_lists(article[article.index(b"<PubmedArticle>") :] + END)))
                count += 1
    return count


def without_lists(article: bytes) -> bytes:
    for opening, closing in CUT:
        start = article.find(opening)
        if start >= 0:
            article = article[:start] + article[article.rindex(closing) + len(closing) :]
    return article


def iterparse(file: Path) -> int:
    count = 0
    with gzip.open(file) as opened:
        for _, element in etree.iterparse(opened, tag="PubmedArticle"):
            fields(element)
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
            count += 1
    return count


def fields(tree: Any) -> tuple[Any, ...]:
    """What a record keeps."""
    citation = tree.find("MedlineCitation")
    article = citation.find("Article")
    abstract = [(element.get("Label"), text(element)) for element in article.iterfind("Abstract/AbstractText")]
    return (
        citation.findtext("PMID"),
        citation.find("PMID").get("Version"),
        text(article.find("ArticleTitle")),
        "\n".join(f"{label}: {words}" if label else words for label, words in abstract),
        article.findtext("Journal/JournalIssue/PubDate/Year"),
        article.findtext("Journal/Title"),
        [element.text for element in citation.iterfind("MeshHeadingList/MeshHeading/DescriptorName")],
        [element.text for element in article.iterfind("PublicationTypeList/PublicationType")],
        [
            element.text
            for element in tree.iterfind("PubmedData/ArticleIdList/ArticleId")
            if element.get("IdType") == "doi"
        ],
    )


def text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def pubmed_parsers(file: Path) -> int:
    return sum(1 for _ in pubmed_parser.parse_medline_xml(str(file)))


OTHERS = {"lxml.iterparse": iterparse, "pubmed_parser": pubmed_parsers}
