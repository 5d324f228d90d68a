"""Groups against the rest: exact permutation, planted differences, and clusters that are in several groups."""

from itertools import permutations

import numpy as np
import pytest

from wardround.measuring.comparing.group_contrasts import GroupSums, contrast_groups
from wardround.measuring.comparing.signflip import alike_interval, flip_interval, sign_flip


def between(values: list[list[float]], size: float = 1.0) -> GroupSums:
    """Groups of clusters that are in one group each."""
    label = np.repeat(np.arange(len(values)), [len(own) for own in values])
    part = np.concatenate([np.array(own, float) for own in values]) * size
    member = (label == np.arange(len(values))[:, None]).astype(float)
    whole = np.full(len(part), size)
    return GroupSums(member * part, member * whole, part, whole)


def studentised(own: np.ndarray, rest: np.ndarray) -> float:
    variance = own.var(ddof=1) / len(own) + rest.var(ddof=1) / len(rest)
    return abs(own.mean() - rest.mean()) / np.sqrt(variance + 1e-12)


def test_p_is_that_of_permuting_the_clusters_among_the_groups():
    """Ten clusters, five in each group: all 252 divisions against 2,000 drawn ones."""
    first, second = [0.0, 0.2, 0.0, 0.4, 0.2], [0.6, 0.8, 0.4, 1.0, 0.6]
    (result,) = contrast_groups([between([first, second])], 3)
    values = np.array(first + second)
    observed = studentised(values[:5], values[5:])
    divisions = {tuple(sorted(order[:5])) for order in permutations(range(10), 5)}
    reached = [
        studentised(values[list(own)], np.delete(values, list(own))) >= observed * (1 - 1e-9) for own in divisions
    ]
    assert result.p[0] == result.p[1] == pytest.approx(np.mean(reached), abs=0.012)
    assert result.difference.tolist() == pytest.approx([-0.52, 0.52])


def test_groups_without_a_difference_give_no_alarm_and_cover_zero():
    """300 candidates, four groups of 10 to 40 clusters: adjusted tests reject in 5%, intervals hold all four zeros."""
    random = np.random.default_rng(8)
    candidates = [
        between([(random.random(n) < 0.7).astype(float).tolist() for n in (10, 20, 40, 40)]) for _ in range(300)
    ]
    results = contrast_groups(candidates, 1)
    assert np.mean([(result.p_adjusted <= 0.05).any() for result in results]) < 0.09
    assert np.mean([((result.low <= 0) & (result.high >= 0)).all() for result in results]) > 0.92
    assert np.mean([result.at_least <= 0.7 for result in results]) > 0.92
    assert np.mean([result.gap > result.gap_within_chance for result in results]) < 0.09
    assert all(
        (result.low <= result.difference).all() and (result.difference <= result.high).all() for result in results
    )
    assert all((result.p_adjusted >= result.p).all() for result in results)


def test_few_clusters_of_one_answer_give_no_interval_narrower_than_the_test():
    """Four groups of ten: 3 right in the first, 23 of 30 in the rest.

    Whole answers give few differences: the 95% point of the largest lies among values that more than 5% reach.
    """
    first, rest = [1.0] * 3 + [0.0] * 7, [1.0] * 8 + [0.0] * 2
    (result,) = contrast_groups([between([first, rest, rest[:7] + [0.0] * 3, rest])], 1)
    assert result.difference[0] == pytest.approx(0.3 - 23 / 30)
    assert result.p_adjusted[0] > 0.05
    assert result.low[0] < 0 <= result.high[0]
    random = np.random.default_rng(4)
    candidates = [between([(random.random(10) < 0.7).astype(float).tolist() for _ in range(4)]) for _ in range(300)]
    results = contrast_groups(candidates, 1)
    assert np.mean([((result.low <= 0) & (result.high >= 0)).all() for result in results]) > 0.94
    excluded = np.array([(result.low > 0) | (result.high < 0) for result in results])
    assert not (excluded & (np.array([result.p_adjusted for result in results]) > 0.05)).any()


def test_a_group_that_is_worse_is_found_and_the_others_are_not():
    random = np.random.default_rng(5)
    groups = [(random.random(120) < chance).astype(float).tolist() for chance in (0.8, 0.8, 0.4)]
    (result,) = contrast_groups([between(groups)], 1)
    assert result.p_adjusted[2] < 0.01
    assert result.high[2] < -0.2
    assert result.at_least < result.value[2] < 0.5


def test_clusters_in_all_groups_are_compared_with_themselves():
    """Three prompts on the same 40 cases of very different difficulty; the first is worse in eight cases."""
    easy = np.repeat([0.0, 1.0], 20)
    part = np.stack([easy, easy, easy])
    part[0, 20:28] = 0.0
    crossed = GroupSums(part, np.ones((3, 40)), part.sum(axis=0), np.full(40, 3.0))
    (result,) = contrast_groups([crossed], 1)
    assert result.difference[0] == pytest.approx(-0.2)
    assert result.p_adjusted[0] < 0.02
    assert result.high[0] < 0
    assert result.gap_within_chance < 0.2 == pytest.approx(result.gap)
    # groups of other cases would not show it
    (apart,) = contrast_groups([between(part.tolist())], 1)
    assert apart.p_adjusted[0] > 0.05


def exact_p(differences: np.ndarray, sizes: np.ndarray, truth: float) -> float:
    """Over all sign vectors, by enumeration."""
    residual = differences - truth * sizes
    signs = 1 - 2 * ((np.arange(2 ** len(residual))[:, None] >> np.arange(len(residual))) & 1)
    return float((np.abs(signs @ residual) >= abs(residual.sum()) - 1e-12).mean())


@pytest.mark.parametrize("seed", range(4))
def test_the_interval_holds_the_differences_that_the_test_does_not_reject(seed):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 5, 10).astype(float)
    differences = np.round(random.normal(0.2, 0.5, 10) * sizes * 2**10) / 2**10
    p = float(sign_flip(differences[:, None], 0).p[0])
    low, high = flip_interval(differences, sizes, p, 0)
    assert (low > 0 or high < 0) == (p <= 0.05)
    for end, outward in ((low, -1), (high, 1)):
        assert exact_p(differences, sizes, end - outward * 1e-6) > 0.05
        assert exact_p(differences, sizes, end + outward * 1e-6) <= 0.05


def test_interval_and_p_never_disagree():
    random = np.random.default_rng(11)
    disagreements = 0
    for clusters in (8, 13, 14, 22, 29):
        for _ in range(120):
            differences = random.choice([-1.0, 0.0, 0.0, 1.0, 1.0], clusters)
            if np.ptp(differences) > 0:
                p = float(sign_flip(differences[:, None], 0).p[0])
                low, high = flip_interval(differences, np.ones(clusters), p, 0)
                disagreements += (low > 0 or high < 0) != (p <= 0.05)
                assert low <= differences.mean() <= high
    assert disagreements == 0


def test_a_difference_that_is_the_same_everywhere_is_not_certain():
    """None of 12 clusters differs: Wilson's bound of 0 of 12 is 1.96^2 / (12 + 1.96^2) = .2425."""
    assert alike_interval(0.0, 12) == pytest.approx((-0.2425, 0.2425), abs=1e-4)
    low, high = alike_interval(1.0, 12)
    assert (low, high) == (pytest.approx(1 - 2 * 0.2425, abs=1e-4), 1.0)
