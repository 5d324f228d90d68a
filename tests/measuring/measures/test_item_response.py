"""The item-response model: an independent implementation, numerical integration, and planted parameters."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from made_marks import made_study, mark, random_marks
from scipy import integrate, stats
from scipy.special import expit

from wardround.measuring.modelling.abilities import fit_abilities
from wardround.measuring.modelling.item_response import fit_item_response


def drawn(seed: int, abilities: tuple[float, ...], questions: int, spread: float) -> np.ndarray:
    random = np.random.default_rng(seed)
    easiness = random.normal(0, spread, questions)
    return (random.random((questions, len(abilities))) < expit(np.array(abilities) + easiness[:, None])).astype(float)


def test_it_agrees_with_girth() -> None:
    """girth 0.8.0, onepl_mml with 61 nodes; its items are our candidates: discrimination, and minus it x difficulty."""
    right = drawn(20, (-1.0, 0.0, 0.6, 1.4), 400, 1.2)
    fit = fit_item_response(right, np.ones_like(right), np.arange(400))

    assert fit.spread == pytest.approx(1.11139584, abs=1e-4)
    assert fit.abilities == pytest.approx([-1.05296468, -0.2006592, 0.40363843, 1.29522514], abs=0.0025)


def test_the_likelihood_is_that_of_numerical_integration() -> None:
    """By adaptive quadrature, question by question; unequal numbers of trials, and one question not asked of one."""
    right = np.array([[0.0, 0, 1], [0, 1, 1], [1, 0, 2], [3, 2, 2], [3, 1, 3]])
    answers = np.array([[3.0, 2, 3], [3, 2, 3], [3, 0, 3], [3, 2, 3], [3, 2, 3]])
    fit = fit_item_response(right, answers, np.arange(5))
    assert fit.spread > 0.5

    def density(easiness: float, row: int) -> float:
        odds = fit.abilities + easiness
        chances = expit(odds) ** right[row] * expit(-odds) ** (answers[row] - right[row])
        return float(chances.prod() * stats.norm.pdf(easiness, 0, fit.spread))

    integrals = [integrate.quad(density, -12, 12, args=(row,), epsabs=1e-13, limit=400)[0] for row in range(5)]
    assert fit.log_likelihood == pytest.approx(np.log(integrals).sum(), abs=1e-7)


def test_nothing_nearby_is_more_likely() -> None:
    right = drawn(3, (-0.5, 0.5, 1.0), 60, 1.0)
    ones = np.ones_like(right)
    fit = fit_item_response(right, ones, np.arange(60))
    nodes = np.linspace(-30, 30, 12001)

    def likelihood(abilities: np.ndarray, spread: float) -> float:
        odds = abilities[:, None] + nodes
        by_node = np.exp(right @ np.log(expit(odds)) + (1 - right) @ np.log(expit(-odds)))
        return float(np.log(by_node @ (stats.norm.pdf(nodes, 0, spread) * (nodes[1] - nodes[0]))).sum())

    best = likelihood(fit.abilities, fit.spread)
    assert best == pytest.approx(fit.log_likelihood, abs=1e-6)
    for place in range(3):
        step = 0.02 * np.eye(3)[place]
        assert max(likelihood(fit.abilities + step, fit.spread), likelihood(fit.abilities - step, fit.spread)) < best
    assert max(likelihood(fit.abilities, fit.spread + 0.02), likelihood(fit.abilities, fit.spread - 0.02)) < best


@pytest.mark.slow
def test_planted_parameters_are_recovered_and_covered() -> None:
    truth, samples = np.array([-1.0, 0.0, 1.5]), 80
    fits = [
        fit_item_response(y, np.ones_like(y), np.arange(150))
        for y in (drawn(s, tuple(truth), 150, 1.0) for s in range(samples))
    ]
    inside = [(fit.ability_low <= truth) & (truth <= fit.ability_high) for fit in fits]

    assert np.mean([fit.abilities for fit in fits], axis=0) == pytest.approx(truth, abs=0.1)
    assert np.mean([fit.spread for fit in fits]) == pytest.approx(1.0, abs=0.12)
    assert np.mean(inside) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / samples)


def test_questions_of_one_case_widen_the_interval() -> None:
    """Every question three times: as own cases, and as one case."""
    right = np.repeat(drawn(5, (-0.5, 0.3, 1.0), 80, 1.0), 3, axis=0)
    alone = fit_item_response(right, np.ones_like(right), np.arange(240))
    together = fit_item_response(right, np.ones_like(right), np.repeat(np.arange(80), 3))

    widths = [fit.ability_high - fit.ability_low for fit in (alone, together)]
    assert widths[1] / widths[0] == pytest.approx(np.sqrt(3), rel=0.05)


def test_easy_questions_tell_little_of_able_candidates() -> None:
    right = np.vstack([drawn(6, (0.0, 1.0, 2.0), 60, 0.5), np.ones((20, 3))])
    fit = fit_item_response(right, np.ones_like(right), np.arange(80))

    assert fit.easiness[60:].min() >= fit.easiness[:60].max() - 1e-9
    assert fit.information[60:].max() <= fit.information[:60].max()
    assert (np.diff(fit.test_information) < 0).all()  # the abler, the less these easy questions tell


def test_abilities_of_marks_are_of_the_candidates_that_have_one() -> None:
    marks = pl.concat(
        [random_marks(1, {"a": 0.4, "b": 0.6, "c": 0.8}, 60), random_marks(1, {"d": 2.0}, 60).filter(outcome="right")]
    )
    fitted = fit_abilities(marks.lazy(), made_study("a", "b", "c", "d"))

    assert fitted is not None
    assert (fitted.candidates, fitted.left_out) == (["a", "b", "c"], ["d"])
    assert (np.diff(fitted.fit.abilities) > 0).all()
    assert fitted.items["easiness"].is_sorted()
    assert len(fitted.items) == 60


def test_two_candidates_or_few_cases_have_no_model() -> None:
    few = pl.DataFrame(
        [mark(case, "right" if case % 2 else "wrong", candidate=name) for case in range(7) for name in "abc"]
    )

    assert fit_abilities(random_marks(1, {"a": 0.4, "b": 0.6}, 60).lazy(), made_study("a", "b")) is None
    assert fit_abilities(few.lazy(), made_study("a", "b", "c")) is None
