"""Each group against the rest: tests, simultaneous intervals, and the gaps that chance alone gives.

If every cluster is wholly in a group or wholly out of it, chance is a permutation of the clusters among the groups.
If clusters are in several groups at once, as with prompts, it is a flip of the signs of their contributions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy

from wardround.core.random import stream
from wardround.measuring.comparing.signflip import adjusted_p, signs_of
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.resampling.percentiles import LEVEL
from wardround.measuring.engine.sums import Integers
from wardround.measuring.engine.wilson import ClusterMoments, Z, effective_n, wilson

PERMUTATIONS = 2_000
BLOCK = 4_000_000  # memberships in memory at once: 32 MB
TINY = 1e-12


@dataclass(frozen=True)
class GroupSums:
    """Numerators and denominators of a mean by group and cluster, and over all groups by cluster."""

    part: Floats  # groups x clusters
    whole: Floats
    all_part: Floats  # clusters; a question in two groups counts once
    all_whole: Floats

    @property
    def is_between_clusters(self) -> bool:
        """Whether every cluster is wholly in each group or wholly out of it."""
        return bool(((self.whole == 0) | (self.whole == self.all_whole)).all())

    @cached_property
    def rest(self) -> tuple[Floats, Floats]:
        """Numerators and denominators of what is not in each group."""
        return self.all_part - self.part, self.all_whole - self.whole

    @cached_property
    def contributions(self) -> tuple[Floats, Floats]:
        """What each cluster adds to the difference of each group, and to its value, beyond the mean of all groups."""
        mean, (part, whole) = self.all_part.sum() / self.all_whole.sum(), self.rest
        own = (self.part - mean * self.whole) / self.whole.sum(axis=1, keepdims=True)
        return own - (part - mean * whole) / whole.sum(axis=1, keepdims=True), own

    @property
    def values(self) -> Floats:
        values: Floats = self.part.sum(axis=1) / self.whole.sum(axis=1)
        return values

    @property
    def differences(self) -> Floats:
        """Of each group from the rest."""
        part, whole = self.rest
        differences: Floats = self.values - part.sum(axis=1) / whole.sum(axis=1)
        return differences


@dataclass(frozen=True)
class GroupContrasts:
    """The groups of one key and candidate; arrays have one entry per group."""

    value: Floats
    difference: Floats  # from the rest
    low: Floats  # simultaneous over the groups
    high: Floats
    p: Floats
    p_adjusted: Floats
    clusters: Integers
    at_least: float  # no group is below it (one-sided, over all groups)
    gap: float  # between the best and the worst
    gap_by_chance: float  # mean
    gap_within_chance: float  # 95% of the gaps that chance gives are not larger


def contrast_groups(candidates: Sequence[GroupSums], seed: int) -> list[GroupContrasts]:
    """For every candidate: each group against the rest, adjusted for all groups (step-down max-T)."""
    by_members: dict[bytes, list[int]] = {}
    for number, sums in enumerate(candidates):
        by_members.setdefault((sums.whole > 0).tobytes() if sums.is_between_clusters else b"", []).append(number)
    contrasts: dict[int, GroupContrasts] = {}
    for members, numbers in by_members.items():
        own = [candidates[number] for number in numbers]
        draws = _permuted(own, seed) if members else (_flipped(sums, seed) for sums in own)
        contrasts |= {n: _contrasts(sums, chance) for n, sums, chance in zip(numbers, own, draws, strict=True)}
    return [contrasts[number] for number in range(len(candidates))]


def _contrasts(sums: GroupSums, chance: "ChanceDraws") -> GroupContrasts:
    p, p_adjusted = adjusted_p(np.abs(chance.observed), iter([np.abs(chance.drawn)]))
    # the same draws without studentisation say how far the contrasts move together
    scale = np.sqrt((chance.differences**2).mean(axis=0)) + TINY
    critical = max(Z, _critical((np.abs(chance.differences) / scale).max(axis=1)))
    low, high = _newcombe(sums, critical) if sums.is_between_clusters else _student(sums, critical)
    is_open = p_adjusted > 1 - LEVEL  # then 0 is not excluded: the interval is not narrower than the test
    low, high = np.where(is_open, np.minimum(low, 0.0), low), np.where(is_open, np.maximum(high, 0.0), high)
    values, clusters = sums.values, np.count_nonzero(sums.whole, axis=1)
    lowest, _ = _ends(sums.part, sums.whole, float(scipy.special.ndtri(LEVEL ** (1 / len(values)))))
    return GroupContrasts(
        *(values, sums.differences, low, high, p, p_adjusted, clusters, float(lowest.min())),
        float(values.max() - values.min()),
        float(chance.gaps.mean()),
        float(np.quantile(chance.gaps, LEVEL)),
    )


def _critical(largest: Floats) -> float:
    """Between what at most 5% of draws reach and the value below, which more do.

    Few clusters give few distinct values: an interpolated quantile may be reached by far more than 5%.
    """
    values, counts = np.unique(np.round(largest, 9), return_counts=True)
    reached = np.cumsum(counts[::-1])[::-1] / len(largest)
    first = int(np.count_nonzero(reached > 1 - LEVEL))
    return float(values[max(first - 1, 0) : first + 1].mean())


@dataclass(frozen=True)
class ChanceDraws:
    """What groups that do not differ give: statistics and differences (draws x groups), and gaps."""

    observed: Floats
    drawn: Floats
    differences: Floats
    gaps: Floats


def _permuted(candidates: Sequence[GroupSums], seed: int) -> Iterator[ChanceDraws]:
    """Studentised differences, so that groups of unequal variance and size do not disturb the level.

    All candidates have the same clusters in the same groups.
    """
    member = (candidates[0].whole > 0).astype(np.float64)
    columns = np.stack([_columns(sums) for sums in candidates])  # candidates x clusters x columns
    flat = np.moveaxis(columns, 1, 0).reshape(member.shape[1], -1)
    drawn = np.empty((len(candidates), PERMUTATIONS, len(member), columns.shape[2]))
    for first, orders in _orders(member.shape[1], seed):
        for group, own in enumerate(member):
            inside = (own[orders] @ flat).reshape(len(orders), len(candidates), -1)
            drawn[:, first : first + len(orders), group] = np.moveaxis(inside, 1, 0)
    for own, inside in zip(columns, drawn, strict=True):
        everything = own.sum(axis=0)
        observed, _, _ = _studentised(member @ own, everything)
        statistics, differences, values = _studentised(inside, everything)
        yield ChanceDraws(observed, statistics, differences, values.max(axis=1) - values.min(axis=1))


def _columns(sums: GroupSums) -> Floats:
    """Numerator and denominator of each cluster, their products, and 1: multiples of 2**-30, so that sums are exact."""
    part, whole = sums.all_part, sums.all_whole
    products = (exact(part * part), exact(part * whole), exact(whole * whole))
    return np.stack([part, whole, *products, (whole > 0).astype(float)], axis=1)


def _studentised(inside: Floats, everything: Floats) -> tuple[Floats, Floats, Floats]:
    """The difference of a group from the rest over its standard error, the difference, and the group's value."""
    (value, variance), (rest, rest_variance) = (_ratio_moments(moments) for moments in (inside, everything - inside))
    difference = value - rest
    return difference / np.sqrt(variance + rest_variance + TINY), difference, value


def _ratio_moments(moments: Floats) -> tuple[Floats, Floats]:
    part, whole, part_part, part_whole, whole_whole, clusters = np.moveaxis(moments, -1, 0)
    value = part / np.maximum(whole, TINY)
    squares = np.maximum(part_part - 2 * value * part_whole + value**2 * whole_whole, 0.0)
    return value, clusters / np.maximum(clusters - 1, 1) * squares / np.maximum(whole, TINY) ** 2


def _orders(clusters: int, seed: int) -> Iterator[tuple[int, Integers]]:
    """Permutations of the clusters, some at a time, each time with the number of the first."""
    orders, height = _all_orders(clusters, seed), max(1, BLOCK // clusters)
    yield from ((first, orders[first : first + height]) for first in range(0, PERMUTATIONS, height))


@lru_cache(maxsize=2)
def _all_orders(clusters: int, seed: int) -> Integers:
    random = stream(seed, "permutations of clusters")
    return np.array([random.permutation(clusters) for _ in range(PERMUTATIONS)], np.int32)


def _flipped(sums: GroupSums, seed: int) -> ChanceDraws:
    """Flips of what each cluster adds to the differences if all groups have the same value."""
    added, own = sums.contributions
    scale = np.sqrt((added**2).sum(axis=1)) + TINY
    signs = np.concatenate(list(signs_of(added.shape[1], seed)))
    differences, values = signs @ added.T, signs @ own.T
    gaps = values.max(axis=1) - values.min(axis=1)
    return ChanceDraws(added.sum(axis=1) / scale, differences / scale, differences, gaps)


def _newcombe(sums: GroupSums, critical: float) -> tuple[Floats, Floats]:
    """Newcombe's interval of a difference of two independent shares, from the Wilson interval of each."""
    part, whole = sums.rest
    value, rest = sums.values, part.sum(axis=1) / whole.sum(axis=1)
    (low, high), (rest_low, rest_high) = _ends(sums.part, sums.whole, critical), _ends(part, whole, critical)
    return (
        value - rest - np.hypot(value - low, rest_high - rest),
        value - rest + np.hypot(high - value, rest - rest_low),
    )


def _ends(part: Floats, whole: Floats, critical: float) -> tuple[Floats, Floats]:
    moments = ClusterMoments.of(part, whole, lambda values: values.sum(axis=-1))
    return wilson(moments.part / moments.whole, effective_n(moments, moments.whole), critical)


def _student(sums: GroupSums, critical: float) -> tuple[Floats, Floats]:
    """For clusters that are on both sides: from their contributions, with Student's quantile of the same tail."""
    clusters = int(np.count_nonzero(sums.all_whole))
    error = np.sqrt(clusters / (clusters - 1) * (sums.contributions[0] ** 2).sum(axis=1))
    reach = float(scipy.special.stdtrit(clusters - 1, scipy.special.ndtr(critical))) * error
    return sums.differences - reach, sums.differences + reach
