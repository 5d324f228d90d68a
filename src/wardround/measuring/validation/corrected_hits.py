"""hit@k corrected for the errors of the judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from wardround.marking.judges.judge import RANKS
from wardround.measuring.validation.agreement_intervals import (
    FEWEST,
    Floats,
    cells,
    finite,
    ratio,
    resampled,
    sensitivity,
    specificity,
)

HITS = (1, RANKS)


def corrected_hits(lists: pl.DataFrame, items: pl.DataFrame, seed: int) -> list[dict[str, Any]]:
    """hit@k of every candidate as judged, and corrected for the judge's errors.

    Both the labels and the lists of a case are in a resample as often as the case is.
    """
    clusters = sorted({*lists["cluster"], *items["cluster"]})
    errors = cells(items, clusters)
    told = []
    for (candidate,), part in sorted(lists.group_by("candidate"), key=lambda group: str(group[0][0])):
        for k in HITS:
            sums = np.concatenate([errors, listed(part, k, clusters)], axis=1)
            found = corrected(sums.sum(axis=0))
            drawn = corrected(resampled(sums, seed)) if len(clusters) >= FEWEST else np.full(1, np.nan)
            low, high = (None, None) if np.isnan(drawn).all() else np.nanquantile(drawn, [0.025, 0.975])
            hits, n = sums[:, 4].sum(), sums[:, 5].sum()
            told.append(
                {
                    "candidate": candidate,
                    "k": k,
                    "n": int(n),
                    "raw": float(hits / n) if n else None,
                    "corrected": finite(float(found)),
                    "low": None if low is None else float(low),
                    "high": None if high is None else float(high),
                }
            )
    return told


def listed(lists: pl.DataFrame, k: int, clusters: Sequence[str]) -> Floats:
    """Per cluster: hits, lists that could be scored, and of those how many had 1, 2, ... k diagnoses judged."""
    number = {cluster: place for place, cluster in enumerate(clusters)}
    sums = np.zeros((len(clusters), 2 + RANKS))
    for cluster, outcome, hits in lists.select("cluster", "outcome", "hits").iter_rows():
        first = (hits or [])[:k]
        if True not in first and (None in first or (not first and outcome == "unscored")):
            continue
        row = sums[number[cluster]]
        row[0] += True in first
        row[1] += 1
        if first:
            row[1 + len(first)] += 1
    return sums


def corrected(sums: Floats) -> Floats:
    """hit@k corrected for the judge's sensitivity and specificity (Rogan and Gladen), within [0, 1].

    `sums` are the four cells, then what `listed` gives. A list of m diagnoses without the right one is taken for a
    hit with probability 1 - sp^m; one that holds it, once, with 1 - (1 - se) sp^(m-1), errors being independent. For
    k = 1 that is (raw + sp - 1) / (se + sp - 1). Undefined where se + sp <= 1. A list without any diagnosis is no hit.
    """
    se, sp = sensitivity(sums[..., :4]), specificity(sums[..., :4])
    hits, n, lengths = sums[..., 4], sums[..., 5], sums[..., 6:]
    m = np.arange(1, RANKS + 1)
    spared = sp[..., None] ** (m - 1)
    share = ratio(lengths, np.broadcast_to(lengths.sum(axis=-1, keepdims=True), lengths.shape))
    false_hits = (share * (1 - sp[..., None] * spared)).sum(axis=-1)
    true_hits = (share * (1 - (1 - se[..., None]) * spared)).sum(axis=-1)
    among = np.clip(ratio(ratio(hits, lengths.sum(axis=-1)) - false_hits, true_hits - false_hits), 0.0, 1.0)
    found: Floats = np.where(se + sp > 1, among * ratio(lengths.sum(axis=-1), n), np.nan)
    return found
