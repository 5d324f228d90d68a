"""PubMed baseline and update files: articles, then deletions."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from wardround.core.errors import Problem
from wardround.literature.ingest.pubmed_article import parse_article
from wardround.literature.ingest.record import ArticleRecord

OPENING, CLOSING, END = b"<PubmedArticle>", b"</PubmedArticle>", b"</PubmedArticleSet>"
BOOK = b"<PubmedBookArticle>"
DELETED = re.compile(rb'<PMID(?:\s+Version="([0-9]+)")?\s*>\s*([0-9]+)\s*</PMID>')
MAX_ARTICLE_BYTES = 64_000_000  # more without the end of an article: not a PubMed file


def read_pubmed(file: Path, chunks: Iterable[bytes]) -> Iterator[ArticleRecord | Problem]:
    """Every article and deletion of a file in order. A truncated file yields its complete articles."""
    number = 0
    rest = b""
    for chunk in chunks:
        pieces = (rest + chunk).split(CLOSING)
        rest = pieces.pop()
        for piece in pieces:
            between, *opened = piece.split(OPENING)
            yield from _between_articles(file, between)
            for _ in opened[:-1]:
                number += 1
                yield Problem(file, None, f"record {number}", "has no end")
            number += 1
            try:
                if not opened:
                    raise ValueError("has no beginning")
                yield parse_article(OPENING + opened[-1] + CLOSING)
            except ValueError as error:
                yield Problem(file, None, f"record {number}", str(error))
        if len(rest) > MAX_ARTICLE_BYTES:
            yield Problem(file, None, None, f"no article ends within {MAX_ARTICLE_BYTES:,} bytes after record {number}")
            return
    yield from _between_articles(file, rest.partition(OPENING)[0])
    if OPENING in rest:
        yield Problem(file, None, f"record {number + 1}", "has no end")
    elif END not in rest:
        message = f"ends after record {number} without {END.decode()}" if number else "contains no PubMed articles"
        yield Problem(file, None, None, message)


def _between_articles(file: Path, source: bytes) -> Iterator[ArticleRecord | Problem]:
    """Deletions and books."""
    for _ in range(source.count(BOOK)):
        yield Problem(file, None, None, "books and book chapters are not read")
    start = source.find(b"<DeleteCitation>")
    if start >= 0:
        for version, pmid in DELETED.findall(source, start):
            yield ArticleRecord(pmid.decode(), int(version or 1), deleted=True)
