"""Grounding: whether documents support a diagnosis, and the outcomes of CURE that follow from it."""

from __future__ import annotations

import pytest

from wardround.asking.prompts import Prompts
from wardround.core.ask import Answer, Identity, Sampling
from wardround.marking.evidence.grounding import (
    WINDOW,
    coverage,
    evidence_outcome,
    grounded,
)
from wardround.marking.evidence.support_judge import read_support, support_request
from wardround.marking.judges.lexical_judge import Synonyms

FILLER = " ".join(["word"] * 100)


def brute(diagnosis_words: list[str], document: list[str], share: float) -> bool:
    """The rule as it reads: some window of 30 words holds at least this share of the words."""
    windows = [document[at : at + WINDOW] for at in range(max(1, len(document) - WINDOW + 1))]
    return any(len(set(diagnosis_words) & set(window)) >= share * len(set(diagnosis_words)) for window in windows)


def test_a_document_that_names_it_supports_it():
    assert grounded("Crohn's disease", [FILLER, f"{FILLER} treatment of Crohn disease {FILLER}"])
    assert not grounded("Crohn's disease", [FILLER])
    assert not grounded("gout", ["goutiness"])
    assert not grounded("gout", [])
    assert not grounded("...", ["... gout"])


def test_four_of_five_words_in_one_window_of_one_document_are_enough():
    name = "alpha beta gamma delta epsilon"
    assert grounded(name, [f"{FILLER} delta alpha {' x' * 10} gamma beta {FILLER}"])
    assert not grounded(name, [f"{FILLER} delta alpha gamma {FILLER} beta"])
    assert not grounded(name, ["alpha beta", "gamma delta"])
    assert not grounded("alpha beta gamma delta", ["alpha beta gamma"])


@pytest.mark.parametrize("gap", range(24, 34))
def test_the_window_is_thirty_words_exactly(gap):
    document = ["alpha", *["x"] * gap, "beta"]
    assert grounded("beta alpha", [" ".join(document)]) == brute(["alpha", "beta"], document, 0.8)
    assert brute(["alpha", "beta"], document, 0.8) == (gap + 2 <= WINDOW)


def test_against_every_window_by_hand():
    import random

    numbers = random.Random(5)
    found = []
    for _ in range(300):
        document = [numbers.choice(["p", "q", "r", "s", "t", *["x"] * 60]) for _ in range(120)]
        expected = brute(["p", "q", "r", "s", "t"], document, 0.8)
        assert grounded("p q r s t", [" ".join(document)]) == expected
        found.append(expected)
    assert 10 < sum(found) < 290


def test_synonyms_are_allowed():
    table = Synonyms([("gout", "podagra")])
    assert grounded("gout", ["on podagra"], table)
    assert not grounded("gout", ["on podagra"])


def test_coverage_is_of_the_true_diagnosis_under_any_of_its_names():
    assert coverage("gout", ["podagra"], ["on podagra"])
    assert not coverage("gout", [], ["on podagra"])


def test_the_four_outcomes():
    assert [evidence_outcome(right, by) for right in (True, False) for by in (True, False)] == [
        "evidence_based_correct",
        "knowledge_based_correct",
        "evidence_misled",
        "hallucination",
    ]


def test_a_judge_can_be_asked_instead():
    request = support_request(["gout"], ["On\npodagra"], Identity("openai", "j"), Sampling(), Prompts())
    (text,) = request.ask.messages[0].parts
    assert "[1] On podagra" in text
    assert "Diagnosis: gout" in text
    assert [read_support(Answer(reply)) for reply in ("A", "yes", "B", "No.", "yes and no", "")] == [
        *(True, True, False, False, None, None)
    ]
    assert read_support(None) is None
