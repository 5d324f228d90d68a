"""Degraded images made sendable: the steps that degrading adds to a recipe, and the function that follows them.

A CT file in Hounsfield units is degraded in them, before its window, by the three types that imitate a CT scanner.
Everything else is done to the image as it is shown. What a step does is all in it: the type, the severity and the
parameters, for the file as it is shown and, where it may be in Hounsfield units, for those.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wardround.cases.encoded import Encoded
from wardround.cases.images import render
from wardround.cases.images.recipe import kind_of
from wardround.core.ask import Step

if TYPE_CHECKING:  # a worker imports these only when there is something to degrade
    from wardround.cases.images.window import Pixels, Values
    from wardround.core.case import Image
    from wardround.degrade.severities import Profile, Space

STEP = "degrade"


def with_degradations(
    recipe: tuple[Step, ...], image: Image, degradations: Iterable[tuple[str, float]], profile: Profile
) -> tuple[Step, ...]:
    """The recipe with a step for each degradation that fits the image's modality, after the window."""
    from wardround.degrade.types import TAXONOMY, fits

    steps: list[Step] = []
    for type, severity in degradations:
        if severity > 0 and fits(type, image.modality):
            drawn: dict[str, Any] = {"type": type, "severity": severity, "display": profile.at(type, severity)}
            if TAXONOMY[type].modality == "CT" and kind_of(image.path) != "raster":
                drawn["hu"] = profile.at(type, severity, "hu")
            steps.append((STEP, drawn, TAXONOMY[type].version))
    place = 1 + [name for name, _, _ in recipe].index("window")
    return (*recipe[:place], *steps, *recipe[place:])


def render_degraded(path: Path | str, frame: int | None, recipe: tuple[Step, ...]) -> Encoded:
    """The image as it is sent, degraded where the recipe says so."""
    plain = tuple(step for step in recipe if step[0] != STEP)
    drawing = Drawing([parameters for name, parameters, _ in recipe if name == STEP])
    return render(path, frame, plain, drawing if drawing.steps else None)


class Drawing:
    """Follows the degrading steps of one recipe. What was done to Hounsfield units is not done again."""

    def __init__(self, steps: list[dict[str, Any]]) -> None:
        self.steps = list(steps)

    def hounsfield(self, values: Values) -> Values:
        for step in [step for step in self.steps if "hu" in step]:
            values = _followed(step, values, "hu")
            self.steps.remove(step)
        return values

    def shown(self, pixels: Pixels) -> Pixels:
        for step in self.steps:
            pixels = _followed(step, pixels, "display")
        return pixels


def _followed(step: dict[str, Any], image: Any, space: Space) -> Any:
    from wardround.degrade.rendering import with_parameters

    return with_parameters(image, step["type"], step["severity"], step[space], space).image
