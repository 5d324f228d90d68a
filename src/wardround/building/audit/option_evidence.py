"""What the options of one question say about another: families of options, and evidence learnt from other clusters."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from wardround.building.audit.bag_of_words import DECIMALS
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Integers, sum_by_index

PRIOR_WEIGHT = (
    1.0  # of how often a text stands beside an option at all, in how often it does if that is right, or wrong
)
USUAL = 0.5  # a text that more of a name's questions offer belongs to no family: `none of these` would join them all


def option_families(names: Integers, sizes: Integers, texts: Integers) -> Integers:
    """The family of each question's options: texts are of one family if questions of one name offer them together.

    `names` and `sizes` are those of the questions, `texts` of all their options. 0: only texts that are usual.
    """
    name = np.repeat(names, sizes)
    _, node = np.unique(name * (int(texts.max()) + 1) + texts, return_inverse=True)
    questions_of_name = np.bincount(names)
    offers = np.bincount(node)
    is_usual = offers[node] > USUAL * questions_of_name[name]
    question = np.repeat(np.arange(len(sizes)), sizes)
    first = np.full(len(sizes), -1)
    telling = np.flatnonzero(~is_usual)[::-1]
    first[question[telling]] = node[telling]  # the last to be written is the first of each question
    edges = (first[question[telling]], node[telling])
    graph = csr_array((np.ones(len(telling)), edges), shape=(len(offers), len(offers)))
    _, family = connected_components(graph, directed=False)
    return np.where(first >= 0, 1 + family[first], 0)


def evidence_for_options(
    row: Integers, companion: Integers, option: Integers, is_right: NDArray[np.bool_], cluster: Integers
) -> Floats:
    """For each option the log-likelihood ratio of what stands beside it, if it is right rather than wrong.

    `option`, `is_right` and `cluster` have one row for each option that is offered; `row` and `companion` pair these
    rows with what stands beside them. Frequencies are those of other clusters.
    """
    _, joint = np.unique(option[row] * (int(companion.max()) + 1) + companion, return_inverse=True)
    offers, together = _elsewhere(option, cluster, is_right), _elsewhere(joint, cluster[row], is_right[row])
    usual = _ratio(together(None), offers(None)[row])
    right, wrong = (
        (together(flag) + PRIOR_WEIGHT * usual) / (offers(flag)[row] + PRIOR_WEIGHT) for flag in (True, False)
    )
    known = (right > 0) & (wrong > 0)
    ratio = np.log(np.divide(right, wrong, where=known, out=np.ones(len(right))))
    return np.round(np.bincount(row, ratio, len(option)), DECIMALS)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, where=whole > 0, out=np.zeros(len(part)))


def _elsewhere(keys: Integers, cluster: Integers, is_right: NDArray[np.bool_]) -> Callable[[bool | None], Floats]:
    """A function that counts the rows with each row's key in other clusters: right ones, wrong ones or (None) all."""
    _, key = np.unique(keys, return_inverse=True)
    _, own = np.unique(key * (int(cluster.max()) + 1) + cluster, return_inverse=True)

    def count(right: bool | None) -> Floats:
        ones = np.ones(len(key)) if right is None else (is_right == right).astype(np.float64)
        everywhere, here = (sum_by_index(index, ones, int(index.max()) + 1)[index] for index in (key, own))
        return everywhere - here

    return count
