"""Votes: what T answers to one choice question say together."""

from __future__ import annotations

from math import comb, log

import numpy as np

from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.item_sums import Marked
from wardround.measuring.measures.expected_votes import enough

WORST = (1, 2, 4, 8, 16)


def ballots(marks: Marked) -> Floats:
    """How often each option of each choice was chosen (items x options, in the case's own order)."""
    option = marks.floats("option")
    told = ~np.isnan(option) & ~marks.flags("open")
    chosen = option[told].astype(np.int64)
    options = np.nan_to_num(np.concatenate([marks.once("k"), chosen + 1.0, [1.0]])).max()
    place = marks.item[told] * int(options) + chosen
    return np.bincount(place, minlength=marks.size * int(options)).reshape(marks.size, int(options)).astype(float)


def vote_sums(marks: Marked, votes: Floats, told: dict[str, Floats], trials: int) -> dict[str, Floats]:
    """Majority, agreement and C of every choice with T > 1 trials. `told` are the sums of outcomes."""
    if trials < 2:
        return {}
    answers, right = told["answers"], told["right"]
    choice, verbal, k = told["choice"] > 0, told["verbal"] > 0, marks.once("k")
    valid, top = votes.sum(axis=1), votes.max(axis=1)
    ties = (votes == top[:, None]).sum(axis=1)
    settled = choice & (valid >= enough(trials))
    voted = choice & ~verbal & ~np.isnan(k)
    certain = settled & voted
    majority = np.where(choice & (of_gold(votes, marks.once("gold")) == top) & (top > 0), exact(1.0 / ties), 0.0)
    agreement = np.where(settled, exact(np.divide(top, answers, out=np.zeros_like(top), where=answers > 0)), 0.0)
    accuracy = exact(np.divide(right, answers, out=np.zeros_like(right), where=answers > 0))
    certainty = np.where(certain, certainty_of(votes, k), 0.0)
    with_invalid = np.column_stack([votes, np.where(choice, answers - valid, 0.0)])
    certainty_all = np.where(voted & (answers > 0), certainty_of(with_invalid, k), 0.0)
    return {
        "elected": choice.astype(float),
        "voted": voted.astype(float),
        "majority": majority,
        "agreement": agreement,
        "agreement_of": settled.astype(float),
        "certain": certain.astype(float),
        "counted": certain.astype(float),
        "claims_certain": certain.astype(float),
        "certainty": certainty,
        "shift": certain * (certainty - accuracy),
        "missing": (voted & ~certain).astype(float),
        "share_shift": certain * (agreement - majority),
        "calibrated_shift": certain * (certainty - agreement),
        "certainty_all": certainty_all,
        "shift_all": (voted & (answers > 0)) * (certainty_all - accuracy),
        "certain_all": (voted & (answers > 0)).astype(float),
    }


def certainty_of(votes: Floats, options: Floats) -> Floats:
    """C = 1 - H/log K of each row of votes, at least 0 (MedQ-Deg, eqs 3-4); 1 for a row without votes."""
    most = int(votes.max(initial=1.0))
    nlogn = np.array([0.0, *(n * log(n) for n in range(1, most + 1))])[votes.astype(np.int64)].sum(axis=1)
    total = np.maximum(votes.sum(axis=1), 1.0)
    entropy = np.log(total) - nlogn / total
    limit = np.log(np.where(options > 1, options, 2.0))
    return exact(np.clip(1.0 - entropy / limit, 0.0, 1.0))


def of_gold(votes: Floats, gold: Floats) -> Floats:
    """What the right option of each item got; -1 where there is none."""
    known = ~np.isnan(gold)
    found = votes[np.arange(len(votes)), np.where(known, gold, 0).astype(np.int64)]
    return np.where(known, found, -1.0)


def worst_sums(told: dict[str, Floats], trials: int) -> dict[str, Floats]:
    """worst@k = C(c, k) / C(T, k) for c right of T answers: the unbiased chance that k answers are all right."""
    found = {}
    c, answers, choice = told["right"].astype(np.int64), told["answers"].astype(np.int64), told["choice"] > 0
    for k in (k for k in WORST if k <= trials):
        ways = np.array([float(comb(n, k)) for n in range(int(answers.max(initial=0)) + 1)])
        counts = choice & (answers >= k)
        found[f"worst@{k}"] = np.where(counts, exact(ways[c] / np.maximum(ways[answers], 1.0)), 0.0)
        found[f"worst@{k}_of"] = counts.astype(float)
    return found


def option_sums(named: Floats, gold: Floats, options: Floats, right: Floats, answers: Floats) -> dict[str, Floats]:
    """Each option of each answer as a yes/no test (ClinBench): pooled, and by letter in the case's own order.

    An abstention rejects all options. `named` says how often each option was chosen.
    """
    known = ~np.isnan(gold) & ~np.isnan(options)
    answers, right, k = np.where(known, answers, 0.0), np.where(known, right, 0.0), np.where(known, options, 1.0)
    wrong = np.where(known, named.sum(axis=1), 0.0) - right
    found = {
        "true_positive": right,
        "positive": answers,
        "true_negative": answers * (k - 1) - wrong,
        "negative": answers * (k - 1),
    }
    for letter in range(named.shape[1]):
        is_gold = gold == letter
        found |= {
            f"gold:{letter}": answers * is_gold,
            f"found:{letter}": right * is_gold,
            f"named:{letter}": np.where(known, named[:, letter], 0.0),
            f"there:{letter}": answers * (k > letter),
        }
    return found
