"""The budget of a study over all its starts: requests, tokens or money. Whichever is spent first stops it cleanly."""

from __future__ import annotations

from wardround.core.study import Budget, CandidateSettings, Study
from wardround.running.store import AnswerStore
from wardround.running.store.answers import Spending


class BudgetReached(Exception):
    """Nothing more may be asked in this start of the run."""


class BudgetTracker:
    """What all starts of a study have spent of its budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.requests = 0
        self.tokens = 0
        self.money = 0.0

    @classmethod
    def of_study(cls, study: Study, store: AnswerStore) -> BudgetTracker:
        """With what earlier starts spent on its candidates, its judge and its reader."""
        tracker = cls(study.budget)
        callers = [(study.name, candidate) for candidate in study.candidates]
        if study.judge is not None:
            callers.append((marking_run(study.name, "judge"), study.judge))
        if study.reader is not None:
            callers.append((marking_run(study.name, "reader"), study.reader))
        for run, settings in callers:
            spent = store.spent(run, settings.name)
            faults = sum(fault.times for fault in store.faults(run, settings.name))
            tracker.requests += spent.calls + faults
            tracker.charge_tokens(settings, spent.tokens_in, spent.tokens_out)
            tracker.money -= saved_by_batches(settings, spent)
        return tracker

    def charge_request(self) -> None:
        """Counts a request before it is sent, whether it succeeds or not."""
        if reason := self.reached:
            raise BudgetReached(reason)
        self.requests += 1

    def charge_tokens(self, candidate: CandidateSettings, tokens_in: int, tokens_out: int, share: float = 1.0) -> float:
        """Counts the tokens of a reply; returns their price, or a share of it."""
        self.tokens += tokens_in + tokens_out
        cost = share * price(candidate, tokens_in, tokens_out)
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


def marking_run(study: str, role: str) -> str:
    """The name that keeps the calls of a study's judge or reader apart from those of a candidate of the same name."""
    return f"{study}: {role}"


def bill(candidate: CandidateSettings, spent: Spending) -> float:
    """What was paid, with batches at their price."""
    return price(candidate, spent.tokens_in, spent.tokens_out) - saved_by_batches(candidate, spent)


def saved_by_batches(candidate: CandidateSettings, spent: Spending) -> float:
    return (1 - candidate.price_batch) * price(candidate, spent.batched_in, spent.batched_out)


def price(candidate: CandidateSettings, tokens_in: int, tokens_out: int) -> float:
    """Prices are per million tokens."""
    return (candidate.price_in * tokens_in + candidate.price_out * tokens_out) / 1e6
