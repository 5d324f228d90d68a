"""What the degradation axis does to the images of a question, and when it can do nothing."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.core.case import Image, Question
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.degrade.severities import severity_number
from wardround.degrade.types import fits, type_named

Degradations = tuple[tuple[str, float], ...]  # type and severity, in the order in which they are done


def parsed(text: str) -> tuple[str, float]:
    """`TYPE@severity` as type and number."""
    type, _, severity = text.partition("@")
    return type_named(type), severity_number(severity)


def to_be_done(question: Question, condition: Condition) -> Degradations:
    """What is done to the images that this question shows under this condition."""
    if condition.degradation in ("none", "stored"):
        return ()
    if condition.degradation == "assigned":
        return tuple(map(parsed, question.degradations))
    return (parsed(condition.degradation),)


def why_not_degraded(question: Question, condition: Condition, images: Sequence[Image]) -> str | None:
    """Why these images cannot be shown as the axis says, or None if they can."""
    if condition.degradation == "stored":
        return None
    if any(image.degradations for image in images):
        return "its image is degraded already, which only degradation = stored asks"
    try:
        degradations = to_be_done(question, condition)
    except WardroundError as error:
        return str(error)
    if not degradations:
        return None
    if condition.degradation != "assigned" and question.degradations:
        return "it is a degraded question itself, which only degradation = assigned asks"
    if not (condition.looks and images):
        return "no images are shown that could be degraded"
    if condition.images == "blank":
        return "a blank image cannot be degraded"
    for type, _ in degradations:
        if not any(fits(type, image.modality) for image in images):
            shown = " and ".join(sorted({image.modality or "an unnamed modality" for image in images}))
            return f"{type} does not fit {shown}"
    return None
