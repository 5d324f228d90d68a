"""Pages: the lists of terms that follow each other, stored as one value.

A page is the sizes of its directory, compressed and not (4 bytes each), the directory compressed by zstd, and the
bytes of the lists. The directory is the number of terms (4 bytes), for each term the postings, the documents added,
the bytes of its list (4 bytes each) and its peak (1 byte), and the terms with line breaks between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from numba import njit

from wardround.literature.words.lists import InvertedLists
from wardround.literature.words.postings import Array, Bytes

MAX_TERMS = 128
MAX_BYTES = 16_384  # of lists; a longer list has a page of its own


class WordPage(NamedTuple):
    """A page that was read."""

    terms: list[str]
    sizes: Array
    added: Array
    peaks: Array
    starts: Array  # of the lists in `data`
    data: Bytes


def write_pages(lists: InvertedLists) -> Iterator[tuple[str, bytes]]:
    """The pages of the lists, each with its first term."""
    import pyarrow as pa

    bytes_of_list = np.diff(lists.starts)
    bounds = _page_starts(bytes_of_list).tolist()
    for start, end in zip(bounds, [*bounds[1:], len(lists.terms)], strict=True):
        terms = lists.terms[start:end].to_list()
        directory = b"".join(
            (
                np.uint32(len(terms)).tobytes(),
                lists.sizes[start:end].astype("<u4").tobytes(),
                lists.added[start:end].astype("<i4").tobytes(),
                bytes_of_list[start:end].astype("<u4").tobytes(),
                lists.peaks[start:end].tobytes(),
                "\n".join(terms).encode(),
            )
        )
        packed = pa.compress(directory, codec="zstd", asbytes=True)
        header = np.array([len(packed), len(directory)], "<u4").tobytes()
        data = lists.data[lists.starts[start] : lists.starts[end]].tobytes()
        yield terms[0], header + packed + data


def read_page(page: bytes) -> WordPage:
    """A page from its bytes."""
    import pyarrow as pa

    packed, unpacked = np.frombuffer(page, "<u4", 2).tolist()
    directory = pa.decompress(page[8 : 8 + packed], unpacked, codec="zstd", asbytes=True)
    count = int(np.frombuffer(directory, "<u4", 1)[0])
    sizes = np.frombuffer(directory, "<u4", count, 4).astype(np.int64)
    added = np.frombuffer(directory, "<i4", count, 4 + 4 * count).astype(np.int64)
    bytes_of_list = np.frombuffer(directory, "<u4", count, 4 + 8 * count).astype(np.int64)
    peaks = np.frombuffer(directory, np.uint8, count, 4 + 12 * count)
    terms = directory[4 + 13 * count :].decode().split("\n")
    starts = np.concatenate([[0], np.cumsum(bytes_of_list)])
    return WordPage(terms, sizes, added, peaks, starts, np.frombuffer(page, np.uint8, offset=8 + packed))


def read_lists(page: bytes) -> InvertedLists:
    """The lists of a page."""
    terms, *columns = read_page(page)
    return InvertedLists(pl.Series("term", terms, pl.String), *columns)


@njit(cache=True, nogil=True)
def _page_starts(bytes_of_list: Array) -> Array:
    """The first list of each page."""
    starts = np.zeros(len(bytes_of_list), np.int64)
    pages = terms = size = 0
    for number in range(len(bytes_of_list)):
        if number == 0 or terms == MAX_TERMS or size + bytes_of_list[number] > MAX_BYTES:
            starts[pages] = number
            pages += 1
            terms = size = 0
        terms += 1
        size += bytes_of_list[number]
    return starts[:pages]
