"""Measures of what answers would lead to: errors by importance, and the net benefit of acting on options."""

from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.measures.formulas import ratio
from wardround.measuring.measures.record import SIGNED_FRACTION, MeasureContext, MeasureRecord, composite, mean
from wardround.measuring.measures.votes import THRESHOLDS


def _net_benefit(context: MeasureContext) -> list[Measure]:
    sums = f"benefit@{context.depth}", "benefit_of"
    odds = context.depth / (100 - context.depth)
    lowest = -odds * (100 // context.depth)  # of a question: all options that can reach the threshold are wrong
    version = f"T={context.trials}"
    fields = {"group": "choice", "requires": "benefit_of", "bounds": (lowest, 1.0), "version": version}
    return [composite(ratio, sums, "benefit_of", kind=MeasureKind.BOUNDED, **fields)]


def _harm(context: MeasureContext) -> list[Measure]:
    fields = {"group": "choice", "requires": "harm_of", "version": context.parsers}
    return [mean("harm", "harm_of", n="harm_answers", **fields)]


CONSEQUENCES = (
    MeasureRecord(
        name="harm",
        label="Errors weighted by importance",
        meaning="Share of the importance of all answered choice questions that lies on answers that are not right.",
        formula_text="sum importance x (not right) / sum importance over answers, unparsed and refused as in accuracy. "
        "Questions without `importance` are left out",
        origin="choice",
        versions=_harm,
    ),
    MeasureRecord(
        name="net_benefit@k",
        label="Net benefit",
        meaning="Gain per question of acting on every option that gets at least the threshold of the answers; acting "
        "on nothing is 0.",
        formula_text="mean over questions of [share of the right option >= t] - t / (1 - t) x number of wrong options "
        "with a share >= t (Vickers and Elkin, by option). Shares are of T answers, or probabilities; unparsed answers "
        "count for no option. k = 5, 10, 20, 30, 50",
        origin="choice",
        depths=THRESHOLDS,
        unit=SIGNED_FRACTION,
        versions=_net_benefit,
    ),
)
