"""A bag of words over the options alone: what a guesser can learn without reading the case.

Each word has a weight; an option's score is the sum over its words; the options of a question compete by softmax
(conditional logit), fitted with an L2 penalty. Cross-validated: each fold of clusters is guessed by weights from the
others. Model, penalty and number of folds are our choice.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from wardround.core.names import content_words
from wardround.core.random import stream
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Integers

FOLDS = 5
PENALTY = 1.0
MIN_OPTIONS = 2  # that have a word; a word of one option teaches nothing
DECIMALS = 6  # of a score; smaller differences are ties


def word_table(options: Sequence[str]) -> csr_array:
    """One row for each text and one column for each word that several texts have."""
    words_by_option = [sorted(set(content_words(option))) for option in options]
    counts = Counter(word for words in words_by_option for word in words)
    columns = {word: column for column, word in enumerate(sorted(w for w in counts if counts[w] >= MIN_OPTIONS))}
    columns_by_option = [[columns[word] for word in words if word in columns] for words in words_by_option]
    starts = np.cumsum([0, *map(len, columns_by_option)])
    flat = np.array([column for row in columns_by_option for column in row], dtype=np.int64)
    return csr_array((np.ones(len(flat)), flat, starts), shape=(len(options), len(columns)))


def fit_weights(table: csr_array, starts: Integers, gold: Integers) -> Floats:
    """The weights of the words. Rows from each start on are one question's options; `gold` are rows."""
    sizes = np.diff(np.append(starts, table.shape[0]))
    transposed = table.T.tocsr()
    right = np.zeros(table.shape[0])
    right[gold] = 1.0

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = table @ weights
        scores -= np.repeat(np.maximum.reduceat(scores, starts), sizes)
        powers = np.exp(scores)
        totals = np.add.reduceat(powers, starts)
        value = np.log(totals).sum() - scores[gold].sum() + PENALTY / 2 * weights @ weights
        return float(value), transposed @ (powers / np.repeat(totals, sizes) - right) + PENALTY * weights

    weights: Floats = minimize(loss, np.zeros(table.shape[1]), jac=True, method="L-BFGS-B").x
    return weights


def assign_folds(cluster: Integers, seed: int) -> Integers:
    """The fold of each question: that of its cluster."""
    drawn: Integers = stream(seed, "folds of clusters").permutation(int(cluster.max()) + 1) % FOLDS
    return drawn[cluster]


def cross_validated_scores(
    table: csr_array, rows: Integers, starts: Integers, gold: Integers, cluster: Integers, seed: int = 0
) -> Floats:
    """A score for each offered option (`rows` of the table), by weights fitted without its fold."""
    scores = np.zeros(len(rows))
    if not table.shape[1]:
        return scores
    sizes = np.diff(np.append(starts, len(rows)))
    fold = assign_folds(cluster, seed)
    offered = table[rows]
    for held_out in range(FOLDS):
        train, test = fold != held_out, np.repeat(fold == held_out, sizes)
        if train.any() and test.any():
            weights = _fit_subset(offered, sizes, starts, gold, train)
            scores[test] = offered[np.flatnonzero(test)] @ weights
    return np.round(scores, DECIMALS)


def _fit_subset(
    offered: csr_array, sizes: Integers, starts: Integers, gold: Integers, chosen: NDArray[np.bool_]
) -> Floats:
    """The weights from the chosen questions alone."""
    rows = np.flatnonzero(np.repeat(chosen, sizes))
    new_starts = np.cumsum(sizes[chosen]) - sizes[chosen]
    return fit_weights(offered[rows], new_starts, new_starts + (gold - starts)[chosen])
