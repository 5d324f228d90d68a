"""Each group against the rest: tests, simultaneous intervals, and the gaps that chance alone gives.

If every cluster is wholly in a group or wholly out of it, chance is a permutation of the clusters among the groups.
If clusters are in several groups at once, as with prompts, it is a flip of the signs of their contributions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import ndtri, stdtrit

from wardround.core.random import stream
from wardround.measuring.comparing.signflip import adjusted_p, signs_of
from wardround.measuring.engine.bootstrap import LEVEL
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Integers
from wardround.measuring.engine.wilson import UPPER, ClusterMoments, Z, effective_n, wilson

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


def contrast_groups(sums: GroupSums, seed: int) -> GroupContrasts:
    """Tests and intervals of every group against the rest, adjusted for all groups (step-down max-T)."""
    chance = _permuted(sums, seed) if sums.is_between_clusters else _flipped(sums, seed)
    observed, drawn, gaps = chance.observed, chance.drawn, chance.gaps
    p, p_adjusted = adjusted_p(np.abs(observed), iter([np.abs(drawn)]))
    # the same draws without studentisation say how far the contrasts move together
    scale = np.sqrt((chance.differences**2).mean(axis=0)) + TINY
    critical = float(np.quantile((np.abs(chance.differences) / scale).max(axis=1), LEVEL))
    low, high = _newcombe(sums, critical) if sums.is_between_clusters else _student(sums, critical)
    values = sums.values
    return GroupContrasts(
        values,
        sums.differences,
        low,
        high,
        p,
        p_adjusted,
        np.count_nonzero(sums.whole, axis=1),
        float(_ends(sums.part, sums.whole, ndtri(LEVEL ** (1 / len(values))))[0].min()),
        float(values.max() - values.min()),
        float(gaps.mean()),
        float(np.quantile(gaps, LEVEL)),
    )


@dataclass(frozen=True)
class ChanceDraws:
    """What groups that do not differ give: statistics and differences (draws x groups), and gaps."""

    observed: Floats
    drawn: Floats
    differences: Floats
    gaps: Floats


def _permuted(sums: GroupSums, seed: int) -> ChanceDraws:
    """Studentised differences, so that groups of unequal variance and size do not disturb the level."""
    part, whole = sums.all_part, sums.all_whole
    columns = np.stack([part, whole, part * part, part * whole, whole * whole, np.ones_like(part)], axis=1)
    member = (sums.whole > 0).astype(np.float64)
    observed, _, _ = _studentised(member @ columns, columns.sum(axis=0))
    statistics, differences, values = [], [], []
    for order in _orders(len(part), len(member), seed):
        inside = np.stack([own[order] @ columns for own in member], axis=1)  # draws x groups x columns
        statistic, difference, value = _studentised(inside, columns.sum(axis=0))
        statistics.append(statistic)
        differences.append(difference)
        values.append(value)
    drawn = np.concatenate(values)
    gaps = drawn.max(axis=1) - drawn.min(axis=1)
    return ChanceDraws(observed, np.concatenate(statistics), np.concatenate(differences), gaps)


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


def _orders(clusters: int, groups: int, seed: int) -> Iterator[Integers]:
    """Permutations of the clusters, some at a time."""
    orders, height = _all_orders(clusters, seed), max(1, BLOCK // clusters)
    yield from (orders[first : first + height] for first in range(0, PERMUTATIONS, height))


@lru_cache(maxsize=2)
def _all_orders(clusters: int, seed: int) -> Integers:
    random = stream(seed, "permutations of clusters")
    return np.array([random.permutation(clusters) for _ in range(PERMUTATIONS)], np.int32)


def _flipped(sums: GroupSums, seed: int) -> ChanceDraws:
    """Flips of what each cluster adds to the differences if all groups have the same value."""
    whole, rest_whole = sums.whole.sum(axis=1, keepdims=True), sums.rest[1].sum(axis=1, keepdims=True)
    mean = sums.all_part.sum() / sums.all_whole.sum()
    own, rest = (sums.part - mean * sums.whole) / whole, (sums.rest[0] - mean * sums.rest[1]) / rest_whole
    added = own - rest
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
    """For clusters that are on both sides: their contributions, with the quantile of few clusters."""
    part, whole = sums.rest
    rest = part.sum(axis=1, keepdims=True) / whole.sum(axis=1, keepdims=True)
    own = (sums.part - sums.values[:, None] * sums.whole) / sums.whole.sum(axis=1, keepdims=True)
    added = own - (part - rest * whole) / whole.sum(axis=1, keepdims=True)
    clusters = np.count_nonzero(sums.all_whole)
    error = np.sqrt(clusters / (clusters - 1) * (added**2).sum(axis=1))
    reach = critical * float(stdtrit(clusters - 1, UPPER)) / Z * error
    return sums.differences - reach, sums.differences + reach
