"""Measures of selective prediction: what abstaining when unsure would gain."""

from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.measures.record import MeasureContext, MeasureRecord, composite, derived
from wardround.measuring.measures.selective import COVERAGE_AT_RISK, area


def _aurc(context: MeasureContext) -> list[Measure]:
    return [
        composite(area, (f"selective_loss:{claims.sums}", claims.n), claims.n, kind=MeasureKind.AREA, **claims.fields)
        for claims in context.claim_sources
    ]


def _coverage(context: MeasureContext) -> list[Measure]:
    return [derived(**claims.fields) for claims in context.claim_sources]


SELECTIVE = (
    MeasureRecord(
        name="aurc",
        label="Area under the risk-coverage curve",
        meaning="Mean share wrong over all coverages, if the least confident answers are withheld; lower is better.",
        formula_text="mean over k of the share wrong among the k most confident claims, ties in proportion; "
        "the interval is of its linear part in the weights of claims",
        origin="Geifman and El-Yaniv 2017; the interval a choice",
        versions=_aurc,
    ),
    MeasureRecord(
        name=COVERAGE_AT_RISK,
        label="Coverage at 10% risk",
        meaning="Largest share of questions that a threshold of confidence lets through with at most 10% wrong.",
        formula_text="over the thresholds between the confidences that occur; 0 if none has a risk of at most .10. The "
        "curve is computed again in each resample; at 0 and 1 the interval also holds the coverages that the intervals "
        "of the risks do not exclude. At the reference condition and by one axis",
        origin="choice",
        versions=_coverage,
    ),
)
