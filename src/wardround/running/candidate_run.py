"""One candidate's part of a run: context, plan, outcome, manifest entry."""

from dataclasses import dataclass, field
from typing import Any

from wardround.core.study import CandidateSettings
from wardround.running.budget import batch_cost, bill, price, saved_by_batches, saved_by_cache
from wardround.running.context import RunContext
from wardround.running.plan import CandidateOutcome, Plan
from wardround.running.settings.verdict import MANIFEST_KEY, SettingVerdict
from wardround.running.store.answers import Spending
from wardround.running.store.batches import BatchRecords

OWN_KEYS = {"headers", "name", "provider", "model", "revision", "sees"}  # settings that have manifest keys of their own


@dataclass
class CandidateRun:
    """One candidate's part of a run."""

    context: RunContext
    plan: Plan
    outcome: CandidateOutcome = field(default_factory=CandidateOutcome)
    seconds_before: float = 0.0  # of calls in earlier starts of the run
    busy_before: float = 0.0  # seconds with at least one call under way, in earlier starts
    is_batched: bool = False  # whether it is asked by its provider's batches
    verdicts: list[SettingVerdict] = field(default_factory=list)  # on settings that took effect, or did not
    estimate: dict[str, Any] | None = None  # what all was expected to take when the run was first started

    @property
    def name(self) -> str:
        return self.context.caller.settings.name

    @property
    def incomplete_reason(self) -> str | None:
        """Why its part of the run is incomplete; None if it is complete."""
        if self.outcome.unavailable:
            return f"candidate {self.name!r}: {self.outcome.unavailable}"
        if self.outcome.is_waiting:
            batches = f"{self.outcome.under_way:,} Asks are in batches under way"
            batches += f", {self.outcome.held_back:,} wait for room" if self.outcome.held_back else ""
            if self.outcome.user_task:
                return f"candidate {self.name!r}: {batches}; {self.outcome.user_task}, then start `wardround run` again"
            return f"candidate {self.name!r}: {batches}; `wardround run` collects them when it is started again"
        if self.outcome.failures:
            failed = self.context.caller.tally.failed
            return f"candidate {self.name!r}: {failed} answers failed: {self.outcome.failures[0]}"
        return None

    @property
    def warnings(self) -> list[str]:
        warnings = list(self.context.caller.candidate.warnings)
        if len(self.context.models) > 1:
            names = ", ".join(sorted(self.context.models))
            warnings.append(f"answers come from servers that named different models: {names}")
        if len(self.context.providers) > 1:
            names = ", ".join(sorted(self.context.providers))
            advice = "extra_body.provider pins one"
            warnings.append(f"answers come from several providers of one model, which may differ: {names}; {advice}")
        warnings += [f"{verdict.label}: {verdict.evidence}" for verdict in self.verdicts if verdict.stops_run]
        return [f"{self.name}: {warning}" for warning in [*warnings, *self.outcome.unsupported]]

    @property
    def price_of_missing(self) -> float:
        """An estimate, at the price of batches if it is asked by them."""
        settings = self.context.caller.settings
        return self._full_price_of_missing * (settings.price_batch if self.is_batched else 1.0)

    @property
    def saving_of_missing(self) -> float:
        """An estimate of what batches will save."""
        return self._full_price_of_missing - self.price_of_missing

    @property
    def _full_price_of_missing(self) -> float:
        missing = self.plan.count.estimator.estimate
        return price(self.context.caller.settings, missing.tokens_in, missing.tokens_out)

    def expected_bill(self) -> dict[str, Any]:
        """What was spent so far, and an estimate of what is missing."""
        settings, missing = self.context.caller.settings, self.plan.count.estimator.estimate
        spent = self.context.store.spent(self.context.study.name, settings.name)
        total = missing._replace(
            tokens_in=spent.tokens_in + missing.tokens_in, tokens_out=spent.tokens_out + missing.tokens_out
        )
        expected = total.to_manifest(settings) | {"cost": bill(settings, spent) + self.price_of_missing}
        saved = saved_by_batches(settings, spent) + self.saving_of_missing
        return expected | ({"saved": saved} if self.is_batched else {})

    def to_manifest(self) -> dict[str, Any]:
        """Its settings, what it was asked, and what that cost."""
        caller, count, store = self.context.caller, self.plan.count, self.context.store
        settings, tally, identity = caller.settings, caller.tally, caller.candidate.identity
        spending = store.spent(self.context.study.name, settings.name)
        return {
            "name": settings.name,
            "provider": identity.provider,
            "model": identity.model,
            "revision": identity.revision,
            "sees": settings.sees,
            "settings": settings.model_dump(exclude=OWN_KEYS, exclude_unset=True),
            "headers": sorted(settings.headers),
            "reported_models": sorted(self.context.models),
            **({"reported_providers": sorted(self.context.providers)} if self.context.providers else {}),
            "asks": count.stored + count.missing,
            "stored": count.stored,
            "new": tally.answers,
            "calls": spending.calls,
            "bought": spending.answers,
            "seconds": round(self.seconds_before + tally.seconds, 3),
            "busy_seconds": round(self.busy_before + caller.busy.seconds, 3),
            "tokens_in": spending.tokens_in,
            "tokens_out": spending.tokens_out,
            "cost": bill(settings, spending),
            **self._batches(spending),
            **_cache_entry(settings, spending),
            "estimate": self.estimate,
            "duplicates": spending.duplicates,
            "faults": tally.faults,
            "fault_kinds": [fault._asdict() for fault in store.faults(self.context.study.name, settings.name)],
            "refused": tally.refused,
            "tokens_estimated": spending.estimated,
            "adaptations": list(caller.candidate.adaptations),
            MANIFEST_KEY: [verdict.to_dict() for verdict in self.verdicts],
            "why": self.incomplete_reason,
            "failed": tally.failed,
            "failures": self.outcome.failures,
            "deviations": self._deviations(),
        }

    def _batches(self, spending: Spending) -> dict[str, Any]:
        """How many batches it was asked by, their price, and what they saved; nothing for a candidate without them."""
        settings = self.context.caller.settings
        number = BatchRecords(self.context.store, self.context.study.name, self.name, settings.address).count()
        costs = {"batch_cost": batch_cost(settings, spending), "saved": saved_by_batches(settings, spending)}
        return {"batches": number, **costs} if number else {}

    def _deviations(self) -> list[str]:
        """The sampling values in which a candidate with fixed sampling differs from the study."""
        study = self.context.study
        settings = next(candidate for candidate in study.candidates if candidate.name == self.name)
        if not settings.fixed_sampling:
            return []
        own, of_study = settings.explicit_sampling, study.sampling.explicit_sampling
        return [
            f"{key} = {own[key]} instead of the study's {of_study[key]}"
            for key in own
            if key in of_study and own[key] != of_study[key]
        ]


def _cache_entry(settings: CandidateSettings, spending: Spending) -> dict[str, Any]:
    """What came from the server's prompt cache and what that saved; nothing if the server reports none."""
    if not (spending.cached_in or spending.cache_writes):
        return {}
    return {
        "cached_in": spending.cached_in,
        "cache_writes": spending.cache_writes,
        "cached_share": spending.cached_in / spending.tokens_in,
        "saved_by_cache": saved_by_cache(settings, spending),
    }
