"""Grounding: whether documents support a diagnosis, and the outcomes of CURE that follow from it."""

from __future__ import annotations

import random

import pytest

from wardround.asking.prompts import Prompts
from wardround.core.ask import Answer, Identity, Sampling
from wardround.core.names import Synonyms
from wardround.marking.evidence.grounding import WINDOW, evidence_outcome, is_supported
from wardround.marking.evidence.support_judge import SupportPair, parse_support, support_question

FILLER = " ".join(["word"] * 100)


def supported_by_any_window(diagnosis_words: list[str], document: list[str], share: float) -> bool:
    """The rule as stated: some window of 30 words contains at least this share of the words."""
    windows = [document[at : at + WINDOW] for at in range(max(1, len(document) - WINDOW + 1))]
    return any(len(set(diagnosis_words) & set(window)) >= share * len(set(diagnosis_words)) for window in windows)


def test_a_document_that_names_it_supports_it():
    assert is_supported(["Crohn's disease"], [FILLER, f"{FILLER} treatment of Crohn disease {FILLER}"])
    assert not is_supported(["Crohn's disease"], [FILLER])
    assert not is_supported(["gout"], ["goutiness"])
    assert not is_supported(["gout"], [])
    assert not is_supported(["..."], ["... gout"])


def test_four_of_five_words_in_one_window_of_one_document_are_enough():
    name = "alpha beta gamma delta epsilon"
    assert is_supported([name], [f"{FILLER} delta alpha {' x' * 10} gamma beta {FILLER}"])
    assert not is_supported([name], [f"{FILLER} delta alpha gamma {FILLER} beta"])
    assert not is_supported([name], ["alpha beta", "gamma delta"])
    assert not is_supported(["alpha beta gamma delta"], ["alpha beta gamma"])


@pytest.mark.parametrize("gap", range(24, 34))
def test_the_window_is_thirty_words_exactly(gap):
    document = ["alpha", *["x"] * gap, "beta"]
    assert is_supported(["beta alpha"], [" ".join(document)]) == supported_by_any_window(
        ["alpha", "beta"], document, 0.8
    )
    assert supported_by_any_window(["alpha", "beta"], document, 0.8) == (gap + 2 <= WINDOW)


def test_support_is_that_of_any_window():
    rng = random.Random(5)
    verdicts = []
    for _ in range(300):
        document = [rng.choice(["p", "q", "r", "s", "t", *["x"] * 60]) for _ in range(120)]
        expected = supported_by_any_window(["p", "q", "r", "s", "t"], document, 0.8)
        assert is_supported(["p q r s t"], [" ".join(document)]) == expected
        verdicts.append(expected)
    assert 10 < sum(verdicts) < 290


def test_a_synonym_in_a_document_supports():
    table = Synonyms([("gout", "podagra")])
    assert is_supported(table.names_of("gout"), ["on podagra"])
    assert not is_supported(["gout"], ["on podagra"])


def test_coverage_is_of_the_true_diagnosis_under_any_of_its_names():
    assert is_supported(["gout", "podagra"], ["on podagra"])
    assert not is_supported(["gout"], ["on podagra"])


def test_the_four_outcomes_follow_from_right_and_grounded():
    assert [evidence_outcome(right, by) for right in (True, False) for by in (True, False)] == [
        "evidence_based_correct",
        "knowledge_based_correct",
        "evidence_misled",
        "hallucination",
    ]


def test_a_judge_of_support_sees_numbered_documents():
    request = support_question(SupportPair(("gout",), ("On\npodagra",))).request(
        Identity("openai", "j"), Sampling(), Prompts()
    )
    (text,) = request.ask.messages[0].parts
    assert "[1] On podagra" in text
    assert "Diagnosis: <data>gout</data>" in text
    assert [parse_support(Answer(reply)) for reply in ("A", "yes", "B", "No.", "yes and no", "")] == [
        *(True, True, False, False, None, None)
    ]
    assert parse_support(None) is None
