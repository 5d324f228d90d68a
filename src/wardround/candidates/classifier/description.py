"""The TOML file beside a network: how an image is prepared for it, and which class is which diagnosis."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from wardround.core.text import fold_nfkc
from wardround.core.toml_table import StrictTable

Side = Annotated[int, Field(ge=1, le=8192)]
CHANNELS = {"rgb": 3, "bgr": 3, "grey": 1}


class ImagePreparation(StrictTable):
    """The steps from an image to the network's input, in the order in which they are applied."""

    channels: Literal["rgb", "bgr", "grey"] = "rgb"
    size: Side | tuple[Side, Side]  # of the input: a side, or height and width
    fit: Literal["stretch", "crop", "pad"] = "stretch"  # what is done with an image of another shape
    resize: Side | None = None  # crop: length of the shorter side before the middle is cut out
    filter: Literal["nearest", "box", "bilinear", "bicubic", "lanczos"] = "bilinear"
    range: tuple[float, float] = (0.0, 1.0)  # what black and white become
    mean: float | list[float] = 0.0  # is subtracted, then the rest divided by std; a number, or one a channel
    std: float | list[float] = 1.0
    layout: Literal["NCHW", "NHWC"] = "NCHW"

    @property
    def height_and_width(self) -> tuple[int, int]:
        return (self.size, self.size) if isinstance(self.size, int) else self.size

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        count = CHANNELS[self.channels]
        for name in ("mean", "std"):
            values = getattr(self, name)
            if isinstance(values, list) and len(values) != count:
                raise ValueError(f"{name} has {len(values)} values; channels = {self.channels!r} needs {count}")
        if 0 in (self.std if isinstance(self.std, list) else [self.std]):
            raise ValueError("std contains 0, by which nothing can be divided")
        if self.resize is not None and (self.fit != "crop" or self.resize < max(self.height_and_width)):
            raise ValueError('resize is for fit = "crop", and at least as long as the longer side of size')
        return self


class NetworkClass(StrictTable):
    """One class: its diagnosis, and other names that options may have for it."""

    name: str = Field(min_length=1)
    synonyms: list[str] = []


class ClassifierDescription(StrictTable):
    """What a network takes and gives."""

    input: str | None = None  # name of the network's input; needed only if it has several
    output: str | None = None  # likewise
    activation: Literal["softmax", "sigmoid", "none"]  # what makes probabilities of its output
    modalities: list[str] = []  # of the images that it is for; empty: of all
    image: ImagePreparation
    classes: list[NetworkClass] = Field(min_length=2)  # in the order of the output

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        names = [_compared(one.name) for one in self.classes]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise ValueError(f"classes: two are named {self.classes[index].name!r}")
        return self

    @cached_property
    def _classes_by_name(self) -> dict[str, tuple[int, ...]]:
        """The classes of each name; a synonym may stand for several."""
        numbers: dict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(self.classes):
            for name in dict.fromkeys(_compared(name) for name in (one.name, *one.synonyms)):
                numbers[name].append(number)
        return {name: tuple(classes) for name, classes in numbers.items()}

    def classes_of(self, option: str) -> tuple[int, ...]:
        """The classes that an option names; empty if there are none."""
        return self._classes_by_name.get(_compared(option), ())

    def classes_of_options(self, options: Iterable[str]) -> list[tuple[int, ...]] | None:
        """The classes of each option; None unless every option has one and no class has two options."""
        covered = [self.classes_of(option) for option in options]
        numbers = [number for classes in covered for number in classes]
        return covered if all(covered) and len(set(numbers)) == len(numbers) else None


def _compared(name: str) -> str:
    """A name without case, punctuation and repeated spaces."""
    return " ".join(re.findall(r"\w+|[+%<>=/-]", fold_nfkc(name)))
