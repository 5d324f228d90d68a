"""hit@k corrected for the errors of the judge."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from wardround.marking.judges.judge import JUDGED_RANKS
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.measures.formulas import ratio
from wardround.measuring.validation.agreement import confusion_cells, finite, resampled, sensitivity, specificity

HITS = (1, JUDGED_RANKS)


def corrected_hits(lists: pl.DataFrame, items: pl.DataFrame, seed: int) -> list[dict[str, Any]]:
    """hit@k of every candidate as judged, and corrected for the judge's errors.

    A resample contains the labels and the lists of a case as often as the case.
    """
    clusters = sorted({*lists["cluster"], *items["cluster"]})
    errors = confusion_cells(items, clusters)
    rows = []
    for (candidate,), part in sorted(lists.group_by("candidate"), key=lambda group: str(group[0][0])):
        for k in HITS:
            sums = np.concatenate([errors, listed(part, k, clusters)], axis=1)
            value = corrected(sums.sum(axis=0))
            drawn = corrected(resampled(sums, seed)) if len(clusters) >= FEWEST else np.full(1, np.nan)
            low, high = (None, None) if np.isnan(drawn).all() else np.nanquantile(drawn, [0.025, 0.975])
            hits, n = sums[:, 4].sum(), sums[:, 5].sum()
            rows.append(
                {
                    "candidate": candidate,
                    "k": k,
                    "n": int(n),
                    "raw": float(hits / n) if n else None,
                    "corrected": finite(float(value)),
                    "low": None if low is None else float(low),
                    "high": None if high is None else float(high),
                }
            )
    return rows


def listed(lists: pl.DataFrame, k: int, clusters: Sequence[str]) -> Floats:
    """Per cluster: hits, scored lists, and the number of those with 1, 2, ... k judged diagnoses."""
    number = {cluster: place for place, cluster in enumerate(clusters)}
    sums = np.zeros((len(clusters), 2 + JUDGED_RANKS))
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
    hit with probability 1 - sp^m; one that contains it, once, with 1 - (1 - se) sp^(m-1), errors being independent. For
    k = 1 that is (raw + sp - 1) / (se + sp - 1). Undefined where se + sp <= 1. An empty list is not a hit.
    """
    se, sp = sensitivity(sums[..., :4]), specificity(sums[..., :4])
    hits, n, lengths = sums[..., 4], sums[..., 5], sums[..., 6:]
    m = np.arange(1, JUDGED_RANKS + 1)
    spared = sp[..., None] ** (m - 1)
    share = ratio(lengths, np.broadcast_to(lengths.sum(axis=-1, keepdims=True), lengths.shape))
    false_hits = (share * (1 - sp[..., None] * spared)).sum(axis=-1)
    true_hits = (share * (1 - (1 - se[..., None]) * spared)).sum(axis=-1)
    among = np.clip(ratio(ratio(hits, lengths.sum(axis=-1)) - false_hits, true_hits - false_hits), 0.0, 1.0)
    hit_rate: Floats = np.where(se + sp > 1, among * ratio(lengths.sum(axis=-1), n), np.nan)
    return hit_rate
