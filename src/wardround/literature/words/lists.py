"""Inverted lists: for each term the documents that have it; made from occurrences, and merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numba import njit

from wardround.literature.words.postings import MAX_COUNT, Array, Bytes, decode_list, encode_lists
from wardround.literature.words.terms import Numbers, Occurrences

TERMS_TOGETHER = 50_000  # of the part that has most, merged at once: they take more memory than their lists
MERGED_TOGETHER = 8_000_000  # postings in memory while lists are merged


@dataclass(frozen=True)
class InvertedLists:
    """Lists of sorted terms. The bytes of list i are data[starts[i] : starts[i + 1]]."""

    terms: pl.Series
    sizes: Numbers  # postings of each list
    added: Numbers  # documents by which the frequency of each term has grown; negative if more were removed
    peaks: Bytes
    starts: Numbers
    data: Bytes


def invert(occurrences: Occurrences, first: int = 0) -> InvertedLists:
    """The lists of documents that are numbered from `first` on."""
    keys = np.sort(occurrences.term << 32 | occurrences.document)
    is_new = np.diff(keys, prepend=-1) != 0
    places = np.flatnonzero(is_new)
    counts = np.minimum(np.diff(places, append=len(keys)), MAX_COUNT).astype(np.uint8)
    keys = keys[places]
    term = keys >> 32
    starts = np.searchsorted(term, np.arange(len(occurrences.terms) + 1))
    documents = (keys & 0xFFFFFFFF) + first
    lengths = np.concatenate([np.zeros(first, np.int64), occurrences.lengths])
    ends, peaks, data = encode_lists(starts, documents, counts, lengths)
    sizes = np.diff(starts)
    return InvertedLists(occurrences.terms, sizes, sizes, peaks, np.concatenate([[0], ends]), data)


def subtract(lists: InvertedLists, removed: Occurrences) -> InvertedLists:
    """The lists with the frequencies of removed documents subtracted; terms only of those have empty lists."""
    pairs = np.unique(removed.term << 32 | removed.document) >> 32
    gone = pl.DataFrame({"term": removed.terms, "removed": np.bincount(pairs, minlength=len(removed.terms))})
    own = pl.DataFrame({"term": lists.terms, "number": np.arange(len(lists.terms))})
    both = own.join(gone, on="term", how="full", coalesce=True).sort("term")
    number = both["number"].fill_null(-1).to_numpy()
    has_list = number >= 0
    sizes, added = np.zeros(len(both), np.int64), np.zeros(len(both), np.int64)
    peaks = np.zeros(len(both), np.uint8)
    bytes_of_list = np.zeros(len(both), np.int64)
    for column, values in ((sizes, lists.sizes), (added, lists.added), (peaks, lists.peaks)):
        column[has_list] = values[number[has_list]]
    bytes_of_list[has_list] = np.diff(lists.starts)[number[has_list]]
    added -= both["removed"].fill_null(0).to_numpy()
    starts = np.concatenate([[0], np.cumsum(bytes_of_list)])
    return replace(lists, terms=both["term"], sizes=sizes, added=added, peaks=peaks, starts=starts)


def join_lists(pieces: Sequence[InvertedLists]) -> InvertedLists:
    """The lists of pieces whose terms follow each other."""
    if not pieces:
        return invert(Occurrences(pl.Series("term", [], pl.String), *np.zeros((3, 0), np.int64)))
    bases = np.cumsum([0, *(len(piece.data) for piece in pieces)])
    starts = [piece.starts[:-1] + base for piece, base in zip(pieces, bases[:-1], strict=True)]
    return InvertedLists(
        terms=pl.concat([piece.terms for piece in pieces]),
        sizes=np.concatenate([piece.sizes for piece in pieces]),
        added=np.concatenate([piece.added for piece in pieces]),
        peaks=np.concatenate([piece.peaks for piece in pieces]),
        starts=np.concatenate([*starts, bases[-1:]]),
        data=np.concatenate([piece.data for piece in pieces]),
    )


def merge(parts: Sequence[InvertedLists], shifts: Sequence[int], lengths: Array) -> Iterator[InvertedLists]:
    """The lists of several parts as those of one, some terms at a time.

    A shift is added to the documents of each part; lengths are those of all documents.
    """
    cuts = max((part.terms for part in parts), key=len).gather_every(TERMS_TOGETHER)[1:]
    places = [[0, *part.terms.search_sorted(cuts, side="left").to_list(), len(part.terms)] for part in parts]
    for starts, ends in zip(zip(*places, strict=True), zip(*(own[1:] for own in places), strict=True), strict=False):
        yield from _merge_terms(list(map(_slice, parts, starts, ends)), shifts, lengths)


def _slice(lists: InvertedLists, start: int, end: int) -> InvertedLists:
    first, last = lists.starts[start], lists.starts[end]
    return InvertedLists(
        terms=lists.terms[start:end],
        sizes=lists.sizes[start:end],
        added=lists.added[start:end],
        peaks=lists.peaks[start:end],
        starts=lists.starts[start : end + 1] - first,
        data=lists.data[first:last],
    )


def _merge_terms(parts: Sequence[InvertedLists], shifts: Sequence[int], lengths: Array) -> Iterator[InvertedLists]:
    bases = np.cumsum([0, *(len(part.data) for part in parts)])
    frames = [
        pl.DataFrame(
            {
                "term": part.terms,
                "size": part.sizes,
                "added": part.added,
                "start": part.starts[:-1] + base,
                "shift": np.full(len(part.terms), shift),
            }
        )
        for part, shift, base in zip(parts, shifts, bases[:-1], strict=True)
    ]
    entries = pl.concat(frames).sort("term", maintain_order=True)
    data = np.concatenate([part.data for part in parts])
    is_first = (entries["term"] != entries["term"].shift(1)).fill_null(value=True).to_numpy()
    firsts = np.flatnonzero(is_first)
    before = np.concatenate([[0], np.cumsum(entries["size"].to_numpy())])
    chunk_of_list = before[firsts] // MERGED_TOGETHER
    for chunk in np.unique(chunk_of_list):
        chunk_lists = np.flatnonzero(chunk_of_list == chunk)
        start, last = firsts[chunk_lists[0]], chunk_lists[-1] + 1
        end = firsts[last] if last < len(firsts) else len(entries)
        rows = entries[int(start) : int(end)]
        offsets = firsts[chunk_lists] - start
        size = rows["size"].to_numpy()
        documents, counts = _decode_all(data, rows["start"].to_numpy(), size, rows["shift"].to_numpy())
        starts = (before[firsts[chunk_lists]] - before[start]).tolist()
        starts = np.array([*starts, before[end] - before[start]])
        ends, peaks, encoded = encode_lists(starts, documents, counts, lengths)
        added = np.add.reduceat(rows["added"].to_numpy(), offsets)
        terms = rows["term"].gather(offsets)
        yield InvertedLists(terms, np.diff(starts), added, peaks, np.concatenate([[0], ends]), encoded)


@njit(cache=True, nogil=True)
def _decode_all(data: Bytes, starts: Array, sizes: Array, shifts: Array) -> tuple[Array, Array]:
    """The postings of all lists, one list after another."""
    total = sizes.sum()
    documents, counts = np.empty(total, np.uint32), np.empty(total, np.uint8)
    place = 0
    for number in range(len(starts)):
        end = place + sizes[number]
        decode_list(data, starts[number], sizes[number], documents[place:end], counts[place:end])
        for posting in range(place, end):
            documents[posting] += shifts[number]
        place = end
    return documents, counts
