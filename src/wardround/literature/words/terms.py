"""Texts to terms: runs of letters and digits in lower case, stemmed, without stop words and accents.

A word is a run of at most 40 bytes. It is stemmed by Snowball's English rules; stems that are English stop words are
left out (so that "any", stemmed to "ani", stays); then accents are removed.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.core.errors import WardroundError
from wardround.literature.index.location import MISSING

WORD = r"[\p{Alphabetic}\p{N}]+"
MAX_WORD_BYTES = 40
MAX_LENGTH = 65_535  # words of a document that count for its length
# The terms of what articles are filtered by begin with one of these: no word does.
FIELD_PREFIX = {"mesh": "\x01", "publication_types": "\x02", "languages": "\x03"}
STOP_WORDS = """
a about above after again against ain all am an and any are aren as at be because been before being below between
both but by can couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn
have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m ma me
mightn more most mustn my myself needn no nor not now o of off on once only or other our ours ourselves out over
own re s same shan she should shouldn so some such t than that the their theirs them themselves then there these
they this those through to too under until up ve very was wasn we were weren what when where which while who whom
why will with won wouldn y you your yours yourself yourselves
"""  # English; compared with stems

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Occurrences:
    """The terms of documents: one entry for each word, as positions in `terms` and numbers of documents."""

    terms: pl.Series  # distinct, sorted
    term: Numbers
    document: Numbers  # from 0; not descending among words
    lengths: Numbers  # words of each document


def find_terms(texts: pl.Series) -> Occurrences:
    """The terms of texts."""
    import pyarrow as pa

    words = texts.str.to_lowercase().str.extract_all(WORD)
    counts = words.list.len().to_numpy().astype(np.int64)
    document = np.repeat(np.arange(len(texts), dtype=np.int64), counts)
    spread = words.explode().drop_nulls().to_arrow()
    coded = (spread.combine_chunks() if isinstance(spread, pa.ChunkedArray) else spread).dictionary_encode()
    terms, term_of_word = _sorted_terms(_stem(coded.dictionary.to_pylist()))
    codes = coded.indices.to_numpy(zero_copy_only=False)
    term = term_of_word[codes] if len(codes) else np.zeros(0, np.int64)
    is_term = term >= 0
    document, term = document[is_term], term[is_term]
    lengths = np.bincount(document, minlength=len(texts)).clip(max=MAX_LENGTH)
    return Occurrences(terms, term, document, lengths)


def query_terms(query: str) -> dict[str, int]:
    """The terms of a query with how often each occurs."""
    occurrences = find_terms(pl.Series([query]))
    return dict(zip(occurrences.terms.to_list(), np.bincount(occurrences.term).tolist(), strict=True))


@dataclass(frozen=True)
class QueryTerms:
    """The terms of queries with how often each query has each: one entry for each term of a query."""

    terms: list[str]  # distinct, sorted
    query: Numbers
    term: Numbers  # position in `terms`
    often: Numbers


def terms_of_queries(queries: Sequence[str]) -> QueryTerms:
    """The terms of queries, those of each as query_terms() finds them."""
    occurrences = find_terms(pl.Series(queries, dtype=pl.String))
    keys, often = np.unique(occurrences.document << 32 | occurrences.term, return_counts=True)
    return QueryTerms(occurrences.terms.to_list(), keys >> 32, keys & 0xFFFFFFFF, often)


def add_fields(occurrences: Occurrences, rows: pl.DataFrame) -> Occurrences:
    """The occurrences together with the headings, publication types and languages of the same documents."""
    values, documents = [occurrences.terms], [occurrences.document]
    positions = [occurrences.term]
    start = len(occurrences.terms)
    for field, prefix in FIELD_PREFIX.items():
        lists = rows[field]
        numbers = np.repeat(np.arange(len(rows), dtype=np.int64), lists.list.len().fill_null(0).to_numpy())
        items = prefix + lists.explode().drop_nulls()
        values.append(items)
        documents.append(numbers)
        positions.append(np.arange(start, start + len(items), dtype=np.int64))
        start += len(items)
    terms, rank = _sorted_terms(pl.concat([value.rename("term").cast(pl.String) for value in values]))
    term, document = rank[np.concatenate(positions)], np.concatenate(documents)
    return Occurrences(terms, term, document, occurrences.lengths)


def _sorted_terms(terms: pl.Series) -> tuple[pl.Series, Numbers]:
    """The distinct terms in order, and the position of each given one among them; -1 for null."""
    rank = terms.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
    return terms.drop_nulls().unique().sort(), rank


def _stem(words: list[str]) -> pl.Series:
    """The term of each word; null for those that are not indexed."""
    stop_words = frozenset(STOP_WORDS.split())
    stems = _stemmer().stemWords(words)
    terms = [
        None if stem in stop_words or len(word.encode()) > MAX_WORD_BYTES else stem
        for word, stem in zip(words, stems, strict=True)
    ]
    return pl.Series(
        "term", [term if term is None or term.isascii() else _without_accents(term) for term in terms], pl.String
    )


def _without_accents(term: str) -> str:
    letters = [letter for letter in unicodedata.normalize("NFD", term) if not unicodedata.combining(letter)]
    return "".join(letters) or term


@cache
def _stemmer() -> Any:
    try:
        import Stemmer
    except ImportError:
        raise WardroundError(MISSING) from None
    return Stemmer.Stemmer("english", 0)  # without its cache: each word is stemmed once
