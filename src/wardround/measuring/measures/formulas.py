"""Every measure as a small pure function of sums over items.

The functions take totals (numbers or arrays of any shape) and give nan where there is nothing to divide by.
Formulas are those of specs/statistics.md unless a paper is named.
"""

from __future__ import annotations

from math import log, pi, sqrt

import numpy as np
from scipy.special import ndtr

from wardround.measuring.engine.exact import Floats


def ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, nan where the whole is nothing."""
    there = np.asarray(whole) > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.true_divide(part, whole)
    return found if there.all() else np.where(there, found, np.nan)


def accuracy(right: Floats, scored: Floats) -> Floats:
    """right / (right + wrong + unparsed), the mean over trials (MedQ-Deg, eq. 2); from shares, p(gold).

    Over choice questions: an open answer has hit@k.
    """
    return ratio(right, scored)


def accuracy_parsed(right: Floats, parsed: Floats) -> Floats:
    """right / (right + wrong): printed beside accuracy, never instead."""
    return ratio(right, parsed)


def majority_accuracy(majority: Floats, elected: Floats) -> Floats:
    """Share of questions whose most frequent option is right; a tie of t options that holds it counts 1/t.

    A question without any valid vote counts 0. From shares: the most probable option (version `inf`).
    """
    return ratio(majority, elected)


def unparsed(unparsed: Floats, scored: Floats) -> Floats:
    """unparsed / (right + wrong + unparsed); from shares, the probability on no option."""
    return ratio(unparsed, scored)


def unscored(unscored: Floats, marks: Floats) -> Floats:
    """Marks that no judge could give / all marks."""
    return ratio(unscored, marks)


def hit(hits: Floats, scored: Floats) -> Floats:
    """hit@k (CURE): lists with the diagnosis among their first k / lists that could be scored."""
    return ratio(hits, scored)


def coverage(covered: Floats, told: Floats) -> Floats:
    """Share of answers whose supplied documents contain the true diagnosis (CURE, 2.2)."""
    return ratio(covered, told)


def evidence_outcome(counted: Floats, judged: Floats) -> Floats:
    """Share of scored answers in one cell of correct x grounded (CURE, Fig. 2); `grounded` is a margin of it."""
    return ratio(counted, judged)


def retrieval_mean(figure: Floats, searches: Floats) -> Floats:
    """Mean over searches of recall@k, precision@k (over k, also if fewer were found), nDCG@k, 1/rank, or AP."""
    return ratio(figure, searches)


def ccr(right: Floats, chains: Floats) -> Floats:
    """Chains with every stage right / chains (X-PCR)."""
    return ratio(right, chains)


def uas(scores: Floats, weights: Floats) -> Floats:
    """sum w_i s_i / sum w_i over claims (X-PCR's quadrants; figures and thresholds are our choice)."""
    return ratio(scores, weights)


def ece(claims: Floats, *gaps: Floats) -> Floats:
    """sum_b (n_b / N) |acc_b - conf_b| = sum_b |sum of (confidence - right)| / N (X-PCR): the plug-in estimate."""
    return ratio(np.abs(np.stack(gaps)).sum(axis=0), claims)


def ece_debiased(claims: Floats, *sums: Floats) -> Floats:
    """ECE less the bias that its own noise gives it: sum_b (2 |G_b| - E|N(G_b, V_b)|) / N, at least 0.

    G_b is the sum of (confidence - right), V_b its variance estimated from the bin's own spread. What noise
    adds to |G_b| is told by what the same noise would add once more (Kumar et al. 2019, in closed form). A bin
    with one claim says nothing of its noise and adds nothing. Sums: counts, gaps, squares, bin by bin.
    """
    bins = len(sums) // 3
    n, gap, square = (np.stack(sums[part * bins : (part + 1) * bins]) for part in range(3))
    variance = np.maximum(square - ratio_or_zero(gap**2, n), 0.0) * ratio_or_zero(n, n - 1)
    left = np.where(n > 1, 2 * np.abs(gap) - folded_mean(np.abs(gap), variance), 0.0)
    return ratio(np.maximum(left.sum(axis=0), 0.0), claims)


def folded_mean(mean: Floats, variance: Floats) -> Floats:
    """E|X| of a normal X."""
    spread = np.sqrt(variance)
    z = np.divide(mean, spread, out=np.full(np.shape(mean), np.inf), where=spread > 0)
    found: Floats = spread * sqrt(2 / pi) * np.exp(-z * z / 2) + mean * (1 - 2 * ndtr(-z))
    return found


def ece_null(claims: Floats, *noise: Floats) -> Floats:
    """The plug-in ECE to be expected of a calibrated candidate with these confidences.

    Per bin the mean of |N(0, v)| is sqrt(2 v / pi), v being the sum of confidence (1 - confidence).
    """
    return ratio(np.sqrt(2 * np.maximum(np.stack(noise), 0.0) / np.pi).sum(axis=0), claims)


def brier(squared: Floats, claims: Floats) -> Floats:
    """Mean (confidence - right)^2."""
    return ratio(squared, claims)


def auroc(above: Floats, right: Floats, below: Floats, wrong: Floats) -> Floats:
    """Chance that a right claim has more confidence than a wrong one, ties counting half.

    On the whole this is the exact Mann-Whitney figure A. `above` adds, over right claims, the share of wrong
    ones with less confidence, minus A/2; `below` does so for wrong ones. In a resample this is Hajek's
    projection (as in DeLong's variance): ranks stay those of the whole.
    """
    return np.clip(ratio(above, right) + ratio(below, wrong), 0.0, 1.0)


def kept_accuracy(right: Floats, kept: Floats) -> Floats:
    """Accuracy of the 80% most confident claims; in a resample the threshold stays that of the whole."""
    return ratio(right, kept)


def mcs(gained: Floats, paired: Floats) -> Floats:
    """Accuracy with all modalities minus accuracy without one, mean over the same questions (X-PCR)."""
    return ratio(gained, paired)


def confidence(certainty: Floats, certain: Floats) -> Floats:
    """Mean C = 1 - H/log K over valid votes (MedQ-Deg, eqs 3-5); from shares E[C_T], and C itself under `inf`."""
    return ratio(certainty, certain)


def stated_confidence(stated: Floats, stated_of: Floats) -> Floats:
    """Mean of the stated numbers (X-PCR)."""
    return ratio(stated, stated_of)


def confidence_missing(missing: Floats, voted: Floats) -> Floats:
    """Share of questions with fewer than max(2, T/2) valid votes; for verbal, of answers that state no number."""
    return ratio(missing, voted)


def vote_share(agreement: Floats, certain: Floats) -> Floats:
    """Mean share of the trials that chose the majority option; from shares, p of the top option (version `inf`).

    Over the questions with enough valid votes for a C. An unparsed trial agrees with nobody.
    """
    return ratio(agreement, certain)


def calibration_shift(shift: Floats, certain: Floats) -> Floats:
    """Mean C - accuracy on the same questions (MedQ-Deg, eq. 6); for verbal, mean stated number - accuracy.

    Its companions: vote share - majority accuracy, and C - vote share, which is the shift that a candidate
    with the same votes would have if it were right as often as its vote share says.
    """
    return ratio(shift, certain)


def dke_intra(fall: Floats, fall_of: Floats, rise: Floats, rise_of: Floats) -> Floats:
    """1 where Acc(L0) > Acc(L2) and shift(L0) <= shift(L2) (MedQ-Deg), else 0; told as a share of resamples."""
    falls, rises = ratio(fall, fall_of), ratio(rise, rise_of)
    return np.where(np.isnan(falls) | np.isnan(rises), np.nan, (falls > 0) & (rises >= 0))


def worst(all_right: Floats, of: Floats) -> Floats:
    """worst@k (ClinBench, read per question): mean C(c, k) / C(T, k); from shares, mean p(gold)^k."""
    return ratio(all_right, of)


def sensitivity(found: Floats, positive: Floats) -> Floats:
    """TP / (TP + FN) over options (ClinBench): with one answer per question this is accuracy."""
    return ratio(found, positive)


def specificity(rejected: Floats, negative: Floats) -> Floats:
    """TN / (TN + FP) over options (ClinBench): 1 - wrong choices / wrong options; an abstention rejects all."""
    return ratio(rejected, negative)


def sensitivity_by_letter(*sums: Floats) -> Floats:
    """Mean over letters of found / gold; letters that are never right are left out. Sums: found, gold."""
    found, gold = _by_letter(sums, 2)
    return mean_of_known(ratio(found, gold))


def specificity_by_letter(*sums: Floats) -> Floats:
    """Mean over letters of the share of answers, where it is wrong, that do not name it.

    Sums: found, gold, named, there.
    """
    found, gold, named, there = _by_letter(sums, 4)
    return mean_of_known(1 - ratio(named - found, there - gold))


def precision_by_letter(*sums: Floats) -> Floats:
    """Mean over letters that are ever right of found / named, 0 for a letter that is never named."""
    found, gold, named = _by_letter(sums, 3)
    return mean_of_known(np.where(gold > 0, ratio_or_zero(found, named), np.nan))


def perplexity(surprise: Floats, tokens: Floats) -> Floats:
    """ppl = exp(- sum of log-probabilities / tokens): the token-weighted mean (ClinBench, 4.4)."""
    with np.errstate(over="ignore"):
        found: Floats = np.exp(ratio(surprise, tokens))
    return found


def bits_per_byte(surprise: Floats, size: Floats) -> Floats:
    """- sum of log2-probabilities / UTF-8 bytes: comparable across tokenizers."""
    return ratio(surprise, size) / log(2)


def text_likeness(likeness: Floats, texts: Floats) -> Floats:
    """Mean ROUGE-L F1, or mean 1 - Levenshtein / longer length (ClinBench, 4.4)."""
    return ratio(likeness, texts)


def ratio_or_zero(part: Floats, whole: Floats) -> Floats:
    return np.nan_to_num(ratio(part, whole))


def mean_of_known(values: Floats) -> Floats:
    """Mean over the first axis, what is nan left out; nan where all are."""
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0).astype(float))


def _by_letter(sums: tuple[Floats, ...], kinds: int) -> list[Floats]:
    letters = len(sums) // kinds
    return [np.stack(sums[part * letters : (part + 1) * letters]) for part in range(kinds)]
