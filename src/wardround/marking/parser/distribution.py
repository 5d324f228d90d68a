"""The distribution over options that log-probabilities of the first token give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wardround.core.ask import Answer
from wardround.marking.parser.choice import parse_choice

MOST_OUTSIDE = 0.02


@dataclass(frozen=True, slots=True)
class Distribution:
    """Shares of the options as shown; mass on tokens that name none; mass beyond the returned tokens."""

    shares: tuple[float, ...]
    unparsed: float
    outside: float

    @property
    def settled(self) -> bool:
        return self.outside <= MOST_OUTSIDE


def distribution(answer: Answer, options: Sequence[str]) -> Distribution | None:
    """First tokens that the parser reads as the same letter are summed. None without log-probabilities."""
    if not answer.first_token:
        return None
    shares = [0.0] * len(options)
    unparsed = 0.0
    for token, logprob in answer.first_token:
        mass = math.exp(logprob)
        option = parse_choice(token, options).option
        if option is None:
            unparsed += mass
        else:
            shares[option] += mass
    return Distribution(tuple(shares), unparsed, max(0.0, 1.0 - sum(shares) - unparsed))
