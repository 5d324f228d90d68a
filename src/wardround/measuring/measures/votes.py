"""Votes: sums over T answers to one choice question."""

from math import comb, log

import numpy as np

from wardround.measuring.engine.exact import Floats, exact
from wardround.measuring.engine.item_sums import ItemMarks
from wardround.measuring.measures.expected_votes import min_valid_votes
from wardround.measuring.measures.formulas import ratio_or_zero

THRESHOLDS = (5, 10, 20, 30, 50)  # percent, of decision curves
WORST = (1, 2, 4, 8, 16)


def count_votes(marks: ItemMarks) -> Floats:
    """The number of votes for each option (items x options, in the case's own order)."""
    options = int(np.nan_to_num(marks.per_item("k")).max(initial=1.0))
    return marks.counts("option", marks.flags("open"), options)


def vote_sums(marks: ItemMarks, votes: Floats, outcomes: dict[str, Floats], trials: int) -> dict[str, Floats]:
    """Majority, agreement and C of every choice with T > 1 trials. `outcomes` are the sums of outcomes."""
    if trials < 2:
        return {}
    answers, right = outcomes["answers"], outcomes["right"]
    choice, verbal, k = outcomes["choice"] > 0, outcomes["verbal"] > 0, marks.per_item("k")
    valid, top = votes.sum(axis=1), votes.max(axis=1)
    ties = (votes == top[:, None]).sum(axis=1)
    has_enough = choice & (valid >= min_valid_votes(trials))
    voted = choice & ~verbal & ~np.isnan(k)
    certain = has_enough & voted
    majority = np.where(choice & (gold_votes(votes, marks.per_item("gold")) == top) & (top > 0), exact(1.0 / ties), 0.0)
    agreement = np.where(has_enough, exact(ratio_or_zero(top, answers)), 0.0)
    accuracy = exact(ratio_or_zero(right, answers))
    certainty = np.where(certain, vote_certainty(votes, k), 0.0)
    with_invalid = np.column_stack([votes, np.where(choice, answers - valid, 0.0)])
    certainty_all = np.where(voted & (answers > 0), vote_certainty(with_invalid, k), 0.0)
    over_all = vote_certainty(votes, k, answers)
    counts = answers > 0  # refused answers that are left out may leave none
    return {
        "elected": choice.astype(float),
        "elected_of": (choice & counts).astype(float),
        "voted": voted.astype(float),
        "voted_of": (voted & counts).astype(float),
        "majority": majority,
        "agreement": agreement,
        "agreement_of": has_enough.astype(float),
        "certain": certain.astype(float),
        "counted": certain.astype(float),
        "claims_certain": certain.astype(float),
        "certainty": certainty,
        "shift": certain * (certainty - accuracy),
        "missing": (voted & ~certain & counts).astype(float),
        "share_shift": certain * (agreement - majority),
        "calibrated_shift": certain * (certainty - agreement),
        "certainty_all": certainty_all,
        "shift_all": (voted & counts) * (certainty_all - accuracy),
        "certain_all": (voted & counts).astype(float),
        "certainty_printed": (voted & counts) * over_all,
        "shift_printed": (voted & counts) * (over_all - accuracy),
        "items_printed": (voted & counts).astype(float),
    }


def vote_certainty(votes: Floats, options: Floats, answers: Floats | None = None) -> Floats:
    """C = 1 - H/log K of each row of votes, at least 0 (MedQ-Deg eq. 3); 1 for a row without votes.

    Shares are of the votes or, as the equation has it, of all `answers`: those that name no option are in no share.
    """
    max_votes = int(votes.max(initial=1.0))
    nlogn = np.array([0.0, *(n * log(n) for n in range(1, max_votes + 1))])[votes.astype(np.int64)].sum(axis=1)
    valid = votes.sum(axis=1)
    total = np.maximum(valid if answers is None else answers, 1.0)
    entropy = (np.log(total) if answers is None else valid / total * np.log(total)) - nlogn / total
    limit = np.log(np.where(options > 1, options, 2.0))
    return exact(np.clip(1.0 - entropy / limit, 0.0, 1.0))


def gold_votes(votes: Floats, gold: Floats) -> Floats:
    """The votes for the right option of each item; -1 if it is unknown."""
    if not votes.shape[1]:  # no item has options that were voted on
        return np.full(len(votes), -1.0)
    known = ~np.isnan(gold)
    gold_count = votes[np.arange(len(votes)), np.where(known, gold, 0).astype(np.int64)]
    return np.where(known, gold_count, -1.0)


def worst_sums(outcomes: dict[str, Floats], trials: int) -> dict[str, Floats]:
    """worst@k = C(c, k) / C(T, k) for c right of T answers: the unbiased estimate that k answers are all right."""
    sums = {}
    c, answers = outcomes["right"].astype(np.int64), outcomes["answers"].astype(np.int64)
    for k in (k for k in WORST if k <= trials):
        ways = np.array([float(comb(n, k)) for n in range(int(answers.max(initial=0)) + 1)])
        counts = (outcomes["choice"] > 0) & (answers >= k)
        sums[f"worst@{k}"] = np.where(counts, exact(ways[c] / np.maximum(ways[answers], 1.0)), 0.0)
        sums[f"worst@{k}_of"] = counts.astype(float)
    return sums


def option_sums(named: Floats, gold: Floats, options: Floats, right: Floats, answers: Floats) -> dict[str, Floats]:
    """Each option of each answer as a yes/no test (ClinBench): pooled, and by letter in the case's own order.

    An abstention rejects all options. `named` is the number of answers with each option.
    """
    known = ~np.isnan(gold) & ~np.isnan(options)
    answers, right, k = np.where(known, answers, 0.0), np.where(known, right, 0.0), np.where(known, options, 1.0)
    wrong = np.where(known, named.sum(axis=1), 0.0) - right
    sums = {
        "true_positive": right,
        "positive": answers,
        "true_negative": answers * (k - 1) - wrong,
        "negative": answers * (k - 1),
    }
    for letter in range(named.shape[1]):
        is_gold = gold == letter
        sums |= {
            f"gold:{letter}": answers * is_gold,
            f"found:{letter}": right * is_gold,
            f"named:{letter}": np.where(known, named[:, letter], 0.0),
            f"there:{letter}": answers * (k > letter),
        }
    return sums | net_benefit_sums(named, gold, answers)


def net_benefit_sums(named: Floats, gold: Floats, answers: Floats) -> dict[str, Floats]:
    """The net benefit of acting on every option whose share of the answers reaches a threshold, per question.

    Acting on the right option counts 1, on each wrong one minus the odds of the threshold.
    """
    counts = answers > 0
    share = np.divide(named, answers[:, None], out=np.zeros_like(named), where=counts[:, None])
    of_gold = gold_votes(share, gold)
    sums = {"benefit_of": counts.astype(float)}
    for percent in THRESHOLDS:
        reached = percent / 100 - 1e-9  # a share of a tenth reaches 10%
        acted = (of_gold >= reached) & counts
        mistaken = (share >= reached).sum(axis=1) - acted
        sums[f"benefit@{percent}"] = counts * exact(acted - percent / (100 - percent) * mistaken)
    return sums
