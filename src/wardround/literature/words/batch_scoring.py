"""The best documents of a part for many queries, each exactly as scoring.py finds them alone.

Documents are taken in windows. The lists of all queries' terms are decoded once for a window, each posting with its
part of a score, and every query adds up what it needs: terms by falling weight, so that the sums are those of a single
search to the last digit. When the terms that remain cannot lift a document above the worst of the best so far, only
the documents that still can be are looked up in their lists.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from wardround.literature.words.postings import BLOCK, ENTRY, Array, Bytes
from wardround.literature.words.scoring import SLACK, put

WINDOW = 1 << 16  # documents
TOGETHER = 16  # queries that a thread scores at once
LOOK_UP = 16  # postings that are added up in the time of one look-up


class WeightedTerms(NamedTuple):
    """The terms of queries by falling weight; those of query i are from starts[i] to starts[i + 1]."""

    starts: Array
    terms: Array
    weights: Array


class BestDocuments(NamedTuple):
    """For each query a heap of its best documents, whose first entry is the worst."""

    scores: Array
    documents: Array
    counts: Array

    @classmethod
    def none(cls, queries: int, limit: int) -> BestDocuments:
        empty = (np.zeros((queries, limit), np.float32), np.zeros((queries, limit), np.int64))
        return cls(*empty, np.zeros(queries, np.int64))


class PartLists(NamedTuple):
    """The list of each term in a part: where it begins in `data`, and its postings; 0 if the part lacks the term."""

    data: Bytes
    starts: Array
    sizes: Array


def score_part_for_all(
    lists: PartLists,
    queries: WeightedTerms,
    lengths: Array,
    norms: Array,
    allowed: Array,
    first: int,
    best: BestDocuments,
    pool: Executor,
) -> None:
    """Puts the best documents of a part into the heaps; the other arguments are those of score_part()."""
    blocks = (lists.sizes + BLOCK - 1) // BLOCK
    places = lists.starts + np.where(blocks > 1, ENTRY * blocks, 0)
    befores, left = np.zeros(len(places), np.int64), lists.sizes.copy()
    room = int(np.minimum(lists.sizes, WINDOW).sum())
    documents, shares = np.empty(room, np.uint16), np.empty(room, np.float32)
    for low in range(0, len(lengths), WINDOW):
        ends, peaks = decode_window(lists.data, places, befores, left, low, lengths, norms, allowed, documents, shares)

        def score(start: int, low: int = low, ends: Array = ends, peaks: Array = peaks) -> None:
            end = min(start + TOGETHER, len(best.counts))
            score_window(documents, shares, ends, peaks, *queries, first + low, *best, start, end)

        list(pool.map(score, range(0, len(best.counts), TOGETHER)))


@njit(cache=True, nogil=True)
def decode_window(
    data: Bytes,
    places: Array,
    befores: Array,
    left: Array,
    low: int,
    lengths: Array,
    norms: Array,
    allowed: Array,
    documents: Array,
    shares: Array,
) -> tuple[Array, Array]:
    """The postings of all terms from document `low` on, up to WINDOW documents: where each list ends, and its peak.

    documents, shares         what is decoded: numbers within the window, and parts of scores without their weights
    places, befores, left     where the decoding of each list stands; moved on
    """
    high = low + WINDOW
    ends, peaks = np.zeros(len(places) + 1, np.int64), np.zeros(len(places), np.float32)
    out = 0
    for term in range(len(places)):
        place, document, remaining, peak = places[term], befores[term], left[term], np.float32(0)
        while remaining:
            value, shift, after = np.int64(data[place]), 7, place + 1
            if value > 127:
                value &= 127
                while True:
                    byte = np.int64(data[after])
                    after += 1
                    value |= (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        break
            following = document + (value >> 1)
            if following >= high:
                break
            often = np.float32(1)
            if value & 1:
                often = np.float32(data[after])
                after += 1
            place, document = after, following
            remaining -= 1
            if allowed[document]:
                share = often / (often + norms[lengths[document]])
                documents[out] = document - low
                shares[out] = share
                out += 1
                peak = max(peak, share)
        places[term], befores[term], left[term] = place, document, remaining
        ends[term + 1], peaks[term] = out, peak
    return ends, peaks


@njit(cache=True, nogil=True)
def score_window(
    documents: Array,
    shares: Array,
    ends: Array,
    peaks: Array,
    query_starts: Array,
    query_terms: Array,
    query_weights: Array,
    first: int,
    best_scores: Array,
    best_documents: Array,
    counts: Array,
    start: int,
    end: int,
) -> None:
    """Puts the best documents of a window into the heaps of the queries from `start` to `end`."""
    scores = np.zeros(WINDOW, np.float32)
    candidates = np.empty(WINDOW, np.int64)
    longest = 0
    for query in range(start, end):
        longest = max(longest, query_starts[query + 1] - query_starts[query])
    rest = np.zeros(longest + 1)
    for query in range(start, end):
        terms = query_terms[query_starts[query] : query_starts[query + 1]]
        weights = query_weights[query_starts[query] : query_starts[query + 1]]
        count = len(terms)
        rest[count] = 0
        for number in range(count - 1, -1, -1):
            rest[number] = rest[number + 1] + weights[number] * peaks[terms[number]]
        is_full = counts[query] == best_scores.shape[1]
        threshold = best_scores[query, 0] if is_full else np.float32(0)
        number = added = 0
        while number < count and not rest[number] * SLACK < threshold:
            added += _add(scores, documents, shares, ends, terms[number], weights[number])
            number += 1
        if not added:
            continue
        candidate_count = _candidates(
            scores, documents, ends, terms[:number], added, rest[number], threshold, candidates
        )
        while number < count and candidate_count:
            begin, stop = ends[terms[number]], ends[terms[number] + 1]
            if LOOK_UP * candidate_count > stop - begin:
                _add(scores, documents, shares, ends, terms[number], weights[number])
            else:
                _look_up(
                    scores, documents[begin:stop], shares[begin:stop], weights[number], candidates[:candidate_count]
                )
            number += 1
            kept = 0
            for candidate in candidates[:candidate_count]:
                if not (scores[candidate] + rest[number]) * SLACK < threshold:
                    candidates[kept] = candidate
                    kept += 1
            candidate_count = kept
        for candidate in candidates[:candidate_count]:
            counts[query] = put(
                scores[candidate], first + candidate, best_scores[query], best_documents[query], counts[query]
            )
        scores[:] = 0


@njit(cache=True, nogil=True)
def _add(scores: Array, documents: Array, shares: Array, ends: Array, term: int, weight: Any) -> Any:
    """Adds a term's share to the score of each document; returns its postings."""
    for posting in range(ends[term], ends[term + 1]):
        scores[documents[posting]] += weight * shares[posting]
    return ends[term + 1] - ends[term]


@njit(cache=True, nogil=True)
def _candidates(
    scores: Array, documents: Array, ends: Array, terms: Array, added: int, rest: Any, threshold: Any, candidates: Array
) -> int:
    """Collects the documents that can still be among the best, in order; returns their number."""
    count = 0
    for document in range(WINDOW):
        score = scores[document]
        if score > 0 and not (score + rest) * SLACK < threshold:
            candidates[count] = document
            count += 1
    return count


@njit(cache=True, nogil=True)
def _look_up(scores: Array, documents: Array, shares: Array, weight: Any, candidates: Array) -> None:
    """Adds a term's share to the scores of the candidates that have it; both are in order."""
    place = 0
    for candidate in candidates:
        step = 1
        while place + step < len(documents) and documents[place + step] <= candidate:
            place += step
            step *= 2
        while step > 1:
            step //= 2
            if place + step < len(documents) and documents[place + step] <= candidate:
                place += step
        if place < len(documents) and documents[place] == candidate:
            scores[candidate] += weight * shares[place]
