"""The budget of a run: requests, tokens or money. Whichever is spent first stops the run cleanly."""

from wardround.core.study import Budget, CandidateSettings


class BudgetReached(Exception):
    """Nothing more may be asked in this start of the run."""


class BudgetTracker:
    """What this start of the run has spent of its budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.requests = 0
        self.tokens = 0
        self.money = 0.0

    def charge_request(self) -> None:
        """Counts a request before it is sent, whether it succeeds or not."""
        if reason := self.reached:
            raise BudgetReached(reason)
        self.requests += 1

    def charge_tokens(self, candidate: CandidateSettings, tokens_in: int, tokens_out: int) -> float:
        """Counts the tokens of a reply; returns their price."""
        self.tokens += tokens_in + tokens_out
        cost = price(candidate, tokens_in, tokens_out)
        self.money += cost
        return cost

    @property
    def reached(self) -> str | None:
        """Which limit is reached, as a sentence; None if none is."""
        for name, spent in (("requests", self.requests), ("tokens", self.tokens), ("money", self.money)):
            limit = getattr(self._budget, name)
            if limit is not None and spent >= limit:
                return f"the budget of {limit:g} {name} is spent"
        return None


def price(candidate: CandidateSettings, tokens_in: int, tokens_out: int) -> float:
    """Prices are per million tokens."""
    return (candidate.price_in * tokens_in + candidate.price_out * tokens_out) / 1e6
