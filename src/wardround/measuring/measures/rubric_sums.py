"""What the marks of rubric answers add to sums: their scores, in all and by the axes of their criteria."""

import numpy as np
import polars as pl

from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.item_sums import Flags, ItemMarks


def rubric_sums(marks: ItemMarks, is_rubric: Flags) -> dict[str, Floats]:
    """The scores of rubric answers. An unparsed answer, and a refused one if it counts, scores 0; an unscored one none.

    By axis: an answer's score over the criteria of that axis alone, if they have positive points.
    """
    if not is_rubric.any():
        return {}
    graded = marks.outcome("graded")
    zero = marks.flags("rubric") & marks.outcome("unparsed")
    score = np.where(graded, marks.floats("score"), 0.0)
    sums = {
        "rubric": is_rubric.astype(float),
        "rubric_points": marks.total(exact(score)),
        "rubric_of": marks.total(graded | zero),
    }
    if not marks.has("criteria") or not marks.encoded.axes:
        return sums
    by_axis = (
        marks.frame.select("criteria")
        .with_row_index("mark")
        .filter(pl.Series(graded))
        .explode("criteria")
        .unnest("criteria")
        .group_by("mark", "axis")
        .agg(
            possible=pl.col("points").filter(pl.col("points") > 0).sum(),
            achieved=pl.col("points").filter(pl.col("met")).sum(),
        )
        .filter(pl.col("possible") > 0)
        .sort("mark", "axis")
    )
    for number, axis in enumerate(marks.encoded.axes):
        own = by_axis.filter(pl.col("axis") == axis)
        item = marks.item[own["mark"].to_numpy()]
        scores = exact((own["achieved"] / own["possible"]).to_numpy())
        sums[f"axis_points:{number}"] = np.bincount(item, weights=scores, minlength=marks.size)
        sums[f"axis_of:{number}"] = np.bincount(item, minlength=marks.size).astype(float)
    return sums
