"""How far replies to one and the same request agree: what temperature 0 and a fixed seed must bring about.

Honest servers do not always repeat themselves: sums of floating-point numbers depend on what else is in the batch. So
three replies are asked for first and three more only if they differ, and a server is said not to repeat itself only if
no two of six replies are the same. If its commonest reply has probability m, an honest server has at most
(1 - m)^6 + 6 m (1 - m)^5 as the probability of that: 0.0016 for m = 0.8, 0.00006 for m = 0.9.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

FIRST, ALL = 3, 6  # replies that are asked for at first, and in all
MIN_EQUAL = 3  # replies that show agreement

Agreement = Literal["agree", "differ", "unclear"]


def is_enough(texts: Sequence[str]) -> bool:
    """Whether no further reply is needed to decide."""
    return len(texts) >= ALL or (len(texts) == FIRST and len(set(texts)) == 1)


def agreement(texts: Sequence[str]) -> Agreement:
    """`agree` if three replies are the same, `differ` if no two of six are."""
    largest = max(Counter(texts).values(), default=0)
    if largest >= MIN_EQUAL:
        return "agree"
    return "differ" if largest == 1 and len(texts) >= ALL else "unclear"
