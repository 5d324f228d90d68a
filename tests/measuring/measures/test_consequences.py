"""Errors by importance, and net benefit by option."""

from __future__ import annotations

from fractions import Fraction

import measure_oracle as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_marks import made_marks, made_study, mark, measure_rows, row, votes
from scipy.stats import t

from wardround.measuring import compare


def test_errors_count_by_the_importance_of_their_question() -> None:
    """Importance 1, 3, 4 and none; right, wrong, unparsed, wrong: (3 + 4) / 8."""
    outcomes = [("right", 1.0), ("wrong", 3.0), ("unparsed", 4.0), ("wrong", None)]
    table = measure_rows([mark(case, outcome, importance=weight) for case, (outcome, weight) in enumerate(outcomes)])

    assert row(table, "harm")["value"] == pytest.approx(7 / 8)
    assert row(table, "harm")["n"] == 3


def test_without_importance_there_is_no_harm() -> None:
    table = measure_rows([mark(case) for case in range(3)])

    assert "harm" not in table["measure"].to_list()


def test_candidates_are_compared_by_harm() -> None:
    """b is wrong in one question of importance 5; the nine others count 1 each."""
    rows = [
        mark(
            case, "wrong" if name == "b" and not case else "right", candidate=name, importance=5.0 if not case else 1.0
        )
        for case in range(10)
        for name in "ab"
    ]
    families = {"f": {"measure": "harm", "between": "candidate"}}
    (line,) = compare(made_marks(rows), made_study("a", "b", comparisons=families)).to_dicts()

    assert line["value"] == pytest.approx(-5 / 14)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text("012-", min_size=5, max_size=5), min_size=1, max_size=20))
def test_net_benefit_agrees_with_the_oracle(ballots: list[str]) -> None:
    table = measure_rows([line for case, ballot in enumerate(ballots) for line in votes(case, ballot)], 5)
    questions = [([None if letter == "-" else int(letter) for letter in ballot], 0) for ballot in ballots]
    for percent in (5, 10, 20, 30, 50):
        expected = oracle.net_benefit(questions, Fraction(percent, 100))
        assert row(table, f"net_benefit@{percent}")["value"] == pytest.approx(expected, abs=1e-8)


def test_few_errors_do_not_make_the_net_benefit_certain() -> None:
    """Right is 1, wrong -1 at 50%, and two options at half of the answers each, both wrong, would be -2: the least.

    So 58 right and 2 wrong of 60 have Wilson's interval of (1 - -2) / 3 and (-1 - -2) / 3 in place of 1 and -1.
    """
    rows = [line for case in range(60) for line in votes(case, "1" if case < 2 else "0")]
    line = row(measure_rows(rows), "net_benefit@50")
    share = np.array([1 / 3] * 2 + [1.0] * 58)
    mean, z = share.mean(), t.ppf(0.975, 59)
    n = mean * (1 - mean) / (share.var(ddof=1) / 60)
    middle, reach = mean + z * z / (2 * n), z * np.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    ends = [3 * (middle + sign * reach) / (1 + z * z / n) - 2 for sign in (-1, 1)]
    assert line["value"] == pytest.approx(56 / 60)
    assert (line["low"], line["high"]) == pytest.approx(tuple(ends), abs=1e-6)
    perfect = measure_rows([line for case in range(60) for line in votes(case, "0")])
    line = row(perfect, "net_benefit@50")
    assert (line["value"], line["high"]) == (1.0, 1.0)
    assert 0.7 < line["low"] < 0.9


def test_net_benefit_by_hand() -> None:
    """Shares .8 right and .2 wrong: at 20% both are acted on, 1 - .25; at 30% only the right one."""
    table = measure_rows(votes(0, "00001"), 5)

    assert row(table, "net_benefit@20")["value"] == pytest.approx(0.75)
    assert row(table, "net_benefit@30")["value"] == 1.0
