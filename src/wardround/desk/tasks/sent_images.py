"""The images of a run's answers: which a candidate was shown, and what the run did to them."""

from functools import cache
from pathlib import Path

from wardround.asking.tellings import shown_image_numbers
from wardround.core.case import Case, Question
from wardround.core.condition import Condition
from wardround.desk.records import NewImage


def run_image_folder(run: Path, root: Path) -> Path:
    """The case set of a run, if it is below the desk's folder; otherwise the run itself."""
    folder = _case_folder(run)
    return folder if folder.is_relative_to(root) else run


@cache
def _case_folder(run: Path) -> Path:
    from wardround.running.inputs.run_inputs import RunInputs

    return RunInputs.locate(run).cases.folder.resolve()


def sent_images(case: Case, question: Question, condition: Condition) -> tuple[NewImage, ...]:
    """The images of the case that a candidate was shown, as the case has them."""
    numbers = shown_image_numbers(case, question, condition)
    return tuple(NewImage(str(number), case.images[number]) for number in numbers)


def image_changes(question: Question, condition: Condition) -> str:
    """How a candidate saw the images, if not as the case has them."""
    degradation, images = condition.degradation, condition.images
    if degradation == "assigned":
        degradation = ", ".join(question.degradations or ()) or "none"
    parts = [] if degradation in ("none", "stored") else [f"degraded ({degradation})"]
    return " and ".join(parts + ([] if images == "as-is" else [images]))
