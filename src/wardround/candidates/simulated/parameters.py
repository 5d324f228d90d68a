"""The parameters of a simulated respondent, and the figures that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from wardround.candidates.simulated.memory import Memory
from wardround.core.condition import AXES
from wardround.core.toml_table import StrictTable

# values of these axes can share an Ask, and answers are stored by Ask
SHARED_AXES = ("confidence", "options", "carry", "probe")
QUESTION_FIELDS = ("kind", "stage", "skill", "capability", "task", "grade", "chain")
CONDITION_KEYS = (
    *(axis for axis in AXES if axis not in SHARED_AXES),
    *("question", *QUESTION_FIELDS, "specialty", "split", "tag", "modality", "type", "severity"),
)
Mode = Literal["favourite", "independent"]
Phrasing = Literal["letter", "sentence", "json"]
Belief = Literal["itself", "evidence"]
Share = Annotated[float, Field(ge=0, le=1)]


class StatedConfidence(StrictTable):
    """The confidence stated for right and for wrong answers."""

    right: Share
    wrong: Share


class PlantedParameters(StrictTable):
    """The true parameters for one question under one condition."""

    accuracy: Share = 0.5
    after_wrong: Share | None = None
    sharpness: Share = 1.0
    unparsed: Share = 0.0
    confidence: Share | StatedConfidence = 0.5
    hit1: Share | None = None
    hit3: Share | None = None
    criteria: Share | None = None
    penalties: Share = 0.0
    knows: Share = 0.0
    memory: Memory = "none"

    def after_carried(self, is_wrong: bool) -> PlantedParameters:
        """The parameters if the Ask carries an answer, which may be wrong."""
        if not is_wrong or self.after_wrong is None:
            return self
        return self.model_copy(update={"accuracy": self.after_wrong})

    @property
    def hits(self) -> tuple[float, float]:
        """hit@1 (by default the accuracy) and hit@3 (never less than hit@1)."""
        first = self.accuracy if self.hit1 is None else self.hit1
        return first, max(first, self.hit3 or 0.0)

    @property
    def criteria_met(self) -> float:
        """The share of criteria with positive points that a rubric answer meets: by default the accuracy."""
        return self.accuracy if self.criteria is None else self.criteria

    def stated_confidence(self, is_right: bool) -> float:
        """The confidence stated for an answer."""
        if isinstance(self.confidence, StatedConfidence):
            return self.confidence.right if is_right else self.confidence.wrong
        return self.confidence


class ConditionalParameters(PlantedParameters):
    """Parameters that replace the others if all of `when` holds; only those that are set count."""

    when: dict[str, str] = Field(min_length=1)

    @field_validator("when")
    @classmethod
    def _check_when(cls, when: dict[str, str]) -> dict[str, str]:
        for key, value in when.items():
            if key in SHARED_AXES:
                raise ValueError(f"{key} is not allowed here: its values can share an Ask")
            if key not in CONDITION_KEYS:
                raise ValueError(f"unknown key {key!r}; there are {', '.join(CONDITION_KEYS)}")
            axis = AXES.get(key)
            if axis and value not in axis.values and not (axis.pattern and axis.pattern.fullmatch(value)):
                raise ValueError(f"{key} = {value!r}: expected one of {', '.join(axis.values)}")
        return when

    @model_validator(mode="after")
    def _check_not_empty(self) -> ConditionalParameters:
        if not self.model_fields_set - {"when"}:
            raise ValueError("sets no parameter: give accuracy or another one with `when`")
        return self


class SimulatedParameters(PlantedParameters):
    """All parameters that a study can set."""

    mode: Mode = "favourite"
    phrasing: Phrasing = "letter"
    believes: Belief = "itself"
    seed: int = 0
    by: list[ConditionalParameters] = []

    @model_validator(mode="after")
    def _check_consistent(self) -> SimulatedParameters:
        if self.hit3 is not None and self.hit3 < self.hits[0]:
            raise ValueError(f"hit3 ({self.hit3:g}) is less than hit1 ({self.hits[0]:g})")
        if self.believes == "evidence" and self.mode != "favourite":
            raise ValueError("believes = 'evidence' needs mode = 'favourite'")
        return self

    def for_values(self, values: Mapping[str, Set[str]]) -> PlantedParameters:
        """The parameters for a request with these values: of the rows that apply, the last that sets one counts."""
        parameters = {name: getattr(self, name) for name in PlantedParameters.model_fields}
        for row in self.by:
            if all(value in values.get(key, ()) for key, value in row.when.items()):
                parameters |= {name: getattr(row, name) for name in row.model_fields_set - {"when"}}
        return PlantedParameters.model_construct(**parameters)


def vote_shares(planted: PlantedParameters, mode: Mode, options: int, gold: int, favourite: int) -> list[float]:
    """The probability of a vote for each option, if the vote can be parsed."""
    if mode == "independent":
        preferred, share = gold, planted.accuracy
    else:
        preferred, share = favourite, planted.sharpness
    other = (1 - share) / (options - 1)
    return [share if option == preferred else other for option in range(options)]
