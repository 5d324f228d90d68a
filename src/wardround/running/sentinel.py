"""Sentinels: a few Asks are put again at the end of a run, to see whether the server's model changed meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import comb
from typing import Any

from wardround.candidates.candidate import Candidate, Fault, Request
from wardround.core.ask import Answer
from wardround.running.budget import Purse
from wardround.running.context import Reader
from wardround.running.images import Imagery
from wardround.running.store import Row, Store

ONE_IN = 100
MOST = 200
SUSPICIOUS = 0.01


@dataclass
class Sentinels:
    """Keeps every hundredth new answer (by its key, so not by choice) to ask it again at the end."""

    kept: list[tuple[Request, Answer]] = field(default_factory=list)
    seen: int = 0

    def see(self, request: Request, answer: Answer) -> None:
        self.seen += 1
        sampled = int.from_bytes(request.ask.key[:4], "big") % ONE_IN == 0
        if (sampled or self.seen == 1) and len(self.kept) < MOST:
            self.kept.append((request, answer))

    async def ask_again(
        self, run: str, candidate: Candidate, store: Store, imagery: Imagery, reader: Reader, purse: Purse
    ) -> dict[str, Any]:
        """What came of it: how many agree now, of the early and of the late ones, with a warning where that differs."""
        agree: list[bool] = []
        models: set[str] = set()
        for request, before in self.kept:
            if purse.reached:
                break
            purse.take()
            images = [await imagery.encoded(part) for part in request.ask.images]
            try:
                after = (await candidate.answer(replace(request, images=tuple(images)))).answers[0]
            except Fault:
                continue
            store.put_sentinel(run, Row(request.ask.key, request.trials[0], request.turn), after)
            read = [reader.text(answer, request.question, request.order) for answer in (before, after)]
            agree.append(read[0] == read[1])
            models |= {name for name in (before.model, after.model) if name}
        half = len(agree) // 2
        early, late = sum(agree[:half]), sum(agree[half:])
        chance = fisher_exact(early, half, late, len(agree) - half)
        told: dict[str, Any] = {
            "asked_again": len(agree),
            "agree": sum(agree),
            "agree_early": early,
            "agree_late": late,
            "p": chance,
            "models": sorted(models),
        }
        if len(models) > 1:
            told["warning"] = f"the server named different models during the run: {', '.join(sorted(models))}"
        elif chance < SUSPICIOUS:
            told["warning"] = (
                f"re-asked at the end, {early} of {half} early and {late} of {len(agree) - half} late answers came "
                "again: the server's model may have changed during the run"
            )
        return told


def fisher_exact(some: int, of: int, others: int, of_others: int) -> float:
    """Two-sided: how often chance alone, with all these counts in sum, makes two shares as unlikely or more so."""
    both = some + others
    ways = [comb(of, k) * comb(of_others, both - k) for k in range(max(0, both - of_others), min(of, both) + 1)]
    seen = comb(of, some) * comb(of_others, others)
    return sum(way for way in ways if way <= seen) / sum(ways)
