"""Sentinels: 1% of the new requests, repeated at the end of a run to detect a change of the server's model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from math import comb
from typing import TYPE_CHECKING, Any

from wardround.candidates.candidate import CandidateUnavailable, Fault, QuestionRefused, Reply, Request, RequestRejected
from wardround.core.ask import NO_LOGPROBS, Answer
from wardround.running.caller import Stopping
from wardround.running.store import AnswerKey, Call

if TYPE_CHECKING:
    from wardround.running.context import RunContext

ONE_IN = 100
MAX_SENTINELS = 200
MIN_TO_DECIDE = 30  # asked in all once a repeated answer differs: fewer could not tell a change from chance
ALPHA = 0.01
Sample = tuple[Request, Answer]


@dataclass
class Sentinels:
    """Requests spread evenly over the run, each with the answer to its first trial."""

    samples: list[Sample] = field(default_factory=list)
    requests: int = 0
    _every: int = 1

    def add(self, request: Request, answer: Answer) -> None:
        """Keeps every so many-th request that was answered, fewer of them the longer the run is."""
        is_answer = answer.finish != NO_LOGPROBS and not answer.refused_for
        if request.is_intermediate or request.condition.probe != "none" or not is_answer:
            return
        if self.requests % self._every == 0:
            self.samples.append((replace(request, trials=request.trials[:1], images=()), answer))
        self.requests += 1
        if len(self.samples) > 2 * MAX_SENTINELS:
            self.samples, self._every = self.samples[::2], 2 * self._every

    async def ask_again(self, context: RunContext) -> dict[str, Any]:
        """Repeats 1% of the requests, and more if an answer differs; warns if early and late ones differ unequally."""
        wanted = min(MAX_SENTINELS, -(-self.requests // ONE_IN))
        chosen = spread(len(self.samples), wanted)
        results = await self._repeat(context, chosen)
        if not all(result.agrees for result in results.values()) and len(results) < MIN_TO_DECIDE:
            results |= await self._repeat(context, spread(len(self.samples), MIN_TO_DECIDE) - results.keys())
        agree = [results[number].agrees for number in sorted(results)]
        models = context.models.union(*(result.models for result in results.values()))
        return _summary(agree, sorted(models))

    async def _repeat(self, context: RunContext, numbers: set[int]) -> dict[int, Repeated]:
        async def repeat(number: int) -> tuple[int, Repeated] | None:
            request, before = self.samples[number]
            try:
                after = await _ask(context, request)
            except (Fault, QuestionRefused, RequestRejected, CandidateUnavailable, Stopping):
                return None
            texts = [context.reader.text(answer, request.question, request.order) for answer in (before, after)]
            models = {name for name in (before.model, after.model) if name}
            return number, Repeated(texts[0] == texts[1], models)

        return dict(filter(None, await asyncio.gather(*map(repeat, sorted(numbers)))))


@dataclass(frozen=True)
class Repeated:
    """Whether the repeated answer is the first one again, and the models that both were said to come from."""

    agrees: bool
    models: set[str]


async def _ask(context: RunContext, request: Request) -> Answer:
    """One call, counted and paid for as any other; its answer is stored apart."""
    caller = context.caller

    async def keep(reply: Reply, call: Call) -> Answer:
        key = AnswerKey(request.ask.key, request.trials[0], request.turn)
        await context.store.put_call(request.ask.key, call)
        context.store.put_sentinel(context.study.name, key, reply.answers[0])
        return reply.answers[0]

    return await caller.call(await caller.with_images(request), keep, purpose="sentinel")


def spread(count: int, wanted: int) -> set[int]:
    """So many numbers below `count`, as evenly spaced as they can be, and 0 among them."""
    wanted = min(count, wanted)
    return {number * count // wanted for number in range(wanted)}


def _summary(agree: list[bool], models: list[str]) -> dict[str, Any]:
    half = len(agree) // 2
    early, late = sum(agree[:half]), sum(agree[half:])
    p = fisher_exact(early, half, late, len(agree) - half)
    result: dict[str, Any] = {
        "asked_again": len(agree),
        "agree": sum(agree),
        "agree_early": early,
        "agree_late": late,
        "p": p,
        "models": models,
    }
    if len(models) > 1:
        result["warning"] = f"the server named different models during the run: {', '.join(models)}"
    elif p < ALPHA:
        result["warning"] = (
            f"re-asked at the end, {early} of {half} early and {late} of {len(agree) - half} late answers came "
            "again: the server's model may have changed during the run"
        )
    return result


def fisher_exact(a: int, n_a: int, b: int, n_b: int) -> float:
    """The two-sided p-value of Fisher's exact test for a of n_a against b of n_b."""
    total = a + b
    ways = [comb(n_a, k) * comb(n_b, total - k) for k in range(max(0, total - n_b), min(n_a, total) + 1)]
    observed = comb(n_a, a) * comb(n_b, b)
    return sum(way for way in ways if way <= observed) / sum(ways)
