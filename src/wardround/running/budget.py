"""The budget of a study over all its starts: requests, tokens or money. Whichever is spent first stops it cleanly."""

from __future__ import annotations

from wardround.core.study import Budget, CandidateSettings, Study
from wardround.running.store import AnswerStore
from wardround.running.store.answers import Spending
from wardround.running.store.batches import Reservation, reserved

# of input read from a prompt cache and of input written to it, as shares of price_in, if the study names no prices.
# Anthropic's for its cache of five minutes, the one that we ask for (2026-11-18); others differ by model.
CACHE_PRICES = {"anthropic": (0.1, 1.25)}


class BudgetReached(Exception):
    """Nothing more may be asked in this start of the run."""


class BudgetTracker:
    """What all starts of a study have spent of its budget, and what its batches under way may take of the rest."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        named = [(name, getattr(budget, name)) for name in ("requests", "tokens", "money")]
        self._limits: list[tuple[str, float]] = [(name, limit) for name, limit in named if limit is not None]
        self.requests = 0
        self.tokens = 0
        self.money = 0.0
        self.reserved_tokens = 0
        self.reserved_money = 0.0
        self._too_little: str | None = None

    @classmethod
    def of_study(cls, study: Study, store: AnswerStore) -> BudgetTracker:
        """With what earlier starts spent on its candidates, its judge and its reader."""
        tracker = cls(study.budget)
        if not tracker._limits:
            return tracker  # what was spent does not matter, and adding it up reads every call
        callers = [(study.name, candidate) for candidate in study.candidates]
        if study.judge is not None:
            callers.append((marking_run(study.name, "judge"), study.judge))
        if study.reader is not None:
            callers.append((marking_run(study.name, "reader"), study.reader))
        for run, settings in callers:
            spent = store.spent(run, settings.name)
            faults = sum(fault.times for fault in store.faults(run, settings.name))
            tracker.requests += spent.calls + faults
            tracker.tokens += spent.tokens_in + spent.tokens_out
            tracker.money += bill(settings, spent)
            tracker._add(settings, reserved(store, run, settings.name))
        return tracker

    @property
    def is_limited(self) -> bool:
        """Whether tokens or money are limited."""
        return self._budget.tokens is not None or self._budget.money is not None

    def charge_request(self) -> None:
        """Counts a request before it is sent, whether it succeeds or not. What batches may take is left to them."""
        if (reason := self.reached) is not None:
            raise BudgetReached(reason)
        self.requests += 1

    def charge_tokens(self, tokens: int, cost: float) -> None:
        """Counts the tokens of a reply and their price."""
        self.tokens += tokens
        self.money += cost

    def reserve(self, candidate: CandidateSettings, most: Reservation) -> bool:
        """Sets apart the most that an item of a batch may take; False if the budget does not allow it."""
        for limit, used, more in (
            (self._budget.requests, self.requests, most.requests),
            (self._budget.tokens, self.tokens + self.reserved_tokens, most.tokens_in + most.tokens_out),
            (self._budget.money, self.money + self.reserved_money, _batch_price(candidate, most)),
        ):
            if limit is not None and used + more > limit:
                return False
        self._add(candidate, most)
        return True

    def settle(self, candidate: CandidateSettings, batch: Reservation) -> None:
        """Gives back the tokens and the money of a batch that has ended: its results say what it took."""
        self._add(candidate, Reservation(0, -batch.tokens_in, -batch.tokens_out))

    def cancel(self, candidate: CandidateSettings, batch: Reservation) -> None:
        """Gives back all that was reserved for a batch which its provider did not take."""
        self._add(candidate, Reservation(*(-number for number in batch)))

    def _add(self, candidate: CandidateSettings, batch: Reservation) -> None:
        self.requests += batch.requests
        self.reserved_tokens += batch.tokens_in + batch.tokens_out
        self.reserved_money += _batch_price(candidate, batch)

    def end_for(self, candidate: CandidateSettings, item: Reservation) -> None:
        """Ends the budget: what is left of it is too little for an item of a batch."""
        most = f"{item.tokens_in + item.tokens_out:,} tokens"
        if cost := _batch_price(candidate, item):
            most += f" or {cost:.4g} USD"
        limits = (f"{limit:g} {name}" for name, limit in self._limits)
        self._too_little = (
            f"the budget of {' and '.join(limits)} leaves too little for another Ask, which may take {most}"
        )

    @property
    def reached(self) -> str | None:
        """Which limit is reached, as a sentence; None if none is."""
        for name, limit in self._limits:
            spent, reserved_for_batches = getattr(self, name), getattr(self, f"reserved_{name}", 0)
            if spent + reserved_for_batches >= limit:
                by_batches = "" if spent >= limit else " or reserved by batches under way"
                return f"the budget of {limit:g} {name} is spent{by_batches}"
        return self._too_little


def _batch_price(candidate: CandidateSettings, batch: Reservation) -> float:
    return candidate.price_batch * price(candidate, batch.tokens_in, batch.tokens_out)


def marking_run(study: str, role: str) -> str:
    """The name that keeps the calls of a study's judge or reader apart from those of a candidate of the same name."""
    return f"{study}: {role}"


def bill(candidate: CandidateSettings, spent: Spending) -> float:
    """What was paid, with caches and batches at their prices."""
    whole = price(candidate, spent.tokens_in, spent.tokens_out, spent.cached_in, spent.cache_writes)
    return whole - saved_by_batches(candidate, spent)


def batch_cost(candidate: CandidateSettings, spent: Spending) -> float:
    """What was paid for answers in batches."""
    return candidate.price_batch * _full_price_of_batches(candidate, spent)


def saved_by_batches(candidate: CandidateSettings, spent: Spending) -> float:
    return (1 - candidate.price_batch) * _full_price_of_batches(candidate, spent)


def _full_price_of_batches(candidate: CandidateSettings, spent: Spending) -> float:
    return price(candidate, spent.batched_in, spent.batched_out, spent.batched_cached, spent.batched_writes)


def saved_by_cache(candidate: CandidateSettings, spent: Spending) -> float:
    """What the server's prompt cache saved; what was written to it and not read again makes this negative."""
    uncached = spent._replace(cached_in=0, cache_writes=0, batched_cached=0, batched_writes=0)
    return bill(candidate, uncached) - bill(candidate, spent)


def price(
    candidate: CandidateSettings, tokens_in: int, tokens_out: int, cached_in: int = 0, cache_writes: int = 0
) -> float:
    """Prices are per million tokens. `tokens_in` includes those read from a prompt cache and those written to it."""
    read_share, write_share = CACHE_PRICES.get(candidate.provider.partition(":")[0], (1.0, 1.0))
    cached, written = candidate.price_cached, candidate.price_cache_write
    cached = read_share * candidate.price_in if cached is None else cached
    written = write_share * candidate.price_in if written is None else written
    new = tokens_in - cached_in - cache_writes
    inputs = candidate.price_in * new + cached * cached_in + written * cache_writes
    return (inputs + candidate.price_out * tokens_out) / 1e6
