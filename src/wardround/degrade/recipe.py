"""The steps that a degradation adds to an image's recipe, and the function that renders such a recipe.

The types of CT degrade a CT file in its Hounsfield units, before its window. Everything else is done to the image as
it is shown. A step holds all that it needs: the type, the severity and the parameters, for the image as it is shown
and, if the file may be in Hounsfield units, for those.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wardround.cases.encoded_image import EncodedImage
from wardround.cases.images import render
from wardround.cases.images.recipe import kind_of
from wardround.core.ask import Step

if TYPE_CHECKING:  # a worker imports these only when there is something to degrade
    from wardround.cases.images.window import Pixels, Values
    from wardround.core.case import Image
    from wardround.degrade.severities import Profile, Space

STEP = "degrade"


def add_degradations(
    recipe: tuple[Step, ...],
    image: Image,
    degradations: Iterable[tuple[str, float]],
    profile: Profile,
    window: float | None = None,
) -> tuple[Step, ...]:
    """The recipe with a step for each degradation that fits the image's modality, after the window.

    `window` is the width that shares of the window are of, if it is not the one that the recipe shows.
    """
    from wardround.degrade.types import degradation_type, fits

    steps: list[Step] = []
    for type, severity in degradations:
        if severity > 0 and fits(type, image.modality):
            parameters: dict[str, Any] = {"type": type, "severity": severity, "display": profile.at(type, severity)}
            if degradation_type(type).modality == "CT" and kind_of(image.path) != "raster":
                parameters["hu"] = profile.at(type, severity, "hu")
                if window is not None:
                    from wardround.degrade.rendering import in_units_of_image

                    parameters["hu"] = in_units_of_image(parameters["hu"], window)
            steps.append((STEP, parameters, degradation_type(type).version))
    position = 1 + [name for name, _, _ in recipe].index("window")
    return (*recipe[:position], *steps, *recipe[position:])


def render_degraded(path: Path | str, frame: int | None, recipe: tuple[Step, ...]) -> EncodedImage:
    """The image as it is sent, degraded where the recipe says so."""
    plain = tuple(step for step in recipe if step[0] != STEP)
    renderer = RecipeRenderer([parameters for name, parameters, _ in recipe if name == STEP])
    return render(path, frame, plain, renderer if renderer.steps else None)


class RecipeRenderer:
    """Applies the degrading steps of one recipe; a step done to Hounsfield units is not repeated on the display."""

    def __init__(self, steps: list[dict[str, Any]]) -> None:
        self.steps = list(steps)

    def render_hounsfield(self, values: Values, window: float) -> Values:
        for step in [step for step in self.steps if "hu" in step]:
            values = _apply_step(step, values, "hu", window)
            self.steps.remove(step)
        return values

    def render_display(self, pixels: Pixels) -> Pixels:
        for step in self.steps:
            pixels = _apply_step(step, pixels, "display", 0.0)
        return pixels


def _apply_step(step: dict[str, Any], image: Any, space: Space, window: float) -> Any:
    from wardround.degrade.rendering import draw_image

    return draw_image(image, step["type"], step["severity"], step[space], space, window)
