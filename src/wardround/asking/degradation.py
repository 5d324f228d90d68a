"""Degradations of the images of a question: which are drawn, what its marks are called, and that the two agree.

An image that is stored degraded is sent as it is. `assigned` asks each question with the degradation that it has,
drawn or stored; `stored` draws nothing.
"""

from collections.abc import Sequence

from wardround.asking.tellings import shown_image_numbers
from wardround.core.ask import ImagePart
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.core.errors import WardroundError
from wardround.degrade.recipe import STEP
from wardround.degrade.severities import parse_severity
from wardround.degrade.types import parse_type

Degradations = tuple[tuple[str, float], ...]  # type and severity, in the order in which they are applied
REAL = "real@"  # the defects of an image as it was taken: never drawn
CLEAN_LEVEL = "L0"


def parse_degradation(text: str) -> tuple[str, float]:
    """`TYPE@severity` as type and number."""
    type, _, severity = text.partition("@")
    return parse_type(type), parse_severity(severity)


def degradations_for(question: Question, condition: Condition) -> Degradations:
    """The degradations that are drawn on the clean images that this question shows under this condition."""
    if condition.degradation in ("none", "stored"):
        return ()
    if condition.degradation == "assigned":
        return tuple(parse_degradation(name) for name in question.degradations if not name.startswith(REAL))
    return (parse_degradation(condition.degradation),)


def degradation_labels(case: Case, question: Question, condition: Condition) -> list[str]:
    """As `TYPE@severity`, without L0: of the condition, else of the question, else of its image files."""
    if condition.degradation == "none":
        return []
    labels = [condition.degradation]
    if condition.degradation in ("assigned", "stored"):
        shown = (case.images[number] for number in shown_image_numbers(case, question, condition))
        labels = question.degradations or list(dict.fromkeys(name for image in shown for name in image.degradations))
    return [name for name in labels if name.partition("@")[2].removeprefix("L").strip("0.")]


def check_degraded_images(case: Case, question: Question, condition: Condition, images: Sequence[ImagePart]) -> None:
    """An answer that will be marked as degraded is shown a degraded image: anything else is a defect of wardround."""
    if condition.degradation == "none":
        return
    labels = degradation_labels(case, question, condition)
    is_real = all(name.startswith(REAL) for name in labels)
    shown = [image for image in images if all(name != "blank" for name, _, _ in image.recipe)]
    is_degraded = any(image.degradations or any(name == STEP for name, _, _ in image.recipe) for image in shown)
    if labels and not (is_degraded or (is_real and shown)):
        raise WardroundError(
            f"{case.id}.{question.id} counts as {'+'.join(labels)} under degradation = {condition.degradation}, "
            "and no degraded image would be shown: it is not asked; please report this"
        )
