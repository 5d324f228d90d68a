"""What a question of a chain is told of the questions before it: the axis `carry`.

How the lines read is our choice: X-PCR's prompts were not published.
"""

from __future__ import annotations

from collections.abc import Mapping

from wardround.asking.options import seeded
from wardround.core.case import Case, Question
from wardround.core.condition import Condition

UNREAD = "not determined"
STAGES = {
    "IQA": "Image quality",
    "AL": "Anatomical location",
    "LC": "Lesions",
    "DD": "Diagnosis",
    "SG": "Severity",
    "CD": "Clinical decision",
}


def carried(
    case: Case, question: Question, condition: Condition, seed: int, own: Mapping[str, str | None]
) -> dict[str, str]:
    """By the id of each question that is given: the text that the condition carries on from it.

    `own` are the candidate's own answers; one that could not be read is carried as such.
    """
    if condition.carry == "own":
        return {id: text or UNREAD for id, text in own.items()}
    if condition.carry == "none":
        return {}
    before = {each.id: each for each in case.questions if each.id in question.given}
    text = right_text if condition.carry == "gold" else lambda each: wrong_text(case, each, seed)
    return {id: text(before[id]) or UNREAD for id in question.given}


def right_text(question: Question) -> str:
    """The right answer in words."""
    return question.choices[question.gold] if isinstance(question.gold, int) else question.gold


def wrong_text(case: Case, question: Question, seed: int) -> str | None:
    """One wrong option, the same for every candidate, trial and start; None where there is none."""
    right = right_text(question).strip().casefold()
    wrong = [option for option in question.options or () if option.strip().casefold() != right]
    # a degraded question carries what its clean twin does, so that nothing else differs
    return seeded("carried", seed, case.id, question.of or question.id).choice(wrong) if wrong else None


def why_not_carried(case: Case, question: Question, condition: Condition) -> str | None:
    """Why nothing can be carried to this question as the axis says, or None if it can."""
    if condition.carry == "own":
        return None
    if question.chain is None and not question.given:
        return "it stands alone: nothing is carried to it"
    if condition.stem == "options-only":
        return "options alone show nothing that is carried"
    if condition.carry == "wrong":
        before = (each for each in case.questions if each.id in question.given)
        if any(wrong_text(case, each, 0) is None for each in before):
            return "an earlier question has no wrong option that could be carried"
    return None


def established(case: Case, told: Mapping[str, str]) -> str:
    """What is carried, one line a question, under the name of its stage."""
    names = {each.id: STAGES.get(each.stage or "", each.stage or each.id) for each in case.questions}
    return "\n".join(f"{names[id]}: {text}" for id, text in told.items())
