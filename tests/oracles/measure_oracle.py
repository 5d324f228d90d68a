"""Measures from their definitions, one answer at a time. Nothing here is clever or shared with the code."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, exp, log, log2, sqrt

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    cohen_kappa_score,
    ndcg_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

NAMES = """
accuracy accuracy_parsed accuracy@80 majority_accuracy parsers_differ unparsed refused unscored hit@k worst@k coverage
grounded evidence_based_correct evidence_misled knowledge_based_correct hallucination recall@k precision@k mrr ndcg@k
map swa ccr esa uas ece brier auroc mcs confidence confidence_missing vote_share calibration_shift dke_intra dke_inter
aurc coverage@risk10 harm net_benefit@k sensitivity specificity precision_by_letter ppl bits_per_byte rouge_l eds
kappa rubric_score rubric_score_unclipped rubric_axis
"""
Claim = tuple[float, bool]  # confidence, right


def ece(claims: Sequence[Claim], bins: int = 10) -> float:
    """Right-closed bins, the first with 0."""
    inside: dict[int, list[Claim]] = {}
    for confidence, right in claims:
        place = max(1, ceil(Fraction(repr(confidence)) * bins))
        inside.setdefault(place, []).append((confidence, right))
    gaps = (abs(sum(c for c, _ in part) - sum(r for _, r in part)) for part in inside.values())
    return sum(gaps) / len(claims)


def brier(claims: Sequence[Claim]) -> float:
    return float(brier_score_loss([right for _, right in claims], [confidence for confidence, _ in claims]))


def auroc(claims: Sequence[Claim]) -> float:
    return float(roc_auc_score([right for _, right in claims], [confidence for confidence, _ in claims]))


def kept_accuracy(claims: Sequence[Claim], share: float) -> float:
    """Mean over all orders of ties: the claims at the limit count by their mean."""
    budget, kept, right = share * len(claims), 0.0, 0.0
    for level in sorted({confidence for confidence, _ in claims}, reverse=True):
        tied = [r for confidence, r in claims if confidence == level]
        part = min(1.0, max(0.0, (budget - kept) / len(tied)))
        kept += part * len(tied)
        right += part * sum(tied)
    return right / kept


def aurc(claims: Sequence[Claim]) -> float:
    """The mean over k of the share wrong among the k most confident; ties in proportion."""
    risks, errors, levels = [], 0.0, sorted({confidence for confidence, _ in claims}, reverse=True)
    for level in levels:
        tied = [not right for confidence, right in claims if confidence == level]
        for place in range(1, len(tied) + 1):
            risks.append((errors + sum(tied) * place / len(tied)) / (len(risks) + 1))
        errors += sum(tied)
    return sum(risks) / len(risks)


def net_benefit(questions: Sequence[tuple[Sequence[int | None], int]], threshold: Fraction) -> float:
    """The options chosen in all trials of each question, and its gold."""
    total = Fraction(0)
    for chosen, gold in questions:
        named = {option for option in chosen if option is not None}
        acted_on = {option for option in named if chosen.count(option) >= threshold * len(chosen)}
        total += (gold in acted_on) - len(acted_on - {gold}) * threshold / (1 - threshold)
    return float(total / len(questions))


def coverage_at_risk(claims: Sequence[Claim], risk: Fraction) -> float:
    """The largest share of claims at or above a confidence of which at most `risk` are wrong."""
    coverages = [0.0]
    for level in {confidence for confidence, _ in claims}:
        let_through = [right for confidence, right in claims if confidence >= level]
        if Fraction(let_through.count(False), len(let_through)) <= risk:
            coverages.append(len(let_through) / len(claims))
    return max(coverages)


def uas(answers: Sequence[tuple[float | None, bool, str | None, float]]) -> float:
    """Confidence, right, grade, importance (scaled)."""
    total = weights = 0.0
    for confidence, right, grade, importance in answers:
        weight = {"R": 1.0, "A": 1.25, "S": 1.4, None: 1.0}[grade] * importance
        wrong = -0.2 * min(5.0, max(1.0, importance))
        tau = (0.2 - wrong) / (0.4 + 0.2 - wrong)
        sure = confidence is None or confidence >= tau
        score = (1.0 if sure else 0.6) if right else (wrong if sure else 0.2)
        total, weights = total + weight * score, weights + weight
    return total / weights


def worst(ballots: Sequence[Sequence[bool]], k: int) -> float:
    """The share of all k-subsets of the answers that are all right, by listing them."""
    shares = []
    for ballot in ballots:
        chosen = list(combinations(ballot, k))
        shares.append(sum(all(part) for part in chosen) / len(chosen))
    return sum(shares) / len(shares)


def options_as_tests(answers: Sequence[tuple[int | None, int, int]]) -> dict[str, float]:
    """Chosen option, gold, number of options: sensitivity and specificity, pooled and by letter."""
    cells = [
        (letter, letter == gold, letter == chosen) for chosen, gold, options in answers for letter in range(options)
    ]
    truth, said = [c[1] for c in cells], [c[2] for c in cells]
    golds = sorted({gold for _, gold, _ in answers})
    most = max(options for _, _, options in answers)
    by_letter = [[(t, s) for at, t, s in cells if at == letter] for letter in range(most)]
    rejected = [[not s for t, s in part if not t] for part in by_letter]
    labels = {"labels": golds, "average": "macro", "zero_division": 0}
    flat = [(-1 if chosen is None else chosen) for chosen, _, _ in answers]
    return {
        "sensitivity": float(recall_score(truth, said)),
        "specificity": float(recall_score(truth, said, pos_label=False)),
        "sensitivity macro": float(recall_score([g for _, g, _ in answers], flat, **labels)),
        "specificity macro": float(np.mean([np.mean(part) for part in rejected if part])),
        "precision macro": float(precision_score([g for _, g, _ in answers], flat, **labels)),
    }


def retrieval(ranks: Sequence[int], relevant: int, k: int, depth: int = 60) -> dict[str, float]:
    """One search, as a list of documents at ranks 1 to `depth`; relevant ones that were not found come after all."""
    values = np.zeros(depth + relevant)
    values[[rank - 1 for rank in ranks]] = 1
    missing = relevant - len(ranks)
    values[len(values) - missing :] = 1
    scores = -np.arange(len(values), dtype=float)
    top = values[:k]
    ap = sum(values[:rank].sum() / rank for rank in ranks) / relevant
    if not missing:
        assert abs(ap - average_precision_score(values, scores)) < 1e-12
    return {
        "recall": top.sum() / relevant,
        "precision": top.sum() / k,
        "ndcg": float(ndcg_score([values], [scores], k=k)) if k < depth else sum(1 / log2(r + 1) for r in ranks),
        "mrr": 1 / min(ranks) if ranks else 0.0,
        "map": ap,
    }


def kappa(judge: Sequence[bool], reader: Sequence[bool]) -> float:
    return float(cohen_kappa_score(judge, reader))


def perplexity(texts: Sequence[tuple[float, int]]) -> float:
    """Log-probability and tokens of each text."""
    return exp(-sum(logprob for logprob, _ in texts) / sum(tokens for _, tokens in texts))


def bits_per_byte(texts: Sequence[tuple[float, int]]) -> float:
    return -sum(logprob for logprob, _ in texts) / log(2) / sum(size for _, size in texts)


def dke_share(accuracy: Sequence[float], shift: Sequence[float]) -> float:
    pairs = [(a, b) for a, b in combinations(range(len(accuracy)), 2) if accuracy[a] != accuracy[b]]
    weaker = [(a, b) if accuracy[a] < accuracy[b] else (b, a) for a, b in pairs]
    return sum(shift[weak] > shift[strong] for weak, strong in weaker) / len(pairs)


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float:
    return float(spearmanr(a, b).statistic)


def expected_plug_in(confidences: np.ndarray, draws: int, seed: int) -> float:
    """Mean plug-in ECE of a calibrated respondent with these confidences, by simulation."""
    random = np.random.default_rng(seed)
    place = np.clip(np.ceil(confidences * 10), 1, 10).astype(int)
    right = random.random((draws, len(confidences))) < confidences
    gaps = [np.abs((right - confidences)[:, place == b].sum(axis=1)) for b in range(1, 11)]
    return float(np.sum(gaps, axis=0).mean() / len(confidences))


def standard_deviation(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def rubric_score(rubrics: Sequence[Sequence[tuple[float, bool]]]) -> tuple[float, float]:
    """HealthBench's score, clipped and not, of answers with (points, met) for each criterion; exact fractions."""
    scores = []
    for criteria in rubrics:
        possible = sum(Fraction(points) for points, _ in criteria if points > 0)
        scores.append(sum(Fraction(points) for points, met in criteria if met) / possible)
    mean = sum(scores, Fraction(0)) / len(scores)
    return float(min(Fraction(1), max(Fraction(0), mean))), float(mean)
