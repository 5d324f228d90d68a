"""Sentinels: 1% of the new Asks, repeated at the end of a run to detect a change of the server's model."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING, Any

from wardround.candidates.candidate import Fault, Request
from wardround.core.ask import Answer
from wardround.running.store import AnswerKey

if TYPE_CHECKING:
    from wardround.running.context import RunContext

ONE_IN = 100
MAX_SENTINELS = 200
ALPHA = 0.01


@dataclass
class Sentinels:
    """A sample of the new answers, chosen by the keys of their Asks, and always the first."""

    samples: list[tuple[Request, Answer]] = field(default_factory=list)
    _answers: int = 0

    def add(self, request: Request, answer: Answer) -> None:
        self._answers += 1
        is_sampled = int.from_bytes(request.ask.key[:4], "big") % ONE_IN == 0
        if (is_sampled or self._answers == 1) and len(self.samples) < MAX_SENTINELS:
            self.samples.append((request, answer))

    async def ask_again(self, context: RunContext) -> dict[str, Any]:
        """Repeats the sample. Counts the answers that agree, early and late ones, and warns if their shares differ."""
        caller, agree = context.caller, list[bool]()
        models: set[str] = set()
        for request, before in self.samples:
            if caller.budget.reached:
                break
            caller.budget.charge_request()
            with_images = await caller.with_images(request)
            try:
                after = (await caller.candidate.answer(with_images)).answers[0]
            except Fault:
                continue
            key = AnswerKey(request.ask.key, request.trials[0], request.turn)
            context.store.put_sentinel(context.study.name, key, after)
            texts = [context.reader.text(answer, request.question, request.order) for answer in (before, after)]
            agree.append(texts[0] == texts[1])
            models |= {name for name in (before.model, after.model) if name}
        half = len(agree) // 2
        early, late = sum(agree[:half]), sum(agree[half:])
        p = fisher_exact(early, half, late, len(agree) - half)
        result: dict[str, Any] = {
            "asked_again": len(agree),
            "agree": sum(agree),
            "agree_early": early,
            "agree_late": late,
            "p": p,
            "models": sorted(models),
        }
        if len(models) > 1:
            result["warning"] = f"the server named different models during the run: {', '.join(sorted(models))}"
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
