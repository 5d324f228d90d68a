"""Caller: gets answers from one candidate, with retries, pacing, a circuit breaker and the budget."""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from wardround.candidates.candidate import (
    Candidate,
    CandidateUnavailable,
    Fault,
    Request,
    RequestAdapted,
    RequestRejected,
)
from wardround.core.ask import Answer
from wardround.core.errors import WardroundError
from wardround.running.budget import BudgetReached, BudgetTracker
from wardround.running.images import ImageEncoder
from wardround.running.pace import Pace
from wardround.running.store import AnswerKey, AnswerStore, Call

FIRST_WAIT = 0.25
MAX_BACKOFF = 8.0
MAX_FAULTS_IN_A_ROW = 8  # then the server counts as down
MAX_SECONDS_UNREACHED = 20.0
MAX_SECONDS_LOST = 300.0
MAX_LISTED_FAILURES = 20  # of one candidate
T = TypeVar("T")


class GaveUp(Exception):
    """This Ask gets no answer in this start of the run; the others go on."""

    def __init__(self, message: str, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused  # by the candidate: repeating the Ask would not help


class Stopping(Exception):
    """The run is being stopped: nothing new is asked."""


@dataclass
class Tally:
    """Counts for one candidate in this start of the run."""

    calls: int = 0
    answers: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float = 0.0
    seconds: float = 0.0  # sum over answered calls
    faults: int = 0
    failed: int = 0
    duplicates: int = 0
    parsed: int = 0  # answers to choice questions that the parser was tried on
    unparsed: int = 0


class Caller:
    """Calls one candidate. An answer is committed before its slot is freed."""

    def __init__(
        self, run: str, candidate: Candidate, store: AnswerStore, encoder: ImageEncoder, budget: BudgetTracker
    ) -> None:
        self.candidate = candidate
        self.settings = candidate.settings
        self.tally = Tally()
        self.pace = Pace(self.settings.concurrency)
        self.unavailable: str | None = None  # why the candidate cannot answer any more
        self._ending = asyncio.Event()  # set when no further attempt is made
        self.budget = budget
        self._run, self._store, self._encoder = run, store, encoder
        self._reached = False
        self._faults_in_a_row = 0
        self._down_since: float | None = None

    async def fetch(self, request: Request) -> list[Answer]:
        """One committed answer per trial of the request."""
        request = await self.with_images(request)
        answers: list[Answer] = []
        attempt = 0
        while True:
            remaining = replace(request, trials=request.trials[len(answers) :]) if answers else request
            if not self.candidate.supports_multiple and len(remaining.trials) > 1:
                single = [self.fetch(replace(remaining, trials=(trial,))) for trial in remaining.trials]
                for result in await asyncio.gather(*single, return_exceptions=True):
                    if isinstance(result, BaseException):
                        raise result
                    answers += result
                return answers
            try:
                answers += await self._attempt(remaining)
                if len(answers) == len(request.trials):
                    return answers
            except RequestAdapted:
                continue
            except Fault as fault:
                if not (fault.unreachable and self._reached):  # a server that was lost is waited for
                    attempt += 1
                if attempt >= self.settings.attempts:
                    self.tally.failed += len(remaining.trials)
                    raise GaveUp(f"no answer after {attempt} attempts; the last: {fault}") from None
                await self._pause(_backoff(attempt, fault))
            except RequestRejected as rejected:
                self.tally.failed += len(remaining.trials)
                raise GaveUp(str(rejected), refused=True) from None

    async def run_all(self, ask: Callable[[T], Coroutine[Any, Any, None]], items: Iterable[T]) -> bool:
        """Asks all items, a limited number at a time; returns False if it is ending before all were started."""
        window = asyncio.Semaphore(2 * self.settings.concurrency + 16)
        async with asyncio.TaskGroup() as group:
            for item in items:
                await window.acquire()
                if self.is_ending:
                    return False
                group.create_task(ask(item)).add_done_callback(lambda _: window.release())
        return True

    async def with_images(self, request: Request) -> Request:
        """The request with its images encoded."""
        images = [await self._encoder.encode(part) for part in request.ask.images]
        return replace(request, images=tuple(images))

    async def _attempt(self, request: Request) -> list[Answer]:
        await self.pace.acquire()
        try:
            if self.unavailable:
                raise CandidateUnavailable(self.unavailable)
            if self.is_ending:
                raise Stopping
            self.budget.charge_request()
            self.tally.calls += 1
            started = time.monotonic()
            try:
                reply = await self.candidate.answer(request)
            except Fault as fault:
                self._faulted(fault, started)
                await self._pause(self.pace.pause_seconds)
                raise
            self.tally.seconds += time.monotonic() - started
            self._succeeded(time.monotonic() - started)
            self.tally.tokens_in += reply.tokens_in
            self.tally.tokens_out += reply.tokens_out
            self.tally.money += self.budget.charge_tokens(self.settings, reply.tokens_in, reply.tokens_out)
            trials = request.trials[: len(reply.answers)]
            keys = [AnswerKey(request.ask.key, trial, request.turn) for trial in trials]
            call = Call(self._run, self.settings.name, reply.tokens_in, reply.tokens_out)
            stored = await self._store.put(keys, reply.answers, call)
            self.tally.answers += len(stored)
            self.tally.duplicates += sum(ours is not theirs for ours, theirs in zip(reply.answers, stored, strict=True))
            return stored
        except CandidateUnavailable as unavailable:
            self.unavailable = self.unavailable or str(unavailable)
            self.stop()
            raise
        except WardroundError:  # the answer cannot be stored
            self.stop()
            raise
        except BudgetReached:
            self.stop()
            raise Stopping from None
        finally:
            self.pace.release()

    def stop(self) -> None:
        """Starts no further call; those under way are finished."""
        self._ending.set()

    @property
    def is_ending(self) -> bool:
        return self._ending.is_set()

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), seconds)

    def _succeeded(self, seconds: float) -> None:
        self.pace.succeeded(seconds)
        self._reached = True
        self._faults_in_a_row = 0
        self._down_since = None

    def _faulted(self, fault: Fault, started: float) -> None:
        self.tally.faults += 1
        self.pace.faulted()
        self._faults_in_a_row += 1
        if fault.unreachable and self._down_since is None:
            self._down_since = started
        if self._faults_in_a_row >= max(MAX_FAULTS_IN_A_ROW, 2 * self.pace.limit):
            self.pace.narrow()
        if self._down_since is not None:
            down = time.monotonic() - self._down_since
            if down > (MAX_SECONDS_LOST if self._reached else MAX_SECONDS_UNREACHED):
                raise CandidateUnavailable(f"given up after {down:.0f} s: {fault}")


def _backoff(attempt: int, fault: Fault) -> float:
    seconds = min(MAX_BACKOFF, FIRST_WAIT * 2.0 ** max(0, attempt - 1))
    return max(fault.retry_after or 0.0, seconds * random.uniform(0.5, 1.0))
