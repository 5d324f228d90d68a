"""PubMed baseline and update files: articles one after another, then those deleted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from wardround.core.errors import Problem
from wardround.literature.ingest.pubmed_article import article
from wardround.literature.ingest.record import Record

OPENING, CLOSING, END = b"<PubmedArticle>", b"</PubmedArticle>", b"</PubmedArticleSet>"
BOOK = b"<PubmedBookArticle>"
DELETED = re.compile(rb'<PMID(?:\s+Version="([0-9]+)")?\s*>\s*([0-9]+)\s*</PMID>')
LONGEST = 64_000_000  # bytes without the end of an article: this is no PubMed file


def read_pubmed(file: Path, chunks: Iterable[bytes]) -> Iterator[Record | Problem]:
    """Every article and deletion of a file in its order. A file that stops early gives what was whole."""
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
                yield article(OPENING + opened[-1] + CLOSING)
            except ValueError as error:
                yield Problem(file, None, f"record {number}", str(error))
        if len(rest) > LONGEST:
            yield Problem(file, None, None, f"no article ends within {LONGEST:,} bytes after record {number}")
            return
    yield from _between_articles(file, rest.partition(OPENING)[0])
    if OPENING in rest:
        yield Problem(file, None, f"record {number + 1}", "has no end")
    elif END not in rest:
        wrong = f"ends after record {number} without {END.decode()}" if number else "holds no PubMed articles"
        yield Problem(file, None, None, wrong)


def _between_articles(file: Path, source: bytes) -> Iterator[Record | Problem]:
    """Deletions, and what is not an article."""
    for _ in range(source.count(BOOK)):
        yield Problem(file, None, None, "a book, or a chapter of one, is not read")
    start = source.find(b"<DeleteCitation>")
    if start >= 0:
        for version, pmid in DELETED.findall(source, start):
            yield Record(pmid.decode(), int(version or 1), deleted=True)
