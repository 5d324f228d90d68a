"""Complete chains: dependent stages that are all right (X-PCR's CCR)."""

import numpy as np
import polars as pl

from wardround.measuring.engine.encode import OUTCOMES, EncodedMarks
from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.sums import Integers


def chain_sums(marks: pl.DataFrame, encoded: EncodedMarks, index: pl.DataFrame, trials: int) -> dict[str, Floats]:
    """Per item the chains that end with it (in the order of names), and how many of them are right in all stages.

    A chain counts once per trial. All questions of a stage must be right. A chain with an unscored or missing
    mark is left out, and one with a refused mark if the study leaves those out. With log-probabilities a stage counts
    as p(gold), and the chain as the product.
    """
    chains = encoded.subjects.filter(pl.col("chain").is_not_null()).select("subject", "case", "chain")
    if chains.is_empty():
        return {}
    chains = chains.with_columns(link=pl.struct("case", "chain").rank("dense").cast(pl.UInt32)).select(
        "subject", "link"
    )
    lengths = chains.group_by("link").agg(links=pl.len(), subject=pl.col("subject").max())
    right = pl.when(pl.col("outcome") == OUTCOMES.index("right")).then(1.0).otherwise(0.0)
    steps = marks.join(chains, on="subject", how="inner").with_columns(chance=right)
    if "shares" in marks.columns:
        known = steps.filter(pl.col("shares").is_not_null())
        known = known.with_columns(chance=pl.col("shares").list.get("gold", null_on_oob=True).fill_null(0.0))
        known = known.drop("trial").join(
            pl.DataFrame({"trial": range(trials)}, schema={"trial": marks["trial"].dtype}), how="cross"
        )
        steps = pl.concat([steps.filter(pl.col("shares").is_null()), known.select(steps.columns)])
    complete = (
        steps.group_by("candidate", "condition", "link", "trial")
        .agg(
            pl.col("chance").sort_by("subject").product(),
            pl.len().alias("answered"),
            (pl.col("outcome") == OUTCOMES.index("unscored")).any().alias("unscored"),
        )
        .join(lengths, on="link")
        .filter((pl.col("answered") == pl.col("links")) & ~pl.col("unscored"))
    )
    place = index.select("candidate", "condition", "subject").with_row_index("item")
    ends = complete.join(place, on=("candidate", "condition", "subject"), how="inner")
    item: Integers = ends["item"].cast(pl.Int64).to_numpy()
    chance = exact(ends["chance"].to_numpy())
    return {
        "chains_right": np.bincount(item, weights=chance, minlength=len(index)),
        "chains": np.bincount(item, minlength=len(index)).astype(float),
    }
