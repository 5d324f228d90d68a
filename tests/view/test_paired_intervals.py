"""The interval of a selected difference: the method of comparisons.csv, and the normal one for many clusters."""

from __future__ import annotations

import numpy as np
import pytest

from wardround.core.errors import WardroundError
from wardround.view.paired_interval import MAX_RESAMPLED, normal_interval, paired_interval


def clusters(count: int, seed: int = 3) -> np.ndarray:
    """One to three questions a cluster, right more often by a (0.7) than by b (0.5)."""
    random = np.random.default_rng(seed)
    asked = random.integers(1, 4, count)
    right = [random.binomial(asked, share) for share in (0.7, 0.5)]
    return np.column_stack([right[0], asked, right[1], asked]).astype(float)


def bootstrap(sums: np.ndarray) -> tuple[float, float]:
    """The percentile bootstrap over clusters, written here."""
    random = np.random.default_rng(0)
    drawn = [sums[random.integers(0, len(sums), len(sums))].sum(axis=0) for _ in range(4_000)]
    values = [row[0] / row[1] - row[2] / row[3] for row in drawn]
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


@pytest.mark.parametrize("count", [60, MAX_RESAMPLED + 200])
def test_the_interval_is_near_a_bootstrap_over_clusters(count: int) -> None:
    sums = clusters(count)
    figures = paired_interval(sums.tobytes())
    total = sums.sum(axis=0)
    assert figures["value"] == pytest.approx(total[0] / total[1] - total[2] / total[3], abs=1e-9)
    low, high = bootstrap(sums)
    assert (figures["low"], figures["high"]) == (pytest.approx(low, abs=0.02), pytest.approx(high, abs=0.02))
    assert figures["clusters"] == count
    assert ("normal" in figures["method"]) == (count > MAX_RESAMPLED)


def test_the_normal_interval_of_one_answer_a_cluster_is_that_of_paired_proportions() -> None:
    """100 pairs, 30 right by a alone, 10 by b alone: d = 0.2, its variance ((30 + 10) / 100 - d²) / 99."""
    sums = np.array([[1, 1, 0, 1]] * 30 + [[0, 1, 1, 1]] * 10 + [[1, 1, 1, 1]] * 60, dtype=float)
    figures = normal_interval(sums)
    reach = 1.959963984540054 * ((0.4 - 0.04) / 99) ** 0.5
    assert (figures["value"], figures["low"], figures["high"]) == pytest.approx((0.2, 0.2 - reach, 0.2 + reach))


@pytest.mark.parametrize(
    "packed", [b"12345", np.array([1.0, np.nan, 0, 1]).tobytes(), np.array([-1.0, 1, 0, 1]).tobytes()]
)
def test_sums_that_are_not_counts_are_refused(packed: bytes) -> None:
    with pytest.raises(WardroundError):
        paired_interval(packed)


def test_nothing_to_compare_has_no_value() -> None:
    assert paired_interval(b"")["value"] is None
