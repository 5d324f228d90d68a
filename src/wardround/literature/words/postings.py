"""Lists of postings as bytes: the documents that have a term, and how often.

A list is divided into blocks of 128 postings. If it has several, it begins with an entry for each: its last document
(4 bytes), the end of its bytes (4) and its peak (1). A posting is the difference from the document before, shifted
by one bit, which says whether the count is above 1 and follows as a byte; the difference is written seven bits at a
time, the lowest first.

The peak of a posting is its part of a BM25 score, without idf, if the mean length of all documents were
REFERENCE_LENGTH, rounded up to 1/255: the bounds of scores follow from it for every mean.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

BLOCK = 128  # postings
ENTRY = 9  # bytes
MAX_COUNT = 255
K1, B = 1.2, 0.75
REFERENCE_LENGTH = 128.0  # words; our choice, about PubMed's mean

Bytes = NDArray[np.uint8]
Array = NDArray[Any]


@njit(cache=True, nogil=True)
def encode_lists(starts: Array, documents: Array, counts: Array, lengths: Array) -> tuple[Array, Array, Array]:
    """Lists of postings as bytes: where each ends, the peak of each, and the bytes.

    The postings of list i are those from starts[i] to starts[i + 1]; lengths are those of all documents.
    """
    lists = len(starts) - 1
    ends, peaks = np.zeros(lists, np.int64), np.zeros(lists, np.uint8)
    room = 0
    for number in range(lists):
        size = starts[number + 1] - starts[number]
        room += 6 * size + ENTRY * (size // BLOCK + 1)
    out = np.empty(room, np.uint8)
    place = 0
    for number in range(lists):
        first, last = starts[number], starts[number + 1]
        blocks = (last - first + BLOCK - 1) // BLOCK
        entry = place
        if blocks > 1:
            place += ENTRY * blocks
        data = place
        before = np.int64(0)
        for block in range(blocks):
            peak = 0
            end = min(last, first + (block + 1) * BLOCK)
            for posting in range(first + block * BLOCK, end):
                document, count = np.int64(documents[posting]), np.int64(counts[posting])
                value = (document - before) << 1 | (count > 1)
                before = document
                while value > 127:
                    out[place] = value & 127 | 128
                    value >>= 7
                    place += 1
                out[place] = value
                place += 1
                if count > 1:
                    out[place] = count
                    place += 1
                norm = K1 * (1 - B + B * lengths[document] / REFERENCE_LENGTH)
                peak = max(peak, int(np.ceil(255 * count / (count + norm))))
            if blocks > 1:
                _write(out, entry, before)
                _write(out, entry + 4, place - data)
                out[entry + 8] = peak
                entry += ENTRY
            peaks[number] = max(peaks[number], peak)
        ends[number] = place
    return ends, peaks, out[:place].copy()


@njit(cache=True, nogil=True)
def decode_list(data: Bytes, start: Any, size: Any, documents: Array, counts: Array) -> None:
    """Decodes all postings of a list."""
    blocks = (size + BLOCK - 1) // BLOCK
    place = start + (ENTRY * blocks if blocks > 1 else 0)
    decode_postings(data, place, size, 0, documents, counts)


@njit(cache=True, nogil=True)
def decode_postings(data: Bytes, place: Any, size: Any, before: Any, documents: Array, counts: Array) -> None:
    """Decodes postings that follow each other; `before` is the document before the first."""
    document = np.int64(before)
    for posting in range(size):
        value, shift = np.int64(data[place]), 7
        place += 1
        if value > 127:
            value &= 127
            while True:
                byte = np.int64(data[place])
                place += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
        document += value >> 1
        documents[posting] = document
        if value & 1:
            counts[posting] = data[place]
            place += 1
        else:
            counts[posting] = 1


@njit(cache=True, nogil=True)
def read_number(data: Bytes, place: Any) -> Any:
    """Four bytes, the lowest first."""
    low = np.int64(data[place]) | np.int64(data[place + 1]) << 8
    return low | np.int64(data[place + 2]) << 16 | np.int64(data[place + 3]) << 24


@njit(cache=True, nogil=True)
def _write(out: Bytes, place: Any, value: Any) -> None:
    for byte in range(4):
        out[place + byte] = value >> (8 * byte) & 255
