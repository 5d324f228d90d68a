"""How alike two texts are: ROUGE-L over words, and edit-distance similarity over characters."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

WORD = re.compile(r"[^\W_]+")


def rouge_l(text: str, reference: str) -> float:
    """F1 of the longest common subsequence of lower-case words (specs/protocols.md 4.4); 0 where one has no words."""
    a, b = (WORD.findall(each.lower()) for each in (text, reference))
    common = common_subsequence(a, b) if a and b else 0
    return 2 * common / (len(a) + len(b)) if common else 0.0


def eds(text: str, reference: str) -> float:
    """1 - Levenshtein distance / longer length, over characters; 1 for two empty texts."""
    longer = max(len(text), len(reference))
    return 1 - levenshtein(text, reference) / longer if longer else 1.0


def _places(a: Sequence[Hashable]) -> dict[Hashable, int]:
    """For each symbol the places where it stands, as bits."""
    found: dict[Hashable, int] = {}
    for place, symbol in enumerate(a):
        found[symbol] = found.get(symbol, 0) | 1 << place
    return found


def common_subsequence(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence, all of `a` a step at a time (Hyyrö 2004).

    A zero in `row` marks a place of `a` at which the subsequence with what was read of `b` grows.
    """
    places, every = _places(a), (1 << len(a)) - 1
    row = every
    for symbol in b:
        met = row & places.get(symbol, 0)
        row = ((row + met) | (row - met)) & every
    return len(a) - row.bit_count()


def levenshtein(a: str, b: str) -> int:
    """The fewest insertions, deletions and substitutions, a column of the table at a time (Myers 1999).

    `up` and `down` mark where a column of the table rises and falls by one from a place to the next.
    """
    if len(a) > len(b):
        a, b = b, a
    if not a:
        return len(b)
    places, every, last = _places(a), (1 << len(a)) - 1, 1 << (len(a) - 1)
    up, down, distance = every, 0, len(a)
    for symbol in b:
        met = places.get(symbol, 0)
        along = met | down
        across = (((met & up) + up) ^ up) | met
        rises, falls = down | (every & ~(across | up)), up & across
        distance += bool(rises & last) - bool(falls & last)
        rises, falls = (rises << 1 | 1) & every, (falls << 1) & every
        up, down = falls | (every & ~(along | rises)), rises & along
    return distance
