"""Exponentials and logarithms of sinograms, compared with numpy's."""

import numpy as np

from wardround.degrade.operations.logarithms import exp_of, log_ratio


def test_exponentials_are_those_of_numpy() -> None:
    values = np.linspace(0, 8, 10_001).astype(np.float32)
    for factor in (-1.0, 0.3, 1.0):
        expected = np.exp(values.astype(np.float64) * factor)
        np.testing.assert_allclose(exp_of(values, factor), expected, rtol=1e-13)


def test_logarithms_of_ratios_are_those_of_numpy() -> None:
    """Far from one, and at the borders of the series; log1p knows those of ratios that are almost one."""
    ratios = np.concatenate([np.geomspace(1e-6, 1e6, 5_001), [1.0, 1.4999, 1.5, 1.5001, 2 / 3]])
    below = np.full_like(ratios, 3.7)
    np.testing.assert_allclose(log_ratio(3.7 * ratios, below), np.log(ratios), rtol=1e-13, atol=1e-15)
    near = np.geomspace(1e-12, 1e-3, 100)
    below = np.full_like(near, 4096.0)
    above = below + 4096.0 * near
    np.testing.assert_allclose(log_ratio(above, below), np.log1p((above - below) / below), rtol=1e-13)
