"""Queries and judgements on file: `id<TAB>text` lines, and TREC qrels (query, iteration, document, relevance)."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from wardround.core.errors import BadInput, describe_unreadable

Judgements = dict[str, dict[str, int]]  # query -> document -> relevance; 0 or less is not relevant


def read_queries(path: Path) -> dict[str, str]:
    """The text of each query by its id, in the order of the file."""
    queries: dict[str, str] = {}
    for number, line in _lines(path):
        name, tab, text = line.partition("\t")
        if not tab or not name.strip():
            raise BadInput(path, "expected `id<TAB>text`", line=number)
        if name.strip() in queries:
            raise BadInput(path, f"query {name.strip()} is listed twice", line=number)
        queries[name.strip()] = text
    if not queries:
        raise BadInput(path, "contains no queries")
    return queries


def read_qrels(path: Path) -> Judgements:
    """The judged documents of each query."""
    judged: Judgements = {}
    for number, line in _lines(path):
        match line.split():
            case [query, _, document, relevance] if _is_whole(relevance):
                before = judged.setdefault(query, {}).setdefault(document, int(relevance))
            case _:
                raise BadInput(path, "expected `query iteration document relevance`", line=number)
        if before != int(relevance):
            raise BadInput(path, f"document {document} is judged twice for query {query}, differently", line=number)
    if not judged:
        raise BadInput(path, "contains no judgements")
    return judged


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii()


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The non-blank lines with their numbers."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line.removeprefix("\ufeff").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise BadInput(path, describe_unreadable(error)) from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise BadInput(path, "not a whole gzip file") from None
    except OSError as error:
        raise BadInput(path, describe_unreadable(error)) from None
