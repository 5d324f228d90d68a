"""Which degradations the axis `degradation` applies to the images of a question."""

from wardround.core.case import Question
from wardround.core.condition import Condition
from wardround.degrade.severities import parse_severity
from wardround.degrade.types import parse_type

Degradations = tuple[tuple[str, float], ...]  # type and severity, in the order in which they are applied


def parse_degradation(text: str) -> tuple[str, float]:
    """`TYPE@severity` as type and number."""
    type, _, severity = text.partition("@")
    return parse_type(type), parse_severity(severity)


def degradations_for(question: Question, condition: Condition) -> Degradations:
    """The degradations of the images that this question shows under this condition."""
    if condition.degradation in ("none", "stored"):
        return ()
    if condition.degradation == "assigned":
        return tuple(map(parse_degradation, question.degradations))
    return (parse_degradation(condition.degradation),)
