"""Inter-model DKE (MedQ-Deg): do weaker candidates overrate themselves more?

The shift contains minus the accuracy, so pure noise already says yes. The companions show how much of
the paper's figure this coupling explains.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from wardround.core.random import stream
from wardround.measuring.engine.compiled import uses_loops
from wardround.measuring.engine.correlation import spearman
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Integers
from wardround.measuring.measures.formulas import ratio

PERMUTATIONS = 1_000
SPLITS = 40  # of the clusters into halves, so that two figures can come from different cases
INTER_VARIANTS = ("", "spearman_shift", "spearman_confidence", "cross_fitted", "by_chance")
ALL_ORIGINALS = "all_originals"  # variant of intra-model DKE that is made of other figures


class CandidateFigures(NamedTuple):
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
    """Pairs in which the less accurate candidate has the larger shift / pairs that differ in accuracy.

    Over the last axis. nan where no pair differs.
    """
    fulfilled = np.zeros(accuracy.shape[:-1])
    differing = np.zeros(accuracy.shape[:-1])
    if uses_loops() and accuracy.ndim == 2:
        from wardround.measuring.engine.loops.ranks import count_pairs

        count_pairs(np.ascontiguousarray(accuracy), np.ascontiguousarray(shift), fulfilled, differing)
        return ratio(fulfilled, differing)
    for place in range(1, accuracy.shape[-1]):  # one row of pairs at a time: memory does not grow with the pairs
        accuracy_difference = accuracy[..., :place] - accuracy[..., place, None]
        shift_difference = shift[..., :place] - shift[..., place, None]
        fulfilled += (accuracy_difference * shift_difference < 0).sum(axis=-1)
        differing += (accuracy_difference != 0).sum(axis=-1)
    return ratio(fulfilled, differing)


def cross_fitted(figures: CandidateFigures) -> float:
    """The share with accuracy from one half of the clusters and shift from the other, both ways, over all splits."""
    accuracy, shift = (ratio(h[..., 0], h[..., 1]) for h in (figures.accuracy_halves, figures.shift_halves))
    shares = [share_of_pairs(accuracy[:, :, half].T, shift[:, :, 1 - half].T) for half in (0, 1)]
    return _mean(np.concatenate(shares))


def by_permutation(figures: CandidateFigures, seed: int) -> float:
    """The mean share when the candidates' C are permuted at random: what coupling alone gives."""
    random = stream(seed, "permutations of confidence")
    accuracy = figures.certainty - figures.shift  # accuracy on the questions that have a C
    order = np.argsort(random.random((PERMUTATIONS, len(accuracy))), axis=1)
    return _mean(share_of_pairs(np.tile(figures.accuracy, (PERMUTATIONS, 1)), figures.certainty[order] - accuracy))


def _mean(shares: Floats) -> float:
    """The mean of the known shares: if no two candidates differ in accuracy there is no share."""
    return float(np.nanmean(shares)) if (~np.isnan(shares)).any() else float("nan")


def inter_figures(figures: CandidateFigures, seed: int) -> dict[str, tuple[float, Floats | None]]:
    """Each of INTER_VARIANTS with its resampled values, where it has any."""
    a, s, c = figures.accuracy, figures.shift, figures.certainty
    drawn_a, drawn_s, drawn_c = figures.accuracy_drawn, figures.shift_drawn, figures.certainty_drawn
    return dict(
        zip(
            INTER_VARIANTS,
            (
                (float(share_of_pairs(a, s)), share_of_pairs(drawn_a, drawn_s)),
                (float(spearman(a, s)), spearman(drawn_a, drawn_s)),
                (float(spearman(a, c)), spearman(drawn_a, drawn_c)),
                (cross_fitted(figures), None),
                (by_permutation(figures, seed), None),
            ),
            strict=True,
        )
    )


@lru_cache(maxsize=1)
def splits(clusters: int, seed: int) -> Floats:
    """Which clusters are in the first half (splits x clusters), 1 or 0."""
    random = stream(seed, "halves of clusters")
    first_half = np.zeros((SPLITS, clusters))
    for split in first_half:
        split[random.permutation(clusters)[: clusters // 2]] = 1.0
    return first_half


def halved(cluster: Integers, sums: Floats, clusters: int, seed: int) -> Floats:
    """Sums (sums x clusters) of these clusters in each half of each split (sums x splits x 2)."""
    first = sums @ splits(clusters, seed)[:, cluster].T
    return np.stack([first, sums.sum(axis=1, keepdims=True) - first], axis=-1)
