"""A simulated respondent that believes the literature in its Ask."""

from __future__ import annotations

from dataclasses import replace

import pytest
from direct_questions import LOOP, candidate, choice, prepared
from scipy.stats import binom

from wardround.candidates.candidate import Request
from wardround.candidates.simulated.evidence import affirming_clauses, first_named, literature
from wardround.core.ask import Ask, Message, Sampling
from wardround.core.case import Case
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError

FENCE = "--- literature ab12 ---\n{}\n--- end of literature ab12 ---"
BELIEVES = {"believes": "evidence"}


def reply_to(case: Case, *said: str, evidence: str = "rag") -> str:
    """Its reply after these messages, ours and its own in turn."""
    to = prepared(candidate("simulated", BELIEVES), [case, other()])
    messages = tuple(Message("assistant" if place % 2 else "user", (text,)) for place, text in enumerate(said))
    question = case.questions[0]
    order = tuple(range(len(question.options or ())))
    request = Request(Ask(to.identity, Sampling(), messages), case, question, Condition(evidence=evidence), order, (0,))
    is_intermediate = said[-1].startswith("Do not answer yet")
    return LOOP.run_until_complete(to.answer(replace(request, is_intermediate=is_intermediate))).answers[0].text


def gout_case(**fields: object) -> Case:
    question = {"id": "open", "kind": "open", "prompt": "?", "gold": "gout", "accept": ["podagra"]}
    return Case.model_validate({"id": "c", "history": "Pain of the toe " * 9, "questions": [question], **fields})


def other() -> Case:
    question = {"id": "open", "kind": "open", "prompt": "?", "gold": "lupus"}
    return Case.model_validate({"id": "d", "questions": [question]})


@pytest.mark.parametrize(
    ("document", "first"),
    [
        ("It was Gout.", "gout"),
        ("Typical of podagra", "gout"),
        ("There was no evidence of gout.", "Velmor syndrome"),
        ("There was no fever. It was gout.", "gout"),
        ("Gout was ruled out, but lupus was seen.", "lupus"),
        ("Lupus or gout.", "gout"),
        ("Goutiness.", "Velmor syndrome"),
    ],
)
def test_it_names_what_the_literature_affirms(document, first):
    assert reply_to(gout_case(), FENCE.format(document)).splitlines()[0] == f"1. {first}"


def test_only_the_text_between_the_fences_counts():
    assert reply_to(gout_case(), "It is gout. " + FENCE.format("Nothing.")).startswith("1. Velmor")
    assert reply_to(gout_case(), "?", FENCE.format("gout"), "?").startswith("1. Velmor")  # its own words
    assert reply_to(gout_case(), "?", "SEARCH: x", FENCE.format("gout")).startswith("1. gout")
    assert literature([Message("user", ("--- literature a ---\nx\n--- end of literature b ---",))]) == ""


def test_it_takes_an_option_of_a_choice_question():
    case = choice(0, options=3, gold=0)
    assert reply_to(case, FENCE.format("It was text B.")) == "B"
    assert reply_to(case, FENCE.format("It was text A, not text B.")) == "B"  # a denial denies its whole clause
    assert reply_to(case, FENCE.format("It was text C. Or text A.")) == "A"


def test_it_knows_as_often_as_planted():
    to = prepared(candidate("simulated", BELIEVES | {"knows": 0.3}), [])
    right = 0
    for number in range(600):
        case = gout_case(id=f"c{number}")
        request = Request(
            Ask(to.identity, Sampling(), (Message("user", ("?",)),)), case, case.questions[0], Condition(), (), (0,)
        )
        right += LOOP.run_until_complete(to.answer(request)).answers[0].text.startswith("1. gout")
    low, high = binom.interval(1 - 1e-4, 600, 0.3)
    assert low <= right <= high


def test_as_an_agent_it_searches_once_with_the_first_words_of_the_history():
    words = "Pain of the toe Pain of the toe Pain of the toe"
    assert reply_to(gout_case(), "Do not answer yet.", evidence="agent") == f"SEARCH: {words}"
    assert reply_to(gout_case(), "?", "SEARCH: x", "Do not answer yet.", evidence="agent") == "FINISH"
    assert reply_to(gout_case(), "Do not answer yet.") == words  # a query for rag


def test_the_first_name_in_an_affirming_clause_counts():
    assert first_named(affirming_clauses("No lupus; gout, however, was seen."), ["lupus", "gout"]) == "gout"
    assert first_named([], ["gout"]) is None


def test_it_cannot_be_combined_with_independent_votes():
    with pytest.raises(WardroundError, match="needs mode = 'favourite'"):
        candidate("simulated", BELIEVES | {"mode": "independent"})
