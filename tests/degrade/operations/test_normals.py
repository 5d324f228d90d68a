"""Normal numbers from a table of quantiles are normal numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import Generator, Philox
from scipy import stats

from wardround.degrade.operations.normals import standard_normals


def test_numbers_have_the_moments_and_the_tails_of_a_normal_distribution() -> None:
    """SciPy's normal distribution gives the shares; of two million numbers their standard errors are below 0.0004."""
    numbers = standard_normals((1000, 2000), Generator(Philox(key=7))).astype(np.float64).ravel()

    assert numbers.mean() == pytest.approx(0, abs=0.003)
    assert numbers.std() == pytest.approx(1, abs=0.003)
    assert stats.kurtosis(numbers) == pytest.approx(0, abs=0.02)
    for limit in (-3, -2, -1, 0, 1, 2, 3):
        assert np.mean(numbers < limit) == pytest.approx(stats.norm.cdf(limit), abs=0.0015)


def test_neighbours_are_independent() -> None:
    numbers = standard_normals((1000, 1001), Generator(Philox(key=8)))

    for step in (1, 2, 3, 4):  # four numbers come from one draw of 64 bits
        flat = numbers.ravel()
        assert np.corrcoef(flat[:-step], flat[step:])[0, 1] == pytest.approx(0, abs=0.005)


def test_numbers_do_not_depend_on_how_many_follow() -> None:
    few = standard_normals((7,), Generator(Philox(key=9)))
    many = standard_normals((3, 5), Generator(Philox(key=9)))

    np.testing.assert_array_equal(few, many.ravel()[:7])
