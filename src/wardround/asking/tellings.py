"""What a condition shows of a case: its history and images in one of the case's tellings."""

from wardround.asking.without import is_left_out
from wardround.core.case import Case, Image, Question
from wardround.core.condition import Condition


def resolve_telling(case: Case, condition: Condition) -> tuple[str | None, list[int]]:
    """The history and the numbers of the images of the condition's telling."""
    history, images = case.history, list(range(len(case.images)))
    if condition.telling != "own" and (telling := case.telling_named(condition.telling)) is not None:
        history = telling.history if telling.history is not None else history
        images = telling.images if telling.images is not None else images
    return history, images


def shown_texts(case: Case, condition: Condition) -> dict[str, str]:
    """The history and the findings, each empty if the condition does not show it or the case has none."""
    texts = {"history": resolve_telling(case, condition)[0], "findings": case.findings}
    return {name: (text or "") if condition.shows(name) else "" for name, text in texts.items()}


def question_images(question: Question, images: list[int]) -> list[int]:
    """Those of the images that belong to the question."""
    return images if question.images is None else [number for number in question.images if number in images]


def shown_image_numbers(case: Case, question: Question, condition: Condition) -> list[int]:
    """The numbers of the images that are shown with a question."""
    _, images = resolve_telling(case, condition)
    numbers = question_images(question, images)
    if condition.without == "none":
        return numbers
    return [number for number in numbers if not is_left_out(case.images[number], condition)]


def shown_modalities(case: Case, question: Question, condition: Condition) -> str:
    """The modalities of the images that a candidate that sees was shown with a question; empty without images."""
    if not condition.sends_images:
        return ""
    return list_modalities([case.images[number] for number in shown_image_numbers(case, question, condition)])


def list_modalities(images: list[Image]) -> str:
    """The modalities of images, numbered in the order shown; empty without images."""
    return "; ".join(f"{number}. {image.modality or 'image'}" for number, image in enumerate(images, 1))
