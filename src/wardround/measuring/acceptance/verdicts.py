"""Verdicts: what the figures of an endpoint show, adjusted for the number of endpoints."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
import scipy

from wardround.core.study_tables.endpoint import Endpoint
from wardround.measuring.acceptance.figure import ALPHA, EndpointFigure
from wardround.measuring.people.against_models import holm

PASS, FAIL, UNDECIDED = "pass", "fail", "undecided"
POWER = 0.8  # the chance that so many clusters decide, if the value seen is the true one
MAX_CLUSTERS = 1_000_000
LOWER_IS_BETTER = (
    *("unparsed", "refused", "unscored", "ece", "brier", "aurc", "harm", "confidence_missing"),
    *("evidence_misled", "hallucination"),
)


class Limits(NamedTuple):
    """The values between which an endpoint is met; an end that does not matter is None."""

    above: float | None
    below: float | None


def limits_of(endpoint: Endpoint, measure_base: str) -> Limits:
    """Where the true value, or difference, must be for the endpoint to be met."""
    middle = float(endpoint.reference) if not isinstance(endpoint.reference, str) else 0.0
    if endpoint.test == "equivalence":
        return Limits(middle - endpoint.margin, middle + endpoint.margin)
    shift = endpoint.margin if endpoint.test == "superiority" else -endpoint.margin
    lower_is_better = (endpoint.better or ("lower" if measure_base in LOWER_IS_BETTER else "higher")) == "lower"
    return Limits(None, middle - shift) if lower_is_better else Limits(middle + shift, None)


@dataclass(frozen=True)
class PartVerdict:
    """One figure of an endpoint: over the whole, or in one group."""

    slice: str
    figure: EndpointFigure
    limits: Limits

    @property
    def p(self) -> float | None:
        """One-sided p that the endpoint is not met; of two limits the larger one (TOST)."""
        if not self.figure.has_interval:
            return None
        above, below = self.limits
        tails = [self.figure.p_above(above)] if above is not None else []
        tails += [self.figure.p_below(below)] if below is not None else []
        return max(tails)

    @property
    def is_missed(self) -> bool:
        """Whether it is shown that the endpoint is not met."""
        above, below = self.limits
        return self.figure.has_interval and (
            (above is not None and self.figure.p_below(above) <= ALPHA)
            or (below is not None and self.figure.p_above(below) <= ALPHA)
        )

    @property
    def is_met_by_value(self) -> bool:
        """Whether the endpoint would be met if the value seen were the true one."""
        value, (above, below) = self.figure.value, self.limits
        return value is not None and (above is None or value > above) and (below is None or value < below)

    @property
    def verdict(self) -> str:
        if self.is_missed:
            return FAIL
        return PASS if self.p is not None and self.p <= ALPHA else UNDECIDED


@dataclass(frozen=True)
class EndpointVerdict:
    """One endpoint of one candidate: the whole, and every group that must pass too."""

    endpoint: str
    candidate: str
    parts: Sequence[PartVerdict]
    p_adjusted: float | None = None

    @property
    def p(self) -> float | None:
        """All parts must pass, so the largest p is that of the endpoint (intersection-union)."""
        known = [part.p for part in self.parts]
        return None if not known or None in known else max(p for p in known if p is not None)

    @property
    def verdict(self) -> str:
        if any(part.is_missed for part in self.parts):
            return FAIL
        return PASS if self.p_adjusted is not None and self.p_adjusted <= ALPHA else UNDECIDED

    @property
    def clusters_needed(self) -> int | None:
        """The clusters that would decide it, of all groups together; None if it is decided, or no number would do.

        One part that is missed fails the endpoint, while all must be met to pass.
        """
        if self.verdict != UNDECIDED or self.p is None or self.p_adjusted is None:
            return None
        whole = max(part.figure.clusters for part in self.parts)
        missed = [clusters_needed(part, whole) for part in self.parts if not part.is_met_by_value]
        if missed:
            return min((count for count in missed if count is not None), default=None)
        alpha = ALPHA * self.p / self.p_adjusted  # what Holm leaves to it
        met = [clusters_needed(part, whole, alpha) for part in self.parts]
        return None if None in met else max(count for count in met if count is not None)


def adjust(verdicts: Sequence[EndpointVerdict], primary: str | None) -> list[EndpointVerdict]:
    """The endpoints of one candidate with adjusted p: the primary one alone, the others by Holm."""
    others = [verdict for verdict in verdicts if verdict.endpoint != primary and verdict.p is not None]
    adjusted = dict(zip([v.endpoint for v in others], holm(np.array([v.p for v in others])), strict=True))
    return [
        EndpointVerdict(
            *(v.endpoint, v.candidate, v.parts),
            float(adjusted[v.endpoint]) if v.endpoint in adjusted else v.p,
        )
        for v in verdicts
    ]


def clusters_needed(part: PartVerdict, whole: int, alpha: float = ALPHA) -> int | None:
    """The clusters of cases with which a part would be decided with the chance POWER, if it stays the same share.

    It assumes the value seen and the spread at the nearest limit; None if the value is at a limit.
    """
    figure, value = part.figure, part.figure.value
    assert value is not None
    limits = [limit for limit in part.limits if limit is not None]
    nearest = min(limits, key=lambda limit: abs(value - limit))
    distances = [abs(value - limit) for limit in limits] if part.is_met_by_value else [abs(value - nearest)]
    spread = figure.spread(nearest)

    def chance(clusters: float) -> float:
        """That every limit that matters is excluded."""
        return 1 - sum(
            float(scipy.special.ndtr(-scipy.special.ndtri(alpha) - distance * sqrt(clusters) / spread))
            for distance in distances
        )

    low, high = 1.0, float(MAX_CLUSTERS)
    if value == nearest or spread <= 0 or chance(high) < POWER:
        return None
    while high - low > 0.001:
        middle = (low + high) / 2
        low, high = (low, middle) if chance(middle) >= POWER else (middle, high)
    return max(ceil(high * whole / figure.clusters), whole + 1)
