"""A bag of words over the options alone: what a guesser learns who never reads the case.

Each word has a weight; an option's score is the sum over its words; the options of a question compete by softmax
(conditional logit), fitted with an L2 penalty. Cross-validated: each fifth of the clusters is guessed by what the
others taught. Model, penalty and folds are our choice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from wardround.core.random import stream
from wardround.marking.judges.lexical_judge import content
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Whole

FOLDS = 5
PENALTY = 1.0
FEWEST = 2  # options that have a word; a word that stands in one teaches nothing
DECIMALS = 6  # of a score: what differs less is a tie


def word_table(options: Sequence[str]) -> csr_array:
    """One row for each text and one column for each word that several have."""
    words = [sorted(set(content(option))) for option in options]
    counts: dict[str, int] = {}
    for each in words:
        for word in each:
            counts[word] = counts.get(word, 0) + 1
    known = {
        word: number for number, word in enumerate(sorted(word for word, many in counts.items() if many >= FEWEST))
    }
    columns = [[known[word] for word in each if word in known] for each in words]
    starts = np.cumsum([0, *map(len, columns)])
    flat = np.array([column for each in columns for column in each], dtype=np.int64)
    return csr_array((np.ones(len(flat)), flat, starts), shape=(len(words), len(known)))


def fitted(table: csr_array, starts: Whole, gold: Whole, penalty: float = PENALTY) -> Floats:
    """The weights of the words. Rows from each start on are one question's options; `gold` are rows."""
    sizes = np.diff(np.append(starts, table.shape[0]))
    turned = table.T.tocsr()
    right = np.zeros(table.shape[0])
    right[gold] = 1.0

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = table @ weights
        scores -= np.repeat(np.maximum.reduceat(scores, starts), sizes)
        powers = np.exp(scores)
        totals = np.add.reduceat(powers, starts)
        value = np.log(totals).sum() - scores[gold].sum() + penalty / 2 * weights @ weights
        return float(value), turned @ (powers / np.repeat(totals, sizes) - right) + penalty * weights

    found: Floats = minimize(loss, np.zeros(table.shape[1]), jac=True, method="L-BFGS-B").x
    return found


def folds(cluster: Whole, seed: int) -> Whole:
    """The fifth that each question is in: that of its cluster."""
    drawn: Whole = stream(seed, "folds of clusters").permutation(int(cluster.max()) + 1) % FOLDS
    return drawn[cluster]


def cross_validated(table: csr_array, rows: Whole, starts: Whole, gold: Whole, cluster: Whole, seed: int = 0) -> Floats:
    """A score for each offered option (`rows` of the table), by weights that its cluster had no part in."""
    scores = np.zeros(len(rows))
    if not table.shape[1]:
        return scores
    sizes = np.diff(np.append(starts, len(rows)))
    fold = folds(cluster, seed)
    offered = table[rows]
    for held in range(FOLDS):
        learnt, guessed = fold != held, np.repeat(fold == held, sizes)
        if learnt.any() and guessed.any():
            weights = _taught(offered, sizes, starts, gold, learnt)
            scores[guessed] = offered[np.flatnonzero(guessed)] @ weights
    return np.round(scores, DECIMALS)


def _taught(offered: csr_array, sizes: Whole, starts: Whole, gold: Whole, learnt: NDArray[np.bool_]) -> Floats:
    taken = np.flatnonzero(np.repeat(learnt, sizes))
    begins = np.cumsum(sizes[learnt]) - sizes[learnt]
    return fitted(offered[taken], begins, begins + (gold - starts)[learnt])
