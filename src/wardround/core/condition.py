"""Condition: how a question is asked, one value on each axis."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from wardround.core.canonical import canonical_json
from wardround.core.errors import WardroundError

INPUTS = ("history", "images", "findings")
PROBES = (
    *("reference", "reference-paraphrase", "reference-other", "reference-other-paraphrase"),
    *("reference-masked", "reference-masked-paraphrase"),
    *("reference-masked-other", "reference-masked-other-paraphrase"),
    *("rationale", "rationale-paraphrase", "rationale-other", "rationale-other-paraphrase"),
    *("second-half", "second-half-other"),
)


@dataclass(frozen=True)
class Axis:
    """One axis: its fixed values (the first is the default), and a pattern of further ones."""

    values: tuple[str, ...]
    pattern: re.Pattern[str] | None = None


def _input_lists() -> tuple[str, ...]:
    return tuple(
        "+".join(name for name, is_shown in zip(INPUTS, flags, strict=True) if is_shown)
        for flags in product([True, False], repeat=3)
        if any(flags)
    )


AXES: Mapping[str, Axis] = {
    "inputs": Axis(("all", *_input_lists())),
    "telling": Axis(("own", "text", "multimodal")),
    "evidence": Axis(
        ("none", "reference", "rag", "agent", "reference-masked", "reference-shuffled"),
        re.compile(r"rag@[a-z0-9][a-z0-9_-]*|reference\+\d{1,3}"),  # a named search; the number of unrelated documents
    ),
    "degradation": Axis(("none", "assigned", "stored"), re.compile(r"[a-z_][a-z0-9_]*@(L[0-2]|\d+(\.\d+)?)")),
    "without": Axis(("none",), re.compile(r"\S(.*\S)?")),
    "carry": Axis(("own", "gold", "wrong", "none")),
    "confidence": Axis(("none", "verbal", "votes", "logprobs")),
    "images": Axis(("as-is", "blank", "swapped", "none")),
    "stem": Axis(("full", "options-only")),
    "options": Axis(("as-given", "shuffled", "rotated")),
    "reasoning": Axis(("as-is", "on", "off")),
    "prompt": Axis(("paper",), re.compile(r"[a-z0-9][a-z0-9_-]*")),
    "probe": Axis(  # of leakage; options@0 is the options in their own order, other numbers are shuffled
        ("none", *PROBES),
        re.compile(r"options@\d{1,2}"),
    ),
}
ADDED_LATER = ("probe",)  # left out at its default, so that older conditions stay the same
WORDING = ("reasoning", "prompt")  # axes that say how, not what is asked
CONTROL_AXES = ("images", "stem")  # their values but the first take away what an answer must rest on
DEFAULTS = {name: axis.values[0] for name, axis in AXES.items()}


def check_value(axis_name: str, value: object) -> str:
    """Returns the value, or raises an error that lists the axis' values."""
    axis = AXES.get(axis_name)
    if axis is None:
        raise WardroundError(f"unknown axis {axis_name!r}; the axes are {', '.join(AXES)}")
    fits = isinstance(value, str) and (
        value in axis.values or (axis.pattern is not None and axis.pattern.fullmatch(value) is not None)
    )
    if not fits:
        raise WardroundError(f"{axis_name} = {value!r}: expected one of {', '.join(axis.values)}")
    assert isinstance(value, str)
    return value


@dataclass(frozen=True)
class Condition:
    """One value on each axis; axes not given have their default."""

    inputs: str = DEFAULTS["inputs"]
    telling: str = DEFAULTS["telling"]
    evidence: str = DEFAULTS["evidence"]
    degradation: str = DEFAULTS["degradation"]
    without: str = DEFAULTS["without"]
    carry: str = DEFAULTS["carry"]
    confidence: str = DEFAULTS["confidence"]
    images: str = DEFAULTS["images"]
    stem: str = DEFAULTS["stem"]
    options: str = DEFAULTS["options"]
    reasoning: str = DEFAULTS["reasoning"]
    prompt: str = DEFAULTS["prompt"]
    probe: str = DEFAULTS["probe"]

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            check_value(name, value)

    @cached_property
    def values(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in AXES}

    @cached_property
    def is_ordinary(self) -> bool:
        """Whether it asks a case as it is: then it applies to every question without degradations."""
        return all(value == DEFAULTS[name] for name, value in self.values.items() if name not in WORDING)

    @cached_property
    def json(self) -> str:
        """All axes, as marks carry them."""
        return canonical_json({n: v for n, v in self.values.items() if n not in ADDED_LATER or v != DEFAULTS[n]})

    @cached_property
    def sends_images(self) -> bool:
        """Whether a candidate that sees gets the images of the case, if it has any."""
        return self.shows("images") and self.images != "none" and self.stem == "full"

    def shows(self, part: str) -> bool:
        """Whether `inputs` shows the history, the images or the findings."""
        return self.inputs == "all" or part in self.inputs.split("+")


def cross_axes(axes: Mapping[str, list[str]]) -> list[Condition]:
    """The product of a study's axes, in the study's order."""
    return [Condition(**dict(zip(axes, values, strict=True))) for values in product(*axes.values())]
