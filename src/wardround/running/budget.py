"""Budget: requests, tokens or money, whichever is reached first stops the run cleanly."""

from __future__ import annotations

from wardround.core import study
from wardround.core.study import CandidateSettings


class BudgetReached(Exception):
    """Nothing more may be asked in this start of the run."""


class Purse:
    """What this start of the run has spent, against what it may."""

    def __init__(self, budget: study.Budget) -> None:
        self._budget = budget
        self.requests = 0
        self.tokens = 0
        self.money = 0.0

    def take(self) -> None:
        """Pays for one more request before it is sent, faults included."""
        if reached := self.reached:
            raise BudgetReached(reached)
        self.requests += 1

    def spend(self, candidate: CandidateSettings, tokens_in: int, tokens_out: int) -> None:
        self.tokens += tokens_in + tokens_out
        self.money += price(candidate, tokens_in, tokens_out)

    @property
    def reached(self) -> str | None:
        for name, spent in (("requests", self.requests), ("tokens", self.tokens), ("money", self.money)):
            most = getattr(self._budget, name)
            if most is not None and spent >= most:
                return f"the budget of {most:g} {name} is spent"
        return None


def price(candidate: CandidateSettings, tokens_in: int, tokens_out: int) -> float:
    """Prices are per million tokens."""
    return (candidate.price_in * tokens_in + candidate.price_out * tokens_out) / 1e6
