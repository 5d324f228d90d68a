"""Agreement of a judge with a reader beyond chance."""

from __future__ import annotations

import numpy as np
import polars as pl

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.item_sums import Marked


def cohen_kappa(both: Floats, only_judge: Floats, only_reader: Floats, neither: Floats) -> Floats:
    """kappa = (p_o - p_e) / (1 - p_e) (Cohen 1960) of yes/no verdicts; nan where both always say the same one thing."""
    n = both + only_judge + only_reader + neither
    judge, reader = both + only_judge, both + only_reader
    chance = judge * reader + (n - judge) * (n - reader)  # n squared times p_e
    observed = (both + neither) * n
    apart = n * n - chance
    found: Floats = np.divide(observed - chance, apart, out=np.full(np.shape(n), np.nan), where=apart > 0)
    return found


def kappa_of(confusion: Floats) -> float:
    """Cohen's kappa of any number of classes, from the table of who said what."""
    n = float(confusion.sum())
    if n == 0:
        return float("nan")
    chance = float(confusion.sum(axis=0) @ confusion.sum(axis=1)) / n**2
    return float((np.trace(confusion) / n - chance) / (1 - chance)) if chance < 1 else float("nan")


def krippendorff_alpha(coincidences: Floats) -> Floats:
    """Krippendorff's alpha of unordered classes, from coincidences (..., classes, classes).

    An item with m labels adds 1 / (m - 1) for each ordered pair of them. nan where all labels are of one class.
    """
    n = coincidences.sum(axis=(-2, -1))
    apart = n - np.trace(coincidences, axis1=-2, axis2=-1)
    by_chance = n * n - (coincidences.sum(axis=-1) ** 2).sum(axis=-1)
    missing = np.full(np.shape(n), np.nan)
    found: Floats = 1 - (n - 1) * np.divide(apart, by_chance, out=missing, where=by_chance > 1e-9)
    return found


def agreement_sums(marks: Marked) -> dict[str, Floats]:
    """Verdicts of the judge (`hits`) against a reader's (`labels`), wherever both are given."""
    if not marks.has("labels") or not marks.has("hits"):
        return {}
    pairs = (
        marks.frame.select("hits", "labels")
        .with_row_index("mark")
        .filter(pl.col("hits").is_not_null() & pl.col("labels").is_not_null())
        .with_columns(
            pl.col(name).list.head(pl.min_horizontal(pl.col("hits", "labels").list.len()))
            for name in ("hits", "labels")
        )
        .explode("hits", "labels")
        .drop_nulls()
    )
    item = marks.item[pairs["mark"].to_numpy()]
    judge, reader = pairs["hits"].to_numpy(), pairs["labels"].to_numpy()
    told = {
        "both": judge & reader,
        "only_judge": judge & ~reader,
        "only_reader": ~judge & reader,
        "neither": ~judge & ~reader,
    }
    found = {name: np.bincount(item, weights=flags, minlength=marks.size) for name, flags in told.items()}
    return found | {"verdicts": np.bincount(item, minlength=marks.size).astype(float)}
