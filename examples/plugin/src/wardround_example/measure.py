"""Measure `first_option`: the share of parsed answers that choose the case's first option."""

from __future__ import annotations

import polars as pl

from wardround.measuring.measures.record import MeasureRecord

FIRST_OPTION = MeasureRecord(
    name="first_option",
    label="First option chosen",
    meaning="The share of parsed answers that choose the case's first option.",
    formula_text="answers with option 0 / answers with an option",
    origin="our choice",
    mark_value=pl.when(pl.col("option").is_not_null()).then((pl.col("option") == 0).cast(pl.Float64)),
)
