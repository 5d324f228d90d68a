"""Seated: one candidate with all that examines it, and what a manifest tells of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wardround.running.budget import price
from wardround.running.context import Room
from wardround.running.plan import Outcome, Plan
from wardround.running.sentinel import Sentinels

TOLD_APART = {"headers", "name", "provider", "model", "revision", "sees"}


@dataclass
class Seated:
    """One candidate with all that examines it."""

    room: Room
    plan: Plan
    sentinels: Sentinels
    models: set[str]  # as its servers named themselves
    outcome: Outcome = field(default_factory=Outcome)
    seconds_before: float = 0.0  # that calls took in earlier starts of the run

    @property
    def name(self) -> str:
        return self.room.caller.settings.name

    @property
    def why_incomplete(self) -> str | None:
        """What keeps its part of the run from being whole; None where nothing does."""
        if self.outcome.gone:
            return f"candidate {self.name!r}: {self.outcome.gone}"
        if self.outcome.failures:
            failed = self.room.caller.tally.failed
            return f"candidate {self.name!r}: {failed} answers failed: {self.outcome.failures[0]}"
        return None

    @property
    def warnings(self) -> list[str]:
        told = [f"{self.name}: {line}" for line in self.room.caller.candidate.warnings]
        if len(self.models) > 1:
            names = ", ".join(sorted(self.models))
            told.append(f"{self.name}: answers come from servers that named different models: {names}")
        return told + [f"{self.name}: {unable}" for unable in self.outcome.unable]

    def told(self) -> dict[str, Any]:
        """Its settings, what was asked of it, and what that cost."""
        caller, found = self.room.caller, self.plan.found
        settings, tally, identity = caller.settings, caller.tally, caller.candidate.identity
        calls, tokens_in, tokens_out, duplicates = self.room.store.spent(self.room.study.name, settings.name)
        return {
            "name": settings.name,
            "provider": identity.provider,
            "model": identity.model,
            "revision": identity.revision,
            "sees": settings.sees,
            "settings": settings.model_dump(exclude=TOLD_APART, exclude_unset=True),
            "headers": sorted(settings.headers),
            "reported_models": sorted(self.models),
            "asks": found.stored + found.missing,
            "stored": found.stored,
            "new": tally.answers,
            "calls": calls,
            "bought": self.room.store.bought(self.room.study.name, settings.name),
            "seconds": round(self.seconds_before + tally.seconds, 3),
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            "cost": price(settings, tokens_in, tokens_out),
            "duplicates": duplicates,
            "faults": tally.faults,
            "failed": tally.failed,
            "failures": self.outcome.failures,
            "deviations": self._deviations(),
        }

    def _deviations(self) -> list[str]:
        """Where a candidate whose sampling is fixed is not asked as the study says."""
        study = self.room.study
        settings = next(each for each in study.candidates if each.name == self.name)
        if not settings.fixed_sampling:
            return []
        own, studys = settings.given, study.sampling.given
        return [
            f"{key} = {own[key]} instead of the study's {studys[key]}"
            for key in own
            if key in studys and own[key] != studys[key]
        ]
