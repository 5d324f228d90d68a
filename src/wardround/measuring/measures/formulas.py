"""Formulas of measures as small pure functions of sums; most measures are a `ratio`.

The functions take totals (numbers or arrays of any shape) and give nan for an empty denominator. Unless a paper is
named, the formulas are those of docs/statistics.md.
"""

from math import log, pi, sqrt

import numpy as np
import scipy

from wardround.measuring.engine.exact import Floats


def ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, nan where the whole is 0."""
    defined = np.asarray(whole) > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Floats = np.true_divide(part, whole)
    return quotient if defined.all() else np.where(defined, quotient, np.nan)


def clipped_ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole within [0, 1], nan where the whole is 0."""
    return np.clip(ratio(part, whole), 0.0, 1.0)


def ece(claims: Floats, *sums: Floats) -> Floats:
    """sum_b (n_b / N) |acc_b - conf_b| = sum_b |sum of (confidence - right)| / N (X-PCR): the plug-in estimate.

    Sums: gaps, then claims and noise by bin, which only the interval takes.
    """
    gaps, _, _ = _parts(sums, 3)
    return ratio(np.abs(gaps).sum(axis=0), claims)


def ece_debiased(claims: Floats, *sums: Floats) -> Floats:
    """ECE less the bias that its own noise gives it, at least 0. Sums: as of `ece`, then squared gaps by cluster."""
    gaps, _, _, squares = _parts(sums, 4)
    return ratio(np.maximum(debiased_sum(gaps, squares), 0.0), claims)


def debiased_sum(gaps: Floats, variance: Floats) -> Floats:
    """sum_b (2 |G_b| - E|N(G_b, V_b)|) over the first axis.

    G_b is the sum of (confidence - right) over a bin, V_b its variance about 0: the squares of its terms, one per
    cluster. What noise adds to |G_b| is estimated by what the same noise would add once more (Kumar et al. 2019, in
    closed form).
    """
    size = np.abs(gaps)
    total: Floats = (2 * size - folded_mean(size, variance)).sum(axis=0)
    return total


def folded_mean(mean: Floats, variance: Floats) -> Floats:
    """E|X| of a normal X."""
    spread = np.sqrt(variance)
    z = np.divide(mean, spread, out=np.full(np.shape(mean), np.inf), where=spread > 0)
    mean_absolute: Floats = spread * sqrt(2 / pi) * np.exp(-z * z / 2) + mean * (1 - 2 * scipy.special.ndtr(-z))
    return mean_absolute


def ece_null(claims: Floats, *sums: Floats) -> Floats:
    """The plug-in ECE to be expected of a calibrated candidate with these confidences.

    Per bin the mean of |N(0, v)| is sqrt(2 v / pi); v is the sum of confidence (1 - confidence), times the factor by
    which the variance between clusters exceeds that of independent claims, over all bins. Sums by bin: claims, gaps,
    squares, noise; then by cluster gap x gap, gap x claims and claims x claims.
    """
    n, gap, square, noise, gap_gap, gap_n, n_n = _parts(sums, 7)
    mean = ratio_or_zero(gap, n)
    between = (gap_gap - 2 * mean * gap_n + mean**2 * n_n).sum(axis=0)
    independent = (square - mean * gap).sum(axis=0)
    factor = np.maximum(np.divide(between, independent, out=np.ones(np.shape(between)), where=independent > 1e-9), 1.0)
    return ratio(np.sqrt(2 * factor * np.maximum(noise, 0.0) / np.pi).sum(axis=0), claims)


def auroc(above: Floats, right: Floats, below: Floats, wrong: Floats) -> Floats:
    """Chance that a right claim has more confidence than a wrong one, ties counting half.

    On the whole this is the exact Mann-Whitney figure A. `above` adds, over right claims, the share of wrong
    ones with less confidence, minus A/2; `below` does so for wrong ones. In a resample this is Hajek's
    projection (as in DeLong's variance): ranks stay those of the whole.
    """
    return np.clip(ratio(above, right) + ratio(below, wrong), 0.0, 1.0)


def dke_intra(fall: Floats, fall_of: Floats, rise: Floats, rise_of: Floats) -> Floats:
    """1 if Acc(L0) > Acc(L2) and shift(L0) <= shift(L2) (MedQ-Deg), else 0; printed as a share of resamples."""
    falls, rises = ratio(fall, fall_of), ratio(rise, rise_of)
    return np.where(np.isnan(falls) | np.isnan(rises), np.nan, (falls > 0) & (rises >= 0))


def sensitivity_by_letter(*sums: Floats) -> Floats:
    """Mean over letters of chosen when right / right; letters that are never right are left out."""
    hits, gold = _parts(sums, 2)
    return mean_of_known(ratio(hits, gold))


def specificity_by_letter(*sums: Floats) -> Floats:
    """Mean over letters of the share of answers that do not name the letter, among those for which it is wrong."""
    hits, gold, named, offered = _parts(sums, 4)
    return mean_of_known(1 - ratio(named - hits, offered - gold))


def precision_by_letter(*sums: Floats) -> Floats:
    """Mean over letters that are ever right of chosen when right / named; 0 for a letter that is never named."""
    hits, gold, named = _parts(sums, 3)
    return mean_of_known(np.where(gold > 0, ratio_or_zero(hits, named), np.nan))


def perplexity(surprise: Floats, tokens: Floats) -> Floats:
    """ppl = exp(- sum of log-probabilities / tokens): the token-weighted mean (ClinBench appendix D.3)."""
    with np.errstate(over="ignore"):
        perplexities: Floats = np.exp(ratio(surprise, tokens))
    return perplexities


def bits_per_byte(surprise: Floats, size: Floats) -> Floats:
    """- sum of log2-probabilities / UTF-8 bytes: comparable across tokenizers."""
    return ratio(surprise, size) / log(2)


def ratio_or_zero(part: Floats, whole: Floats) -> Floats:
    """part / whole, 0 where the whole is 0."""
    quotient: Floats = np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)
    return quotient


def mean_of_known(values: Floats) -> Floats:
    """Mean over the first axis without nan; nan where all are."""
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0).astype(float))


def _parts(sums: tuple[Floats, ...], kinds: int) -> list[Floats]:
    """Sums of several kinds, each by bin or by letter, as one array for each kind."""
    size = len(sums) // kinds
    return [np.stack(sums[part * size : (part + 1) * size]) for part in range(kinds)]
