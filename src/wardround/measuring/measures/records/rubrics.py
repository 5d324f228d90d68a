"""Measures of rubric answers: the score, clipped as HealthBench has it and as it is, and by axis of criteria."""

from math import inf

from wardround.measuring.engine.measure import Measure
from wardround.measuring.measures.formulas import clipped_ratio, ratio
from wardround.measuring.measures.record import MeasureContext, MeasureRecord, composite

AXIS = "rubric_axis"


def _score(context: MeasureContext) -> list[Measure]:
    fields = {"group": "rubric", "requires": "rubric", "version": context.judges}
    return [composite(clipped_ratio, ("rubric_points", "rubric_of"), "rubric_of", **fields)]


def _unclipped(context: MeasureContext) -> list[Measure]:
    fields = {"group": "rubric", "requires": "rubric", "version": context.judges, "bounds": (-inf, 1.0)}
    return [composite(ratio, ("rubric_points", "rubric_of"), "rubric_of", **fields)]


def _by_axis(context: MeasureContext) -> list[Measure]:
    return [
        composite(
            clipped_ratio,
            (f"axis_points:{number}", f"axis_of:{number}"),
            f"axis_of:{number}",
            group="rubric",
            requires=f"axis_of:{number}",
            version=context.judges,
            variant=axis.replace(" ", "_"),
        )
        for number, axis in enumerate(context.axes)
    ]


RUBRICS = (
    MeasureRecord(
        name="rubric_score",
        label="Rubric score",
        meaning="Mean share of a rubric's points that answers earn; criteria with negative points take some away.",
        formula_text="per answer: points of the criteria met / sum of the positive points; mean over answers, then "
        "clipped to [0, 1]. An unparsed answer scores 0, a refused one as in accuracy; an answer with an unjudged "
        "criterion is unscored and left out",
        origin="paper (HealthBench), intervals a choice",
        versions=_score,
    ),
    MeasureRecord(
        name="rubric_score_unclipped",
        label="Rubric score, unclipped",
        meaning="The rubric score without clipping: below 0 if answers lose more points than they earn.",
        formula_text="as rubric_score, without clipping",
        origin="choice",
        unit="fraction, may be negative",
        versions=_unclipped,
    ),
    MeasureRecord(
        name=AXIS,
        label="Rubric score by axis",
        meaning="The rubric score over the criteria of one axis alone, such as accuracy or completeness.",
        formula_text="`rubric_axis_NAME` for each `axis` of criteria: per answer over the criteria of that axis, if "
        "they have positive points; mean over graded answers, clipped to [0, 1]",
        origin="paper (HealthBench), unparsed answers left out a choice",
        versions=_by_axis,
    ),
)
