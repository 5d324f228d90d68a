"""Sign-flip tests and max-T against enumeration, on planted and on null families."""

from fractions import Fraction

import numpy as np
import pytest
from flip_oracle import exact_p, step_down
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, kstest

from wardround.measuring.comparing.signflip import FLIPS, sign_flip


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_p_is_over_every_sign_vector(differences):
    tested = sign_flip(np.array(differences, float)[:, None], 0)
    assert tested.p[0] == float(exact_p(differences))
    assert tested.p_adjusted[0] == tested.p[0]
    assert tested.exact == [True]


def test_clusters_that_all_agree_have_the_smallest_p():
    assert sign_flip(np.ones((6, 1)), 0).p[0] == float(Fraction(2, 2**6))


def test_zero_clusters_say_nothing():
    some = np.array([[1.0], [2.0], [-1.0], [3.0]])
    padded = np.concatenate([some, np.zeros((500, 1))])
    assert sign_flip(padded, 0).p[0] == sign_flip(some, 0).p[0]
    assert sign_flip(np.zeros((30, 2)), 0).p.tolist() == [1.0, 1.0]


def test_drawn_flips_come_near_the_exact_share():
    """Fifty clusters of +-1: the statistic is binomial, so the exact p is known."""
    result = 12  # 31 plus, 19 minus
    differences = np.array([1.0] * 31 + [-1.0] * 19)[:, None]
    exact = 2 * binom.sf(30, 50, 0.5)
    tested = sign_flip(differences, 7)
    assert abs(differences.sum()) == result
    assert tested.exact == [False]
    assert tested.p[0] == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / FLIPS))
    assert sign_flip(differences, 7).p[0] == tested.p[0]
    assert sign_flip(differences, 8).p[0] != tested.p[0]


def test_the_observed_signs_are_one_of_the_flips():
    assert sign_flip(np.ones((100, 1)), 0).p[0] == 1 / (FLIPS + 1)


@settings(max_examples=25, deadline=None)
@example(350, 5)  # two comparisons with the same statistic, but for rounding
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_max_t_is_westfall_and_young(seed, comparisons):
    random = np.random.default_rng(seed)
    differences = random.integers(-3, 4, (8, comparisons)) + random.integers(0, 2, comparisons)
    differences = differences.astype(float)
    differences[0] += differences.sum(axis=0) == 0  # the oracle has no word for nothing
    differences[0] += (differences == 0).all(axis=0)
    assert sign_flip(differences, 0).p_adjusted == pytest.approx(step_down(differences))


def test_planted_differences_are_found_among_many_null_ones():
    random = np.random.default_rng(2)
    differences = np.round(random.normal(0, 1, (200, 60)) * 2**20) / 2**20
    differences[:, :3] += 0.5
    tested = sign_flip(differences, 0)
    assert (tested.p_adjusted[:3] < 0.001).all()
    assert (tested.p_adjusted[3:] > 0.05).all()
    assert (tested.p_adjusted >= tested.p).all()


def test_few_clusters_of_their_own_are_exact_within_a_large_family():
    random = np.random.default_rng(3)
    differences = random.integers(-2, 3, (60, 2)).astype(float)
    differences[8:, 1] = 0
    tested = sign_flip(differences, 0)
    assert tested.exact == [False, True]
    assert tested.p[1] == float(exact_p([int(d) for d in differences[:8, 1]]))


def test_p_is_uniform_where_nothing_differs():
    random = np.random.default_rng(5)
    values = [sign_flip(random.normal(0, 1, (15, 1)), 0).p[0] for _ in range(400)]
    assert kstest(values, "uniform").pvalue > 0.01


def test_the_family_is_wrong_no_more_often_than_it_says():
    """Ten null comparisons that share their clusters, 300 times: at least one under .05 in about 5%."""
    random = np.random.default_rng(6)
    wrong = 0
    for _ in range(300):
        shared = random.normal(0, 1, (12, 1))
        wrong += bool((sign_flip(shared + random.normal(0, 1, (12, 10)), 0).p_adjusted <= 0.05).any())
    assert wrong <= binom.ppf(0.999, 300, 0.05)
    assert wrong >= binom.ppf(0.001, 300, 0.05)
