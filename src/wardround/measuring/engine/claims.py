"""How uncertain a figure about claims is because right or wrong ones are rare: an error that has not been seen yet.

Eight claims at .9 that are all right have hardly any variance; their calibration shift is -.1 all the same only if
errors are never made. The share of right claims has an interval that knows this, and the others follow from it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.sums import ClusterSums
from wardround.measuring.engine.wilson import ClusterMoments, rate_interval_of


class Claims(NamedTuple):
    """The claims of each cell: which share is right, by cluster, and their mean confidence."""

    right: ClusterMoments
    confidence: Floats

    def at(self, cells: NDArray[np.bool_]) -> "Claims":
        """Those of some cells."""
        return Claims(self.right.at(cells), self.confidence[cells])

    def widened(self, value: Floats, low: Floats, high: Floats, is_signed: bool) -> tuple[Floats, Floats]:
        """An interval that also holds what the figure would be at both ends of the share right.

        A wrong claim instead of a right one adds 1 to confidence minus right, and 2 c - 1 to the squared gap of a
        claim at c, for which the mean confidence stands.
        """
        share = self.right.part / self.right.whole
        fewest, most = rate_interval_of(self.right, self.right.whole)
        added = np.ones_like(value) if is_signed else 2 * self.confidence - 1
        ends = value + added * (share - fewest), value + added * (share - most)
        lowest, highest = (-1.0, 1.0) if is_signed else (0.0, 1.0)
        return np.clip(np.minimum(low, np.minimum(*ends)), lowest, highest), np.clip(
            np.maximum(high, np.maximum(*ends)), lowest, highest
        )


def claims_of(measure: Measure, sums: ClusterSums) -> Claims | None:
    """The claims that a measure is about; None if it is about none, or the sums do not hold them."""
    if not measure.claims or any(name not in sums.place for name in measure.claims):
        return None
    confidence, shift, count = (sums.row(name) for name in measure.claims)
    right = np.clip(confidence - shift, 0.0, count)
    whole = sums.total(count)
    mean = np.divide(sums.total(confidence), whole, out=np.full(sums.cells, 0.5), where=whole > 0)
    return Claims(ClusterMoments.of(right, count, sums.total), mean)
