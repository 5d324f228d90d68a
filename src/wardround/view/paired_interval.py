"""The interval of a paired difference that a reader selected, from the sums of each cluster.

The methods are those of comparisons.csv. Over many clusters resampling would take seconds at every click: then the
interval is the normal one with a cluster-robust standard error (our choice; the browser computes the same).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wardround.core.errors import WardroundError
from wardround.measuring.comparing.pairing import PairedSums, tested_differences
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.wilson import Z
from wardround.measuring.measures.formulas import ratio

SUMS = 4  # right and asked of a, right and asked of b
MAX_RESAMPLED = 1_000  # clusters
SEED = 0
SHARE_RIGHT = Measure(name="accuracy", formula=ratio, sums=("right", "asked"), kind=MeasureKind.RATE, n="asked")


def paired_interval(packed: bytes) -> dict[str, Any]:
    """Value, interval and method, from rows of four little-endian doubles, one for each cluster."""
    if len(packed) % (8 * SUMS):
        raise WardroundError("expected four numbers for each cluster")
    sums = np.frombuffer(packed, "<f8").reshape(-1, SUMS)
    if not np.isfinite(sums).all() or (sums < 0).any():
        raise WardroundError("sums of a cluster are numbers of at least 0")
    sums = sums[(sums[:, 1] > 0) & (sums[:, 3] > 0)]
    if not len(sums):
        return {"value": None, "low": None, "high": None, "clusters": 0, "method": "nothing to compare"}
    if len(sums) > MAX_RESAMPLED:
        return normal_interval(sums)
    paired = PairedSums(np.arange(len(sums)), exact(sums), int(min(sums[:, 1].sum(), sums[:, 3].sum())))
    (row,) = tested_differences([paired], SHARE_RIGHT, len(sums), SEED)
    return {name: row[name] for name in ("value", "low", "high", "clusters", "method")}


def normal_interval(sums: Floats) -> dict[str, Any]:
    """The difference of two ratios with its linearized standard error over clusters."""
    (right_a, asked_a, right_b, asked_b), clusters = sums.sum(axis=0), len(sums)
    a, b = right_a / asked_a, right_b / asked_b
    residuals = (sums[:, 0] - a * sums[:, 1]) / asked_a - (sums[:, 2] - b * sums[:, 3]) / asked_b
    reach = Z * float(np.sqrt((residuals**2).sum() * clusters / (clusters - 1)))
    value = float(a - b)
    return {
        "value": value,
        "low": max(-1.0, value - reach),
        "high": min(1.0, value + reach),
        "clusters": clusters,
        "method": "normal, cluster-robust",
    }
