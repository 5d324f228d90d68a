"""Expected T-vote figures from option probabilities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vote_oracle import mean_over_all_votes

from wardround.measuring.measures.expected_votes import (
    certainty,
    expected_certainty,
    expected_votes,
    limiting_votes,
    top_right,
)

P = np.array([[0.4, 0.3, 0.2, 0.1]])
FOUR = np.array([4.0])


@pytest.mark.parametrize(("votes", "printed"), [(10, 0.200), (3, 0.487)])
def test_the_expected_confidence_is_that_of_docs_statistics(votes, printed):
    assert round(float(expected_certainty(P, FOUR, votes)[0]), 3) == printed


def test_the_limit_of_confidence_is_that_of_docs_statistics():
    assert round(float(certainty(P, FOUR)[0]), 3) == 0.077
    assert expected_certainty(P, FOUR, 4000)[0] == pytest.approx(certainty(P, FOUR)[0], abs=2e-3)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=4).filter(lambda shares: sum(shares) > 0.05),
    st.floats(0.05, 1),
    st.integers(2, 6),
)
def test_every_vote_vector_agrees(weights, valid, trials):
    shares = [valid * weight / sum(weights) for weight in weights]
    values = expected_votes(np.array([shares]), np.array([shares[0]]), np.array([float(len(shares))]), trials)
    expected = mean_over_all_votes(shares, 0, trials, max(2, trials / 2))
    assert [float(figure[0]) for figure in values] == pytest.approx(expected, abs=1e-9)


def test_rows_are_padded_with_zeros():
    narrow = expected_votes(np.array([[0.6, 0.3]]), np.array([0.6]), np.array([2.0]), 5)
    padded = expected_votes(np.array([[0.6, 0.3, 0.0, 0.0]]), np.array([0.6]), np.array([2.0]), 5)
    assert [float(figure[0]) for figure in narrow] == pytest.approx([float(figure[0]) for figure in padded])


def test_nothing_but_unparsed_votes_has_no_confidence():
    nothing = np.zeros((1, 4))
    for part in (expected_votes(nothing, np.zeros(1), FOUR, 10), limiting_votes(nothing, np.zeros(1), FOUR)):
        assert [float(figure[0]) for figure in part] == [0.0, 0.0, 0.0]
    assert top_right(nothing, np.zeros(1))[0] == 0.0


def test_the_limit_needs_half_of_the_probability_on_options():
    shares = np.array([[0.3, 0.19, 0.0, 0.0], [0.3, 0.2, 0.0, 0.0]])
    assert limiting_votes(shares, shares[:, 0], np.array([4.0, 4.0])).certain.tolist() == [0.0, 1.0]


def test_tied_tops_split_evenly():
    assert top_right(np.array([[0.4, 0.4, 0.2], [0.2, 0.4, 0.4]]), np.array([0.4, 0.2])).tolist() == [0.5, 0.0]
