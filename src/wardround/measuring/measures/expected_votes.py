"""The expected figures of T votes, computed exactly from the probability of each option.

`shares` is a matrix (questions x options) of probabilities, rows padded with zeros; what a row lacks to 1 is
the probability of an unparsed vote (docs/statistics.md, Confidence).
"""

from math import comb, log
from typing import NamedTuple

import numpy as np
import scipy

from wardround.measuring.engine.exact import Floats


class Expected(NamedTuple):
    """Per question: the probability that enough votes are valid, and C and the share right, each times it."""

    certain: Floats
    certainty: Floats
    right: Floats


def binomial(successes: int, draws: int, chance: Floats) -> Floats:
    """Binom(successes; draws, chance), by logarithms, as many draws have more orders than a float holds."""
    pmf: Floats = np.exp(
        log(comb(draws, successes))
        + scipy.special.xlogy(successes, chance)
        + scipy.special.xlog1py(draws - successes, -chance)
    )
    return pmf


def expected_certainty(shares: Floats, options: Floats, votes: int) -> Floats:
    """E[C_T] = 1 - (1/log K) sum_i sum_{n=1..T} Binom(n; T, p_i) * (-(n/T) log(n/T)), for rows that sum to 1."""
    entropy = np.zeros(len(shares))
    for count in range(1, votes):  # n = T adds nothing: its logarithm is zero
        part = count / votes
        entropy += binomial(count, votes, shares).sum(axis=1) * (-part * np.log(part))
    certainty: Floats = 1.0 - entropy / np.log(options)
    return certainty


def certainty(shares: Floats, options: Floats) -> Floats:
    """C = 1 - H(p)/log K, for rows that sum to 1: the limit of E[C_T] (MedQ-Deg eq. 3)."""
    plogp = shares * np.log(np.where(shares > 0, shares, 1.0))
    limit: Floats = 1.0 + plogp.sum(axis=1) / np.log(options)
    return limit


def min_valid_votes(trials: int) -> float:
    """The number of valid votes that a C needs: max(2, T/2)."""
    return max(2.0, trials / 2)


def expected_votes(shares: Floats, gold: Floats, options: Floats, trials: int) -> Expected:
    """The figures of T votes of which some may be unparsed: the mean over how many are valid."""
    valid = np.minimum(shares.sum(axis=1), 1.0)
    among_valid = shares / np.where(valid > 0, valid, 1.0)[:, None]
    certain, sure, right = (np.zeros(len(shares)) for _ in range(3))
    for votes in range(int(np.ceil(min_valid_votes(trials))), trials + 1):
        chance = binomial(votes, trials, valid)
        certain += chance
        sure += chance * expected_certainty(among_valid, options, votes)
        right += chance * votes / trials
    return Expected(certain, sure, right * np.divide(gold, valid, out=np.zeros_like(gold), where=valid > 0))


def limiting_votes(shares: Floats, gold: Floats, options: Floats) -> Expected:
    """The limit for many votes: valid if at least half of the probability is on options."""
    valid = shares.sum(axis=1)
    certain = (valid >= 0.5).astype(np.float64)
    among_valid = shares / np.where(valid > 0, valid, 1.0)[:, None]
    return Expected(certain, certain * certainty(among_valid, options), certain * gold)


def top_right(shares: Floats, gold: Floats) -> Floats:
    """Whether the most probable option is the right one, ties split evenly."""
    top = shares.max(axis=1)
    ties = (shares == top[:, None]).sum(axis=1)
    return np.where((top > 0) & (gold == top), 1.0 / ties, 0.0)
