"""One-sided tests of means over clusters, against closed forms and brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tango_oracle import share_p_above, tango_p_above

from wardround.measuring.acceptance import score_test
from wardround.measuring.acceptance.score_test import ClusterMeans, null_variance


def means(
    values: list[float], bounds: tuple[float, float] = (-1.0, 1.0), sizes: list[float] | None = None
) -> ClusterMeans:
    return ClusterMeans(np.array(values), np.array(sizes or [1.0] * len(values)), bounds, 0)


@pytest.mark.parametrize(
    ("gained", "lost", "pairs", "boundary"),
    [(0, 0, 40, -0.05), (8, 5, 60, -0.1), (5, 8, 60, -0.1), (10, 2, 50, 0.05), (0, 4, 30, -0.1), (4, 0, 30, 0.1)],
)
def test_the_score_test_of_single_answers_is_tangos(gained: int, lost: int, pairs: int, boundary: float) -> None:
    paired = means([1.0] * gained + [-1.0] * lost + [0.0] * (pairs - gained - lost))

    assert paired._score_p(boundary) == pytest.approx(tango_p_above(gained, lost, pairs, boundary), abs=1e-12)


@pytest.mark.parametrize(("right", "n", "boundary"), [(18, 20, 0.7), (20, 20, 0.9), (5, 40, 0.2), (0, 12, 0.1)])
def test_the_score_test_of_a_share_is_wilsons(right: int, n: int, boundary: float) -> None:
    share = means([1.0] * right + [0.0] * (n - right), (0.0, 1.0))

    assert share._score_p(boundary) == pytest.approx(share_p_above(right, n, boundary), abs=1e-12)


def test_subset_means_are_the_sign_flips_of_the_distances() -> None:
    """By brute force over all signs, at boundaries on both sides of the mean."""
    values, sizes = np.array([0.5, -0.25, 1.0, 0.0, 0.75, 0.5]), np.array([1.0, 2.0, 1.0, 3.0, 1.0, 2.0])
    clusters = ClusterMeans(values, sizes, (-1.0, 1.0), 0)
    for boundary in (-0.3, -0.1, 0.0, 0.15, clusters.mean, 0.6):
        distances = (values - boundary) * sizes
        reached = [np.dot(signs, distances) >= distances.sum() - 1e-9 for signs in product((1, -1), repeat=6)]

        assert clusters._flip_p(boundary) == pytest.approx(np.mean(reached))


def test_drawn_subsets_agree_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    values, sizes = np.random.default_rng(3).normal(0.1, 0.4, 20), np.ones(20)
    drawn = ClusterMeans(values, sizes, (-2.0, 2.0), 0)
    drawn_p = [drawn._flip_p(boundary) for boundary in (-0.1, 0.0, 0.2)]
    monkeypatch.setattr(score_test, "EXACT_UNDER", 21)
    every = ClusterMeans(values, sizes, (-2.0, 2.0), 0)

    assert len(every._subset_means) == 2**20 - 1
    assert drawn_p == pytest.approx([every._flip_p(boundary) for boundary in (-0.1, 0.0, 0.2)], abs=0.02)


def test_the_interval_and_the_tests_say_the_same() -> None:
    random = np.random.default_rng(5)
    for clusters in (9, 25, 60):
        part = means(
            list(random.choice([-1.0, -0.5, 0.0, 0.5, 1.0], clusters)), sizes=list(random.integers(1, 5, clusters))
        )
        low, high = part.interval(0.025)

        assert low < part.mean < high
        assert part.p_above(low - 1e-6) <= 0.025 < part.p_above(low + 1e-6)
        assert part.p_below(high + 1e-6) <= 0.025 < part.p_below(high - 1e-6)


def test_no_difference_seen_in_few_cases_does_not_show_non_inferiority() -> None:
    """Of 40 cases without any difference: a true loss of 5 points stays unseen in .95^40 = 13% of samples."""
    same = means([0.0] * 40)

    assert same._flip_p(-0.05) < 0.001  # sign flips alone would pass it
    assert same.p_above(-0.05) > 0.05
    assert means([0.0] * 80).p_above(-0.05) < 0.025  # .95^80 = 1.7%


def test_the_null_variance_is_that_of_the_boundary_if_a_bound_takes_the_rest() -> None:
    """All values .05 above the boundary -.05: the bound -1 gets 5%; .95 * .05^2 + .05 * .95^2 = .0475."""
    assert null_variance(np.full(10, 0.05), -0.95, 1.05) == pytest.approx(0.0475)


@pytest.mark.slow
def test_the_level_holds_at_the_boundary() -> None:
    """A true loss of exactly the margin passes in at most 2.5%, up to the simulation's error."""
    random, passed, samples = np.random.default_rng(11), [], 400
    for loss, gain, clusters in ((0.05, 0.0, 60), (0.1, 0.05, 30), (0.25, 0.2, 100)):
        drawn = random.choice([-1.0, 0.0, 1.0], (samples, clusters), p=[loss, 1 - loss - gain, gain])
        passed.append(np.mean([means(list(values)).p_above(-0.05) <= 0.025 for values in drawn]))

    assert max(passed) <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / samples)
