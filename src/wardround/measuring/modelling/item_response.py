"""A logistic model with crossed effects: the ability of each candidate and the difficulty of each question.

log odds of a right answer = ability of the candidate + easiness of the question, the latter normal with mean 0 (the
Rasch model with random questions). Abilities and the spread of easiness maximise the marginal likelihood, in which
the easiness is integrated out on a grid. Their variance is a sandwich over clusters, so that questions of one case,
which may be hard together, do not count as independent.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.sums import Integers

NODES = np.linspace(-6.0, 6.0, 161)  # in standard deviations; the trapezoid rule is exact enough for smooth densities
LOG_WEIGHTS = -(NODES**2) / 2 - np.log(np.exp(-(NODES**2) / 2).sum())
STEP = 1e-4  # of the differences that the Hessian is made of
MAX_LOG_SPREAD = 3.0  # an easiness beyond exp(3) = 20 has no meaning


@dataclass(frozen=True)
class ItemResponseFit:
    """Abilities and the spread of easiness with their intervals; of each question its easiness and information."""

    abilities: Floats
    ability_low: Floats
    ability_high: Floats
    spread: float
    spread_low: float
    spread_high: float
    easiness: Floats  # mean of each question's easiness, if the model holds
    easiness_error: Floats  # its standard deviation
    information: Floats  # of one answer to each question, at the mean ability
    test_information: Floats  # of one answer to every question, at each ability
    log_likelihood: float


def fit_item_response(right: Floats, answers: Floats, cluster: Integers, alpha: float = 0.05) -> ItemResponseFit:
    """The fit to right answers and answers (questions x candidates; 0 answers: not asked). Clusters are numbered.

    Every candidate must have been right and wrong at least once.
    """
    candidates = right.shape[1]
    patterns, pattern, counts = np.unique(np.hstack([right, answers]), axis=0, return_inverse=True, return_counts=True)
    distinct_right, distinct_answers = np.hsplit(patterns, 2)
    share = right.sum(axis=0) / answers.sum(axis=0)
    start = np.append(np.log(share / (1 - share)), 0.0)
    bounds = [(-20.0, 20.0)] * candidates + [(-6.0, MAX_LOG_SPREAD)]

    def objective(parameters: Floats) -> tuple[float, Floats]:
        likelihoods, scores, _ = _posterior(parameters, distinct_right, distinct_answers)
        return -float(counts @ likelihoods), -(counts @ scores)

    optimum = scipy.optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"gtol": 1e-6}
    ).x
    # per pattern too: a hundred thousand questions by 161 nodes would take gigabytes
    likelihoods, scores, weights = _posterior(optimum, distinct_right, distinct_answers)
    hessian = _hessian(lambda parameters: objective(parameters)[1], optimum)
    error = np.sqrt(np.diag(_sandwich(hessian, scores[pattern], cluster)))
    reach = -float(scipy.special.stdtrit(len(np.unique(cluster)) - 1, alpha / 2)) * error
    abilities, spread = optimum[:-1], float(np.exp(optimum[-1]))
    easiness = weights @ (spread * NODES)
    variance = weights @ (spread * NODES) ** 2 - easiness**2
    at_abilities = [_information(ability, spread) for ability in (float(abilities.mean()), *abilities)]
    return ItemResponseFit(
        *(abilities, abilities - reach[:-1], abilities + reach[:-1]),
        *(spread, spread * float(np.exp(-reach[-1])), spread * float(np.exp(reach[-1]))),
        *(easiness[pattern], np.sqrt(np.maximum(variance, 0.0))[pattern], (weights @ at_abilities[0])[pattern]),
        np.array([float((weights @ information)[pattern].sum()) for information in at_abilities[1:]]),
        float(likelihoods[pattern].sum()),
    )


def _posterior(parameters: Floats, right: Floats, answers: Floats) -> tuple[Floats, Floats, Floats]:
    """The log-likelihood and the score of each question, and the weight of each node given its answers."""
    abilities, spread = parameters[:-1], np.exp(parameters[-1])
    odds = abilities[:, None] + spread * NODES
    log_joint = right @ scipy.special.log_expit(odds) + (answers - right) @ scipy.special.log_expit(-odds) + LOG_WEIGHTS
    log_marginal = scipy.special.logsumexp(log_joint, axis=1, keepdims=True)
    weights: Floats = np.exp(log_joint - log_marginal)
    chance = scipy.special.expit(odds)
    by_ability = right - answers * (weights @ chance.T)
    surplus = (right.sum(axis=1)[:, None] - answers @ chance) * NODES * spread
    by_spread = (weights * surplus).sum(axis=1)
    return log_marginal[:, 0], np.column_stack([by_ability, by_spread]), weights


def _hessian(gradient: Callable[[Floats], Floats], optimum: Floats) -> Floats:
    """By central differences of the gradient."""
    steps = STEP * np.eye(len(optimum))
    rows = np.stack([(gradient(optimum + step) - gradient(optimum - step)) / (2 * STEP) for step in steps])
    hessian: Floats = (rows + rows.T) / 2
    return hessian


def _sandwich(hessian: Floats, scores: Floats, cluster: Integers) -> Floats:
    """H^-1 (sum of squared scores of clusters) H^-1, times C / (C - 1)."""
    _, number = np.unique(cluster, return_inverse=True)
    count = int(number.max()) + 1
    by_cluster = np.stack([np.bincount(number, column, minlength=count) for column in scores.T], axis=1)
    inverse = np.linalg.pinv(hessian)
    variance: Floats = inverse @ (by_cluster.T @ by_cluster) @ inverse * count / (count - 1)
    return variance


def _information(ability: float, spread: float) -> Floats:
    """Fisher's information about an ability in one answer, at each node."""
    chance = scipy.special.expit(ability + spread * NODES)
    information: Floats = chance * (1 - chance)
    return information
