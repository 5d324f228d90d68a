"""Caller: gets answers out of one candidate, whatever happens on the way."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from dataclasses import dataclass, replace

from wardround.candidates.candidate import Adapted, Candidate, Fault, Gone, Rejected, Request
from wardround.core.ask import Answer
from wardround.core.errors import WardroundError
from wardround.running.budget import BudgetReached, Purse, price
from wardround.running.images import Imagery
from wardround.running.pace import Pace
from wardround.running.store import Call, Row, Store

FIRST_WAIT = 0.25
LONGEST_BACKOFF = 8.0
FAULTS_IN_A_ROW = 8  # then the server counts as down
NEVER_REACHED_SECONDS = 20.0
LOST_SECONDS = 300.0


class GaveUp(Exception):
    """This Ask gets no answer in this start of the run; the others go on."""

    def __init__(self, message: str, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused  # by the candidate, for good: another start would bring no answer either


class Stopping(Exception):
    """The run is being stopped: nothing new is asked."""


@dataclass
class Tally:
    """What happened to one candidate in this start of the run."""

    calls: int = 0
    answers: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float = 0.0
    seconds: float = 0.0  # that answered calls took, added up
    faults: int = 0
    failed: int = 0
    duplicates: int = 0
    last_fault: str | None = None


class Caller:
    """Calls one candidate: pace, retries, circuit breaker, budget; and commits before a slot is freed."""

    def __init__(self, run: str, candidate: Candidate, store: Store, imagery: Imagery, purse: Purse) -> None:
        self.candidate = candidate
        self.settings = candidate.settings
        self.tally = Tally()
        self.pace = Pace(self.settings.concurrency)
        self.gone: str | None = None
        self._ending = asyncio.Event()  # stopping or gone: nobody waits for another attempt any more
        self._run, self._store, self._imagery, self._purse = run, store, imagery, purse
        self._reached = False
        self._faults_in_a_row = 0
        self._down_since: float | None = None

    async def fetch(self, request: Request) -> list[Answer]:
        """One committed answer per trial of the request."""
        request = await self.with_images(request)
        answers: list[Answer] = []
        attempt = 0
        while True:
            left = replace(request, trials=request.trials[len(answers) :]) if answers else request
            if not self.candidate.several and len(left.trials) > 1:
                alone = [self.fetch(replace(left, trials=(trial,))) for trial in left.trials]
                several = await asyncio.gather(*alone, return_exceptions=True)
                for one in several:
                    if isinstance(one, BaseException):
                        raise one
                    answers += one
                return answers
            try:
                answers += await self._attempt(left)
                if len(answers) == len(request.trials):
                    return answers
            except Adapted:
                continue
            except Fault as fault:
                if not (fault.unreachable and self._reached):  # a server that went away is waited for
                    attempt += 1
                if attempt >= self.settings.attempts:
                    self.tally.failed += len(left.trials)
                    raise GaveUp(f"no answer after {attempt} attempts; the last: {fault}") from None
                await self._pause(_wait(attempt, fault))
            except Rejected as rejected:
                self.tally.failed += len(left.trials)
                raise GaveUp(str(rejected), refused=True) from None

    async def with_images(self, request: Request) -> Request:
        """The request with its images made sendable."""
        images = [await self._imagery.encoded(part) for part in request.ask.images]
        return replace(request, images=tuple(images))

    async def _attempt(self, request: Request) -> list[Answer]:
        await self.pace.acquire()
        try:
            if self.gone:
                raise Gone(self.gone)
            if self.ending:
                raise Stopping
            self._purse.take()
            self.tally.calls += 1
            started = time.monotonic()
            try:
                reply = await self.candidate.answer(request)
            except Fault as fault:
                self._faulted(fault, started)
                await self._pause(self.pace.hold)
                raise
            self.tally.seconds += time.monotonic() - started
            self._succeeded(time.monotonic() - started)
            self._purse.spend(self.settings, reply.tokens_in, reply.tokens_out)
            self.tally.tokens_in += reply.tokens_in
            self.tally.tokens_out += reply.tokens_out
            self.tally.money += price(self.settings, reply.tokens_in, reply.tokens_out)
            trials = request.trials[: len(reply.answers)]
            rows = [Row(request.ask.key, trial, request.turn) for trial in trials]
            call = Call(self._run, self.settings.name, reply.tokens_in, reply.tokens_out)
            kept = await self._store.put(rows, reply.answers, call)
            self.tally.answers += len(kept)
            self.tally.duplicates += sum(mine is not kept for mine, kept in zip(reply.answers, kept, strict=True))
            return kept
        except Gone as gone:
            self.gone = self.gone or str(gone)
            self.stop()
            raise
        except WardroundError:  # what cannot be stored is not asked for
            self.stop()
            raise
        except BudgetReached:
            self.stop()
            raise Stopping from None
        finally:
            self.pace.release()

    def stop(self) -> None:
        """Lets calls under way finish; starts no other."""
        self._ending.set()

    @property
    def ending(self) -> bool:
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
        self.tally.last_fault = str(fault)
        self.pace.faulted()
        self._faults_in_a_row += 1
        if fault.unreachable and self._down_since is None:
            self._down_since = started
        if self._faults_in_a_row >= max(FAULTS_IN_A_ROW, 2 * self.pace.limit):
            self.pace.narrow()
        if self._down_since is not None:
            down = time.monotonic() - self._down_since
            if down > (LOST_SECONDS if self._reached else NEVER_REACHED_SECONDS):
                raise Gone(f"given up after {down:.0f} s: {fault}")


def _wait(attempt: int, fault: Fault) -> float:
    backoff = min(LONGEST_BACKOFF, FIRST_WAIT * 2.0 ** max(0, attempt - 1))
    return max(fault.retry_after or 0.0, backoff * random.uniform(0.5, 1.0))
