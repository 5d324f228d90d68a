"""The distribution over options from log-probabilities of the first token."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wardround.core.ask import Answer
from wardround.marking.parser.choice import parse_choice

MAX_OUTSIDE = 0.02


@dataclass(frozen=True, slots=True)
class FirstTokenDistribution:
    """Shares of the options as shown; mass on tokens that name none; mass outside the returned tokens."""

    shares: tuple[float, ...]
    unparsed: float
    outside: float

    @property
    def is_complete(self) -> bool:
        return self.outside <= MAX_OUTSIDE


def first_token_distribution(answer: Answer, options: Sequence[str]) -> FirstTokenDistribution | None:
    """The sum of the first tokens of each option, as the parser reads them; None without log-probabilities."""
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
    return FirstTokenDistribution(tuple(shares), unparsed, max(0.0, 1.0 - sum(shares) - unparsed))
