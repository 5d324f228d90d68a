"""Caller: gets answers from one candidate, with retries, pacing, a circuit breaker, leases and the budget."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from math import ceil
from typing import Any, TypeVar

from wardround.candidates.candidate import (
    Candidate,
    CandidateUnavailable,
    Fault,
    QuestionRefused,
    RateLimited,
    Reply,
    Request,
    RequestAdapted,
    RequestRejected,
)
from wardround.cases.images.sent_size import PixelSize
from wardround.core.ask import Answer
from wardround.core.errors import WardroundError
from wardround.running.budget import BudgetReached, BudgetTracker, price
from wardround.running.estimates.ask_size import TOKENS_PER_REPLY, measure_ask, text_tokens
from wardround.running.images import ImageEncoder
from wardround.running.pacing.breaker import Breaker
from wardround.running.pacing.busy import BusyTime
from wardround.running.pacing.concurrency import Pace
from wardround.running.pacing.minute_limits import MinuteLimits
from wardround.running.pacing.prefixes import WarmPrefixes
from wardround.running.pacing.rate import CallRate
from wardround.running.store import AnswerKey, AnswerStore, Call, StoredAnswer

FIRST_WAIT = 0.25
MAX_BACKOFF = 8.0
MAX_FAULTS_IN_A_ROW = 8  # then the server counts as down
MAX_SECONDS_UNREACHED = 20.0
MAX_SECONDS_LOST = 300.0
MAX_SECONDS_LIMITED = 1800.0
MAX_LEASE_SECONDS = 1800.0  # of another run; it ends with its process, so that only one that hangs has it so long
MAX_LISTED_FAILURES = 20  # of one candidate
TIMES_DECLINED = 3  # before that is the outcome of a question
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
    fault_kinds: Counter[str] = field(default_factory=Counter)
    last_fault: str = ""
    failed: int = 0
    refused: int = 0  # questions that the server refused, an outcome of their own
    duplicates: int = 0
    parsed: int = 0  # answers to choice questions that the parser was tried on
    unparsed: int = 0


class Caller:
    """Calls one candidate. An answer is committed before its slot is freed."""

    def __init__(
        self,
        run: str,
        candidate: Candidate,
        store: AnswerStore,
        encoder: ImageEncoder,
        budget: BudgetTracker,
        limits: MinuteLimits | None = None,
    ) -> None:
        self.candidate = candidate
        self.settings = candidate.settings
        self.tally = Tally()
        self.pace = Pace(candidate.max_concurrency)
        self.rate = CallRate()
        settings = candidate.settings
        self._limits = limits or MinuteLimits(settings.requests_per_minute, settings.tokens_per_minute)
        self._prefixes = WarmPrefixes() if settings.price_in or settings.cache_prompts else None
        self.busy = BusyTime()
        self.breaker = Breaker()
        self.unavailable: str | None = None  # why the candidate cannot answer any more
        self._ending = asyncio.Event()  # set when no further attempt is made
        self.budget = budget
        self._run, self._store, self._encoder = run, store, encoder
        self._address = settings.address
        self._reached = False
        self._replies = 0
        self._answered: dict[bool, Request] = {}  # with and without images, one that was answered
        self._asking_again = asyncio.Lock()
        self._faults_in_a_row = 0
        self._down_since: float | None = None
        self._limited_since: float | None = None

    async def fetch(self, request: Request, stored_before: dict[int, StoredAnswer] | None = None) -> list[Answer]:
        """One committed answer per trial of the request. What another run is asking for is waited for.

        `stored_before` gets the answers that were stored before, by trial.
        """
        request = await self.with_images(request)
        keys = {trial: AnswerKey(request.ask.key, trial, request.turn) for trial in request.trials}

        def are_stored() -> bool:
            return self.is_ending or all(self._store.has(key) for key in keys.values())

        async with self._store.leases.hold(request.ask.key, request.turn, are_stored, MAX_LEASE_SECONDS):
            stored = {trial: answer for trial, key in keys.items() if (answer := self._store.find(key)) is not None}
            if not stored:
                return await self._fetch_all(request)
            if stored_before is not None:
                stored_before.update(stored)
            answers = {trial: answer for trial, (answer, _) in stored.items()}
            missing = tuple(trial for trial in request.trials if trial not in answers)
            if missing:
                answers |= zip(missing, await self._fetch_all(replace(request, trials=missing)), strict=True)
        return [answers[trial] for trial in request.trials]

    async def _fetch_all(self, request: Request) -> list[Answer]:
        """In as few calls as the candidate allows."""
        answers: list[Answer] = []
        while len(answers) < len(request.trials):
            remaining = replace(request, trials=request.trials[len(answers) :]) if answers else request
            if not self.candidate.supports_multiple and len(remaining.trials) > 1:
                single = [self._fetch_some(replace(remaining, trials=(trial,))) for trial in remaining.trials]
                for result in await asyncio.gather(*single, return_exceptions=True):
                    if isinstance(result, BaseException):
                        raise result
                    answers += result
            else:
                answers += await self._fetch_some(remaining)
        return answers

    async def _fetch_some(self, request: Request) -> list[Answer]:
        """Answers to the first trials, at least to one: repeats the call until it is answered, refused or given up."""
        attempts = times_limited = times_declined = 0
        replies_before = self._replies
        while True:
            try:
                return await self._attempt(request)
            except RequestAdapted:
                if not self.candidate.supports_multiple and len(request.trials) > 1:
                    return await self._fetch_all(request)
            except RateLimited as fault:
                times_limited += 1
                await self.pause(_backoff(times_limited, fault))
            except Fault as fault:
                if not (fault.unreachable and self._reached):  # a server that was lost is waited for
                    attempts += 1
                if attempts >= self.settings.attempts:
                    self.tally.failed += len(request.trials)
                    raise GaveUp(f"no answer after {attempts} attempts; the last: {fault}") from None
                await self.pause(_backoff(attempts, fault))
            except QuestionRefused as refused:
                times_declined += 1
                if self.breaker.has_answered[bool(request.images)] or times_declined == TIMES_DECLINED:
                    return await self.store_refusal(request, refused.finish, str(refused))
                await self.pause(_backoff(times_declined))  # it may refuse everything: others are asked first
            except RequestRejected as rejected:
                times_declined += 1
                if times_declined < TIMES_DECLINED:
                    await self.pause(_backoff(times_declined))
                elif self._replies > replies_before or await self._still_answers(request, self.call):
                    return await self.store_refusal(request, "declined", str(rejected))
                else:
                    raise self._give_up_refused(request, str(rejected)) from None

    async def keep_batched(self, request: Request, reply: Reply, run: str, candidate: str) -> list[Answer]:
        """Commits the reply to an item of a batch, at the price of batches, for the run that submitted it."""
        self.tally.calls += 1
        self.breaker.answered(with_images=bool(request.images))
        self.note_answered(request)
        call = replace(self._charge(request, reply, "batch"), run=run, candidate=candidate)
        return await self._commit(request, reply.answers, call)

    async def store_refusal(self, request: Request, finish: str, message: str) -> list[Answer]:
        """Commits a refusal as the outcome of the question, if the candidate has answered such questions."""
        if not self.breaker.has_answered[bool(request.images)]:
            raise self._give_up_refused(request, message)
        refusal = Answer("", finish=finish, refusal=message, images=request.image_hashes)
        self.tally.refused += len(request.trials)
        call = Call(self._run, self.settings.name, 0, 0, self._address)
        return await self._commit(request, [refusal] * len(request.trials), call)

    def _give_up_refused(self, request: Request, message: str) -> GaveUp:
        self.tally.failed += len(request.trials)
        return GaveUp(message, refused=True)

    async def run_all(self, ask: Callable[[T], Coroutine[Any, Any, None]], items: Iterable[T]) -> bool:
        """Asks all items, a limited number at a time; returns False if it is ending before all were started."""
        waiting, are_all_started = iter(items), True

        async def ask_in_turn(item: T) -> None:
            nonlocal are_all_started
            await ask(item)
            for item in waiting:  # each goes on with the next one: a task for each item would take half as long again
                if self.is_ending:
                    are_all_started = False
                    return
                await ask(item)

        async with asyncio.TaskGroup() as group:
            for item in islice(waiting, 2 * self.candidate.max_concurrency + 16):
                if self.is_ending:
                    return False
                group.create_task(ask_in_turn(item))
        return are_all_started

    async def with_images(self, request: Request) -> Request:
        """The request with its images encoded."""
        if not request.ask.images and not request.images:
            return request
        return request.with_images([await self._encoder.encode(part) for part in request.ask.images])

    async def _attempt(self, request: Request) -> list[Answer]:
        """The committed answers of one call. Where input costs money, Asks that begin alike wait for the first."""

        def keep(reply: Reply, call: Call) -> Coroutine[Any, Any, list[Answer]]:
            return self._commit(request, reply.answers, call)

        if self._prefixes is None:
            return await self.call(request, keep)
        async with self._prefixes.after_first(request.ask):
            return await self.call(request, keep)

    async def call(self, request: Request, keep: Callable[[Reply, Call], Awaitable[T]], purpose: str = "answer") -> T:
        """One call, counted in pace, budget and tally; its reply is kept before its slot is freed."""
        await self.pace.acquire()
        try:
            return await self._call_in_slot(request, keep, purpose)
        except CandidateUnavailable as unavailable:
            self.unavailable = self.unavailable or str(unavailable)
            self.stop()
            raise
        except BudgetReached:
            self.stop()
            raise Stopping from None
        finally:
            self.pace.release()

    async def _call_in_slot(self, request: Request, keep: Callable[[Reply, Call], Awaitable[T]], purpose: str) -> T:
        while not self.is_ending and (seconds := self._limits.seconds_left() or self.rate.reserve()) > 0:
            await self.pause(seconds)
        if self.unavailable:
            raise CandidateUnavailable(self.unavailable)
        if self.is_ending:
            raise Stopping
        self.budget.charge_request()
        self.tally.calls += 1
        expected_tokens = self._limits.take(self._expected_tokens(request))
        started = time.monotonic()
        try:
            reply = await self._answer(request)
        except Fault as fault:
            if any(fault.tokens):
                charge = self._charge(request, Reply([], *fault.tokens), "fault")
                await self._store.put_call(request.ask.key, charge)
            self._faulted(fault, started)
            await self.pause(self.pace.pause_seconds)
            raise
        except (QuestionRefused, RequestRejected) as refusal:
            self._refused(request, refusal)
            if purpose == "answer":
                await self._stop_if_all_refused(request, refusal)
            raise
        if reply.was_sent:
            self._limits.correct(expected_tokens, reply.tokens_in + reply.tokens_out)
            self._succeeded(request, reply, time.monotonic() - started)
        return await keep(reply, self._charge(request, reply, purpose))

    def _expected_tokens(self, request: Request) -> int:
        """Of a call, for `tokens_per_minute`: until replies tell, by our rules and the longest reply."""
        if self._limits.tokens is None:
            return 0
        sizes = [PixelSize(image.width, image.height) for image in request.images]
        reply = request.ask.sampling.max_tokens or TOKENS_PER_REPLY
        return measure_ask(request.ask, sizes, self.settings).tokens + len(request.trials) * reply

    async def _answer(self, request: Request) -> Reply:
        try:
            with self.busy.during_call():
                return await self.candidate.answer(request)
        finally:
            self.rate.ended()

    def _charge(self, request: Request, reply: Reply, purpose: str) -> Call:
        """Counts the tokens of a reply; those that a server does not report are estimated."""
        tokens_in, tokens_out = reply.tokens_in, reply.tokens_out
        is_estimated = reply.was_sent and self.settings.base_url is not None and not tokens_in and not tokens_out
        if is_estimated:
            sizes = [PixelSize(image.width, image.height) for image in request.images]
            tokens_in = measure_ask(request.ask, sizes, self.settings).tokens
            tokens_out = ceil(sum(text_tokens(answer.text + (answer.reasoning or "")) for answer in reply.answers))
        self.tally.tokens_in += tokens_in
        self.tally.tokens_out += tokens_out
        share = self.settings.price_batch if purpose == "batch" else 1.0
        cost = share * price(self.settings, tokens_in, tokens_out, *(cached := (reply.cached_in, reply.cache_writes)))
        self.tally.money += cost
        self.budget.charge_tokens(tokens_in + tokens_out, cost)
        name, address = self.settings.name, reply.address or self._address
        return Call(self._run, name, tokens_in, tokens_out, address, is_estimated, purpose, *cached)

    async def _commit(self, request: Request, answers: list[Answer], call: Call) -> list[Answer]:
        keys = [AnswerKey(request.ask.key, trial, request.turn) for trial in request.trials[: len(answers)]]
        try:
            stored = await self._store.put(keys, answers, call)
        except WardroundError:  # the answer cannot be stored
            self.stop()
            raise
        self.tally.answers += len(stored)
        self.tally.duplicates += sum(ours is not theirs for ours, theirs in zip(answers, stored, strict=True))
        return stored

    def stop(self) -> None:
        """Starts no further call; those under way are finished."""
        self._ending.set()

    @property
    def is_ending(self) -> bool:
        return self._ending.is_set()

    async def pause(self, seconds: float) -> None:
        """Waits so long, or until no further attempt is made."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), seconds)

    def _succeeded(self, request: Request, reply: Reply, seconds: float) -> None:
        self.tally.seconds += seconds
        self.pace.succeeded(seconds)
        self.rate.answered(reply.limits, reply.tokens_in + reply.tokens_out)
        self.breaker.answered(with_images=bool(request.images))
        self.note_answered(request)
        self._reached = True
        self._replies += 1
        self._faults_in_a_row = 0
        self._down_since = self._limited_since = None

    def _refused(self, request: Request, refusal: QuestionRefused | RequestRejected) -> None:
        """Counts a refused Ask. One of a known reason is a fault only while no such Ask was answered."""
        with_images, for_known_reason = bool(request.images), isinstance(refusal, QuestionRefused)
        if not (for_known_reason and self.breaker.has_answered[with_images]):
            self.count_fault("refused", str(refusal))
        self.breaker.refused(request.ask.key, with_images=with_images, for_known_reason=for_known_reason)

    async def _stop_if_all_refused(self, request: Request, refusal: Exception) -> None:
        """After many refusals in a row, a question that was answered before tells whether all are refused now."""
        with_images = bool(request.images)
        if self.breaker.refuses_all(with_images=with_images) is None:
            return
        async with self._asking_again:
            refuses_all = self.breaker.refuses_all(with_images=with_images)  # unless it answered meanwhile
            if refuses_all is None or await self._still_answers(request, self._call_in_slot):
                return
        if with_images in self._answered:
            refuses_all += ", and one that it had answered before"
        raise CandidateUnavailable(f"{refuses_all}: {refusal}")

    async def _still_answers(self, request: Request, call: Callable[..., Awaitable[None]]) -> bool:
        """Whether the candidate answers a question that it answered before; the answer is not kept."""
        known = self._answered.get(bool(request.images))
        if known is None:
            return False

        async def keep(reply: Reply, call: Call) -> None:
            await self._store.put_call(known.ask.key, call)

        for attempt in range(1, self.settings.attempts + 1):
            try:
                await call(await self.with_images(known), keep, "check")
                return True
            except (QuestionRefused, RequestRejected):
                return False
            except RequestAdapted:
                pass
            except Fault as fault:
                await self.pause(_backoff(attempt, fault))
        return False

    def has_known_answer(self, *, with_images: bool) -> bool:
        """Whether a request is known that was answered."""
        return with_images in self._answered

    def note_answered(self, request: Request) -> None:
        """Remembers the first request with images, and the first without, that was answered."""
        has_images = bool(request.ask.images)
        if has_images in self._answered or not all(image.path for image in request.ask.images):
            return  # one drawn for a probe cannot be encoded again
        self._answered[has_images] = replace(request, trials=request.trials[:1], images=())

    def count_fault(self, kind: str, message: str) -> None:
        """Counts a fault in this start and over all starts of the run."""
        self.tally.faults += 1
        self.tally.fault_kinds[kind] += 1
        self.tally.last_fault = message
        self._store.count_fault(self._run, self.settings.name, kind, message)

    def _faulted(self, fault: Fault, started: float) -> None:
        self.count_fault(fault.kind, str(fault))
        self._faults_in_a_row += 1
        is_down = self._faults_in_a_row >= max(MAX_FAULTS_IN_A_ROW, 2 * self.pace.limit)
        if not (isinstance(fault, RateLimited) and fault.retry_after is not None):
            self.pace.faulted()
        if isinstance(fault, RateLimited):
            self._limited(fault, started, is_down)
        if is_down:
            self.pace.narrow()
        self.breaker.faulted(fault)
        if fault.unreachable and self._down_since is None:
            self._down_since = started
        if self._down_since is not None:
            down = time.monotonic() - self._down_since
            if down > (MAX_SECONDS_LOST if self._reached else MAX_SECONDS_UNREACHED):
                raise CandidateUnavailable(f"given up after {down:.0f} s: {fault}")

    def _limited(self, fault: RateLimited, started: float, is_down: bool) -> None:
        """A plain refusal may mean too many calls at once. One with a time, or of a single call, means too fast."""
        if fault.retry_after is not None or self.rate.interval or self.pace.limit == 1 or is_down:
            self.rate.refused(fault, started)
        self._limited_since = self._limited_since or started
        seconds = time.monotonic() - self._limited_since
        if seconds > MAX_SECONDS_LIMITED:
            raise CandidateUnavailable(f"its rate limit let nothing pass for {seconds:.0f} s: {fault}")


def _backoff(attempt: int, fault: Fault | None = None) -> float:
    seconds = min(MAX_BACKOFF, FIRST_WAIT * 2.0 ** max(0, attempt - 1))
    return max((fault and fault.retry_after) or 0.0, seconds * random.uniform(0.5, 1.0))
