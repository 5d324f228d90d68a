"""What a question of a chain shows of the questions before it: the axis `carry`.

How the lines read is our choice: X-PCR's prompts were not published.
"""

from collections.abc import Mapping

from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.random import seeded

UNREADABLE = "not determined"
STAGES = {
    "IQA": "Image quality",
    "AL": "Anatomical location",
    "LC": "Lesions",
    "DD": "Diagnosis",
    "SG": "Severity",
    "CD": "Clinical decision",
}


def carried_texts(
    case: Case, question: Question, condition: Condition, seed: int, own: Mapping[str, str | None]
) -> dict[str, str]:
    """The text that is carried from each question in `given`, by its id.

    `own` are the candidate's own answers; None is one that could not be parsed.
    """
    if condition.carry == "own":
        return {id: text or UNREADABLE for id, text in own.items()}
    if condition.carry == "none":
        return {}
    texts: dict[str, str] = {}
    for id in question.given:
        earlier = next(other for other in case.questions if other.id == id)
        text = earlier.gold_text if condition.carry == "gold" else wrong_text(case, earlier, seed)
        texts[id] = text or UNREADABLE
    return texts


def wrong_text(case: Case, question: Question, seed: int) -> str | None:
    """One wrong option, the same for every candidate, trial and start; None if there is none."""
    gold = question.gold_text.strip().casefold()
    wrong = [option for option in question.options or () if option.strip().casefold() != gold]
    # a degraded question carries what its clean twin does, so that nothing else differs
    return seeded("carried", seed, case.id, question.of or question.id).choice(wrong) if wrong else None


def format_carried(case: Case, texts: Mapping[str, str]) -> str:
    """What is carried, one line per question, under the name of its stage."""
    names = {
        question.id: STAGES.get(question.stage or "", question.stage or question.id) for question in case.questions
    }
    return "\n".join(f"{names[id]}: {text}" for id, text in texts.items())
