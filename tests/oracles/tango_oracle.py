"""Score tests of a share and of a paired difference from their closed forms. Imports nothing of wardround."""

from __future__ import annotations

from math import sqrt

from scipy import stats


def tango_p_above(gained: int, lost: int, pairs: int, boundary: float) -> float:
    """One-sided p of a paired difference that is not above the boundary (Tango 1998).

    `gained` pairs are right on our side only, `lost` on theirs only. Under the null hypothesis p(gained) - p(lost) is
    the boundary; q, the restricted maximum likelihood estimate of p(lost), is the larger root of
    2 n q^2 + b q - c = 0.
    """
    b = -gained - lost + (2 * pairs - gained + lost) * boundary
    c = lost * boundary * (1 - boundary)
    q = (sqrt(b * b + 8 * pairs * c) - b) / (4 * pairs)
    variance = 2 * q + boundary - boundary**2
    return float(stats.norm.sf((gained - lost - pairs * boundary) / sqrt(pairs * variance)))


def share_p_above(right: int, n: int, boundary: float) -> float:
    """One-sided p of a share that is not above the boundary: the score test that Wilson's interval inverts."""
    return float(stats.norm.sf((right / n - boundary) / sqrt(boundary * (1 - boundary) / n)))
