"""The quantiles of intervals are SciPy's, without loading its special functions."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.special import ndtri, stdtrit

from wardround.measuring.engine.wilson import UPPER, Z, student_quantile


def test_the_level_is_the_one_that_the_coefficients_were_made_for():
    assert UPPER == 0.975
    assert float(ndtri(UPPER)) == Z


@pytest.mark.parametrize("freedom", [np.linspace(1, 60, 20_001), np.geomspace(60, 1e9, 20_001)], ids=["few", "many"])
def test_students_quantile_is_scipys(freedom):
    np.testing.assert_allclose(student_quantile(freedom), stdtrit(freedom, UPPER), rtol=1e-14)


def test_students_quantile_has_known_values():
    """The tangent of 0.475 pi for one degree of freedom; for two and four by the closed forms."""
    a = 4 * UPPER * (1 - UPPER)
    two = 2 * (UPPER - 0.5) * np.sqrt(2 / a)
    four = 2 * np.sqrt(np.cos(np.arccos(np.sqrt(a)) / 3) / np.sqrt(a) - 1)
    expected = [np.tan(0.475 * np.pi), two, four, Z]

    np.testing.assert_allclose(student_quantile(np.array([1.0, 2.0, 4.0, np.inf])), expected, rtol=1e-13)


def test_nothing_is_known_without_a_freedom():
    assert np.isnan(student_quantile(np.array([np.nan]))).all()


def test_marking_loads_no_special_functions():
    """They take 0.1 s to load."""
    code = "import sys, wardround.measuring, wardround.reporting.page; sys.exit('scipy.special' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
