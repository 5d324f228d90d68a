"""Inter-model DKE (MedQ-Deg): do weaker candidates overrate themselves more?

The shift contains minus the accuracy, so pure noise already says yes. What stands beside the paper's figure
says how much of it that explains.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wardround.core.random import stream
from wardround.measuring.engine.exact import Floats
from wardround.measuring.measures.formulas import ratio

PERMUTATIONS = 1_000
INTER = ("", "Spearman(accuracy, shift)", "Spearman(accuracy, C)", "cross-fitted share", "share by permutation")


class Rivals(NamedTuple):
    """Accuracy, calibration shift and C of some candidates; resampled (resamples x candidates); in halves."""

    accuracy: Floats
    shift: Floats
    certainty: Floats
    accuracy_drawn: Floats
    shift_drawn: Floats
    certainty_drawn: Floats
    accuracy_halves: Floats  # candidates x splits x half x (part, whole)
    shift_halves: Floats


def share_of_pairs(accuracy: Floats, shift: Floats) -> Floats:
    """Pairs of which the less accurate one has the larger shift / pairs that differ in accuracy.

    Over the last axis. nan where no pair differs.
    """
    met = np.zeros(accuracy.shape[:-1])
    differing = np.zeros(accuracy.shape[:-1])
    for place in range(1, accuracy.shape[-1]):  # each with those before it: memory does not grow with the pairs
        better = accuracy[..., :place] - accuracy[..., place, None]
        surer = shift[..., :place] - shift[..., place, None]
        met += (better * surer < 0).sum(axis=-1)
        differing += (better != 0).sum(axis=-1)
    return ratio(met, differing)


def spearman(a: Floats, b: Floats) -> Floats:
    """Correlation of ranks over the last axis; ties share their mean rank, nan where one side is all ties."""
    x, y = (mean_ranks(each) - (each.shape[-1] - 1) / 2 for each in (a, b))
    size = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    found: Floats = np.divide((x * y).sum(axis=-1), size, out=np.full(np.shape(size), np.nan), where=size > 0)
    return found


def mean_ranks(values: Floats) -> Floats:
    """Ranks from 0 over the last axis; ties share the mean of theirs."""
    order = np.argsort(values, axis=-1)
    ordered, place = np.take_along_axis(values, order, axis=-1), np.arange(values.shape[-1])
    edge = ordered[..., 1:] != ordered[..., :-1]
    ends = np.ones((*values.shape[:-1], 1), bool)
    first = np.maximum.accumulate(np.where(np.concatenate([ends, edge], axis=-1), place, 0), axis=-1)
    last = np.where(np.concatenate([edge, ends], axis=-1), place, place[-1])
    last = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    found = np.empty(values.shape)
    np.put_along_axis(found, order, (first + last) / 2, axis=-1)
    return found


def cross_fitted(rivals: Rivals) -> float:
    """The share with accuracy from one half of the clusters and shift from the other, both ways, over all splits."""
    accuracy, shift = (ratio(h[..., 0], h[..., 1]) for h in (rivals.accuracy_halves, rivals.shift_halves))
    ways = [share_of_pairs(accuracy[:, :, half].T, shift[:, :, 1 - half].T) for half in (0, 1)]
    return _mean(np.concatenate(ways))


def by_permutation(rivals: Rivals, seed: int) -> float:
    """The mean share when the candidates' C are dealt out at random: what coupling alone gives."""
    random = stream(seed, "permutations of confidence")
    judged = rivals.certainty - rivals.shift  # accuracy on the questions that have a C
    order = np.argsort(random.random((PERMUTATIONS, len(judged))), axis=1)
    return _mean(share_of_pairs(np.tile(rivals.accuracy, (PERMUTATIONS, 1)), rivals.certainty[order] - judged))


def _mean(shares: Floats) -> float:
    """Of those that there are: where no two candidates differ in accuracy there is no pair to take a share of."""
    return float(np.nanmean(shares)) if (~np.isnan(shares)).any() else float("nan")


def inter_figures(rivals: Rivals, seed: int) -> dict[str, tuple[float, Floats | None]]:
    """Each figure of INTER with its resampled values, where it has any."""
    a, s, c = rivals.accuracy, rivals.shift, rivals.certainty
    drawn_a, drawn_s, drawn_c = rivals.accuracy_drawn, rivals.shift_drawn, rivals.certainty_drawn
    return dict(
        zip(
            INTER,
            (
                (float(share_of_pairs(a, s)), share_of_pairs(drawn_a, drawn_s)),
                (float(spearman(a, s)), spearman(drawn_a, drawn_s)),
                (float(spearman(a, c)), spearman(drawn_a, drawn_c)),
                (cross_fitted(rivals), None),
                (by_permutation(rivals, seed), None),
            ),
            strict=True,
        )
    )
