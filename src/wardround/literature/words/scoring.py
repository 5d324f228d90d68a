"""The best documents of a part by BM25, exact: what is passed over cannot be among them.

Documents are taken in windows, terms by falling weight. When the terms that remain cannot lift a document above the
worst of the best so far, only documents that have one of the terms before are looked up in their lists, and blocks
whose bound is too low are not decoded.
"""

from typing import Any

import numpy as np
from numba import njit

from wardround.literature.words.postings import BLOCK, ENTRY, Array, Bytes, decode_postings, read_number

WINDOW = 1 << 15  # documents
SLACK = 1.0 + 1e-5  # of bounds, for rounding


@njit(cache=True, nogil=True)
def score_part(
    data: Bytes,
    starts: Array,
    sizes: Array,
    weights: Array,
    bounds: Array,
    stretch: float,
    lengths: Array,
    norms: Array,
    allowed: Array,
    first: int,
    best_scores: Array,
    best_documents: Array,
    count: int,
) -> int:
    """Puts the best documents of a part into a heap, and returns how many the heap has.

    data, starts, sizes   the list of each term
    weights               of each term, not rising
    bounds                of each term's share of a score in this part
    stretch               what turns the peak of a block into a bound, before its weight
    lengths, norms        of documents; the denominator's part by length
    allowed               whether each document may be returned
    first                 number of the first document
    """
    terms, documents, capacity = len(starts), len(lengths), len(best_scores)
    rest = np.zeros(terms + 1)
    for term in range(terms - 1, -1, -1):
        rest[term] = rest[term + 1] + bounds[term]
    blocks, data_start, position = np.zeros(terms, np.int64), np.zeros(terms, np.int64), np.zeros(terms, np.int64)
    for term in range(terms):
        blocks[term] = (sizes[term] + BLOCK - 1) // BLOCK
        data_start[term] = starts[term] + (ENTRY * blocks[term] if blocks[term] > 1 else 0)
    scores = np.zeros(WINDOW, np.float32)
    touched = np.empty(WINDOW, np.int64)
    numbers, counts = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    for low in range(0, documents, WINDOW):
        high = min(low + WINDOW, documents)
        threshold = best_scores[0] if count == capacity else np.float32(0)
        hits = term = 0
        while term < terms and not rest[term] * SLACK < threshold:
            other = rest[0] - bounds[term]
            block = position[term]
            while block < blocks[term]:
                last, before, place, size, peak = _block(data, starts, data_start, sizes, blocks, term, block)
                if before >= high - 1:
                    break
                if last >= low and not (peak * stretch * weights[term] + other) * SLACK < threshold:
                    decode_postings(data, place, size, max(before, 0), numbers, counts)
                    for posting in range(size):
                        document = numbers[posting]
                        if document < low or document >= high:
                            continue
                        place_in_window = document - low
                        if scores[place_in_window] == 0:
                            if not allowed[document]:
                                continue
                            touched[hits] = document
                            hits += 1
                        often = np.float32(counts[posting])
                        scores[place_in_window] += weights[term] * (often / (often + norms[lengths[document]]))
                if last >= high:
                    break
                block += 1
            position[term] = block
            term += 1
        candidates = touched[:hits]
        if term < terms and hits:
            kept = 0
            chosen = np.empty(hits, np.int64)
            for document in candidates:
                if not (scores[document - low] + rest[term]) * SLACK < threshold:
                    chosen[kept] = document
                    kept += 1
            chosen = np.sort(chosen[:kept])
            while term < terms:
                _look_up(
                    data, starts, data_start, sizes, blocks, position, term, weights[term], rest[term], threshold,
                    chosen, low, scores, lengths, norms, numbers, counts,
                )  # fmt: skip
                term += 1
            count = _keep_best(chosen, low, first, scores, best_scores, best_documents, count)
        else:
            count = _keep_best(candidates, low, first, scores, best_scores, best_documents, count)
        for document in candidates:
            scores[document - low] = 0
    return count


@njit(cache=True, nogil=True)
def _look_up(
    data: Bytes,
    starts: Array,
    data_start: Array,
    sizes: Array,
    blocks: Array,
    position: Array,
    term: int,
    weight: Any,
    rest: Any,
    threshold: Any,
    chosen: Array,
    low: int,
    scores: Array,
    lengths: Array,
    norms: Array,
    numbers: Array,
    counts: Array,
) -> None:
    """Adds a term's share to documents that can still be among the best."""
    block, decoded, posting = position[term], np.int64(-1), 0
    size = last = before = place = np.int64(0)
    for document in chosen:
        if (scores[document - low] + rest) * SLACK < threshold:
            continue
        while block < blocks[term]:
            last, before, place, size, _ = _block(data, starts, data_start, sizes, blocks, term, block)
            if last >= document:
                break
            block += 1
        if block == blocks[term]:
            break
        if document <= before:
            continue
        if decoded != block:
            decode_postings(data, place, size, max(before, 0), numbers, counts)
            decoded, posting = block, 0
        while posting < size and numbers[posting] < document:
            posting += 1
        if posting < size and numbers[posting] == document:
            often = np.float32(counts[posting])
            scores[document - low] += weight * (often / (often + norms[lengths[document]]))
    position[term] = block


@njit(cache=True, nogil=True)
def _block(
    data: Bytes, starts: Array, data_start: Array, sizes: Array, blocks: Array, term: int, block: int
) -> tuple[Any, Any, Any, Any, Any]:
    """The last document of a block, the last before it, the place of its bytes, its postings and its peak."""
    if blocks[term] == 1:
        return np.int64(1) << 40, np.int64(-1), data_start[term], sizes[term], np.int64(255)
    entry = starts[term] + ENTRY * block
    before: Any = np.int64(-1)
    place = data_start[term]
    if block:
        before = read_number(data, entry - ENTRY)
        place += read_number(data, entry - ENTRY + 4)
    size = min(np.int64(BLOCK), sizes[term] - BLOCK * block)
    return read_number(data, entry), before, place, size, np.int64(data[entry + 8])


@njit(cache=True, nogil=True)
def _keep_best(
    documents: Array, low: int, first: int, scores: Array, best_scores: Array, best_documents: Array, count: int
) -> int:
    """Puts documents into the heap, whose first entry is its worst."""
    for document in documents:
        count = put(scores[document - low], first + document, best_scores, best_documents, count)
    return count


@njit(cache=True, nogil=True)
def put(score: Any, document: int, best_scores: Array, best_documents: Array, count: int) -> int:
    """Puts a document into a heap of `count` entries unless its score is too low; returns how many the heap has."""
    capacity = len(best_scores)
    if count < capacity:
        place = count
        count += 1
        while place and best_scores[(place - 1) // 2] > score:
            parent = (place - 1) // 2
            best_scores[place], best_documents[place] = best_scores[parent], best_documents[parent]
            place = parent
    elif score > best_scores[0]:
        place = 0
        while True:
            child = 2 * place + 1
            if child >= capacity:
                break
            if child + 1 < capacity and best_scores[child + 1] < best_scores[child]:
                child += 1
            if best_scores[child] >= score:
                break
            best_scores[place], best_documents[place] = best_scores[child], best_documents[child]
            place = child
    else:
        return count
    best_scores[place], best_documents[place] = score, document
    return count
