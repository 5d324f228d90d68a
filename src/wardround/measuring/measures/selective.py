"""Selective prediction: the risk of a candidate that answers only the questions it is most confident of.

The area under the risk-coverage curve has an interval from sums over clusters, like AUROC. The coverage at a fixed
risk jumps from one threshold to another, so its whole curve is computed again in every resample.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import BOOTSTRAP, FEWEST, TOO_FEW, WILSON, CellEstimates
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.resampling.bootstrap import SumBlock, resampled_sums
from wardround.measuring.engine.resampling.percentiles import percentile_interval
from wardround.measuring.engine.sums import Integers, Placement
from wardround.measuring.engine.wilson import ClusterMoments, rate_interval_of, wilson
from wardround.measuring.measures.confidence import Claims
from wardround.measuring.measures.confidence_order import claims_in_slices
from wardround.measuring.measures.formulas import ratio

RISK = 0.10  # our choice
COVERAGE_AT_RISK = "coverage@risk10"
MAX_RESAMPLED_ROWS = 4_000  # at once: 64 MB
MAX_THRESHOLDS = 500  # of more confidences, these quantiles


def area(losses: Floats, claims: Floats) -> Floats:
    """The mean risk over all coverages."""
    return np.clip(ratio(losses, claims), 0.0, 1.0)


def coverage_at_risk(claims: Floats, wrong: Floats, risk: float = RISK) -> Floats:
    """The largest coverage by a threshold whose risk is at most `risk`; 0 if none is.

    Rows are confidences, the highest first; further axes are resamples.
    """
    answered, errors = np.cumsum(claims, axis=0), np.cumsum(wrong, axis=0)
    allowed = (answered > 0) & (errors <= risk * answered + 1e-9)
    coverage: Floats = np.where(allowed, ratio(answered, answered[-1:]), 0.0).max(axis=0)
    return coverage


def coverage_estimates(
    measures: Sequence[Measure],
    like: Sequence[CellEstimates],
    claims: dict[str, Claims],
    placement: Placement,
    items: int,
    clusters: int,
    seed: int,
) -> Iterator[CellEstimates]:
    """The coverage at RISK in every cell, by source of confidence; `like` are estimates of the same claims."""
    for measure in measures:
        template = next((estimate for estimate in like if estimate.measure.n == measure.requires), None)
        own = claims.get(measure.requires.partition(":")[2])
        if template is None or own is None:
            continue
        value, low, high = (np.full(len(template.value), np.nan) for _ in range(3))
        method = np.full(len(value), None, dtype=object)
        blocks = list(_blocks(own, placement, items))
        for cell, block in blocks:
            claimed, wrong = np.split(block.sums, 2)
            value[cell] = coverage_at_risk(claimed.sum(axis=1), wrong.sum(axis=1))
            method[cell] = BOOTSTRAP if len(block.cluster) >= FEWEST else TOO_FEW
        for cell, block, drawn in _resampled([(c, b) for c, b in blocks if method[c] == BOOTSTRAP], clusters, seed):
            claimed, wrong = np.split(drawn, 2)
            low[cell], high[cell] = percentile_interval(coverage_at_risk(claimed, wrong))
            low[cell], high[cell] = min(low[cell], value[cell]), max(high[cell], value[cell])
            if value[cell] in (0.0, 1.0):
                claimed, wrong = np.split(block.sums, 2)
                ends = coverages_not_excluded(claimed, wrong)
                low[cell], high[cell] = min(low[cell], ends[0]), max(high[cell], ends[1])
                method[cell] = WILSON
        yield replace(template, measure=measure, value=value, low=low, high=high, method=method)


def _resampled(
    blocks: Sequence[tuple[int, SumBlock]], clusters: int, seed: int
) -> Iterator[tuple[int, SumBlock, Floats]]:
    """The sums of every cell in every resample, those of some cells at a time: candidates mostly share the clusters."""
    count = max(1, MAX_RESAMPLED_ROWS // max((len(block.sums) for _, block in blocks), default=1))
    for first in range(0, len(blocks), count):
        batch = blocks[first : first + count]
        for number, drawn in resampled_sums([block for _, block in batch], clusters, seed):
            yield *batch[number], drawn.all_rows()


def coverages_not_excluded(claims: Floats, wrong: Floats, risk: float = RISK) -> tuple[float, float]:
    """The coverages at `risk` between which the data do not decide, for a coverage of 0 or 1.

    There resamples may be all alike. The lower end is the largest coverage whose risk is shown to be at most `risk`, by
    the interval of a rate, and the upper end the largest whose risk is not shown to be above it. A share of more
    confident claims that was not seen may also be allowed. Rows are confidences, columns clusters.
    """
    answered, errors = np.cumsum(claims, axis=0), np.cumsum(wrong, axis=0)
    moments = ClusterMoments.of(errors, answered, lambda values: values.sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):  # a threshold that one cluster passes
        low, high = rate_interval_of(moments, moments.whole)
    coverage = moments.whole / moments.whole[-1]
    unseen = wilson(np.zeros(1), np.array([float(claims.shape[1])]))[1][0]
    shown, possible = (float(coverage[allowed].max(initial=0.0)) for allowed in (high <= risk, low <= risk))
    return shown, max(possible, float(unseen))


def _blocks(claims: Claims, placement: Placement, items: int) -> Iterator[tuple[int, SumBlock]]:
    """For every cell the claims and the errors at each confidence (the highest first), by cluster."""
    claim, entry = claims_in_slices(claims, placement, items)
    row = placement.row[entry]
    cell_of_claim = placement.cell[row]
    for cell in np.unique(cell_of_claim).tolist():
        inside = cell_of_claim == cell
        own = claim[inside]
        levels, level = np.unique(-_thresholds(claims.confidence[own]), return_inverse=True)
        cluster, place = np.unique(placement.cluster[row[inside]], return_inverse=True)
        shape = len(levels), len(cluster)
        at: Integers = level * len(cluster) + place
        sums = [
            np.bincount(at, weights, minlength=shape[0] * shape[1]).reshape(shape)
            for weights in (np.ones(len(own)), 1.0 - claims.right[own])
        ]
        yield cell, SumBlock(cluster, np.concatenate(sums))


def _thresholds(confidence: Floats) -> Floats:
    """The confidences; of very many, the nearest of some quantiles below each."""
    if len(np.unique(confidence)) <= MAX_THRESHOLDS:
        return confidence
    ends = np.unique(np.quantile(confidence, np.linspace(0, 1, MAX_THRESHOLDS), method="lower"))
    rounded: Floats = ends[np.searchsorted(ends, confidence, side="right") - 1]
    return rounded
