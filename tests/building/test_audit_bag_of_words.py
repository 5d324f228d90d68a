"""The bag of words compared with scikit-learn, and guessers on sets without any shortcut."""

from __future__ import annotations

import numpy as np
import pytest
from building.audit_set import clean_cases
from sklearn.linear_model import LogisticRegression

from wardround.building.audit.bag_of_words import cross_validated_scores, fit_weights, word_table
from wardround.building.audit.shortcuts import OfferedOptions, drop_useless_learning, measure_shortcuts
from wardround.core.case import Case


def test_words_of_one_option_alone_are_left_out():
    table = word_table(["Acute gout", "acute lupus", "the gouts"]).toarray()
    assert table.tolist() == [[1, 1], [1, 0], [0, 1]]  # acute, gout


def test_with_two_options_it_is_logistic_regression_on_their_difference():
    random = np.random.default_rng(4)
    words = [f"w{number}" for number in range(12)]
    options = [" ".join(random.choice(words, 4, replace=False)) for _ in range(400)]
    table = word_table(options)
    starts = np.arange(0, 400, 2)
    gold = starts + random.integers(0, 2, 200)
    apart = table.toarray()[gold] - table.toarray()[2 * starts + 1 - gold]
    oracle = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=10_000)
    both = np.concatenate([apart, -apart])  # each pair once either way, each half as heavy
    oracle.fit(both, np.repeat([1, 0], 200), sample_weight=np.full(400, 0.5))
    np.testing.assert_allclose(fit_weights(table, starts, gold), oracle.coef_[0], atol=1e-3)


def test_no_cluster_is_guessed_by_what_it_taught():
    """One word marks the gold of one cluster only: it is of no use there, and learnt by all others."""
    options = ["alpha one", "beta one"] * 20
    rows, starts = np.arange(40), np.arange(0, 40, 2)
    cluster = np.arange(20)
    gold = starts.copy()
    gold[0] += 1  # here beta is right
    scores = cross_validated_scores(word_table(options), rows, starts, gold, cluster)
    assert (scores[starts] > scores[starts + 1]).all()  # alpha is learnt everywhere, also for the odd one


def test_an_exactly_balanced_set_is_at_chance():
    """Each disease is right once in the four times it is offered: whoever leaves one out sees it right less often."""
    cases = []
    for number in range(60):
        names = [f"disease{(number + step) % 60} syndrome" for step in range(4)]
        order = [names[(place + number) % 4] for place in range(4)]
        question = {"id": "q", "kind": "choice", "prompt": "Which?", "options": order, "gold": order.index(names[0])}
        cases.append(Case.model_validate({"id": f"case-{number}", "questions": [question]}))
    for shortcut in measure_shortcuts(cases):
        assert shortcut.accuracy == pytest.approx(0.25, abs=0.08)
        assert shortcut.low <= 0.25 <= shortcut.high + 1e-9


def test_learning_that_did_not_beat_chance_elsewhere_is_dropped():
    fold = np.array([0, 1, 2, 3, 4])
    chance = np.full(5, 0.25)
    good = np.array([1.0, 0.0, 1.0, 0.0, 1.0])
    assert drop_useless_learning(good, chance, fold).tolist() == good.tolist()
    # 1 of 5 is below chance; without fold 1 to 4 in turn it is 1 of 4, no better than chance either
    assert drop_useless_learning(np.array([1.0, 0, 0, 0, 0]), chance, fold).tolist() == [0.25] * 5


def test_ties_are_shared():
    offered = OfferedOptions(
        np.array([0, 1]), np.array([0, 4]), np.array([0, 3]), np.zeros(5, np.int64), np.zeros(5), ["same"]
    )  # three options and two
    assert offered.shares(np.zeros(5)).tolist() == [pytest.approx(1 / 3), 0.5]
    assert offered.shares(np.array([2, 2, 1, 0, 1])).tolist() == [0.5, 1.0]
    assert offered.shares(np.array([0, 2, 1, 1, 0])).tolist() == [0.0, 0.0]


def test_too_few_clusters_have_no_interval_and_no_flag():
    cases = [Case.model_validate(case) for case in clean_cases(5)]
    assert all(shortcut.low is None and not shortcut.flagged for shortcut in measure_shortcuts(cases))


def test_questions_without_options_have_no_shortcuts():
    question = {"id": "open", "kind": "open", "prompt": "What?", "gold": "gout"}
    assert measure_shortcuts([Case.model_validate({"id": "one", "questions": [question]})]) == []


@pytest.mark.slow
def test_one_in_forty_is_flagged_by_chance():
    """Six guessers on 60 sets that hold nothing: 9 of 360 are expected; 22 or more come once in 10,000 times."""
    flagged = 0
    for seed in range(60):
        cases = [Case.model_validate(case) for case in clean_cases(80, seed=seed)]
        flagged += sum(shortcut.flagged for shortcut in measure_shortcuts(cases))
    assert flagged < 22
