"""What is planted in a simulated respondent: its parameters, and the figures that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from wardround.candidates.simulated.memory import Memory
from wardround.core.condition import AXES
from wardround.core.errors import WardroundError
from wardround.core.field_errors import complaints

# answers are stored by Ask, and values of these axes can share one: they cannot have answers of their own
SHARED_AXES = ("confidence", "options", "carry", "probe")
KEYS = (
    *(axis for axis in AXES if axis not in SHARED_AXES),
    *("question", "kind", "stage", "skill", "capability", "task", "grade", "chain"),
    *("specialty", "split", "tag", "modality"),
    *("type", "severity"),
)
Mode = Literal["favourite", "independent"]
Phrasing = Literal["letter", "sentence", "json"]
Belief = Literal["itself", "evidence"]
Share = Annotated[float, Field(ge=0, le=1)]


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Stated(Table):
    """The confidence stated for right and for wrong answers."""

    right: Share
    wrong: Share


class Planted(Table):
    """The truth about one question under one condition."""

    accuracy: Share = 0.5
    after_wrong: Share | None = None
    sharpness: Share = 1.0
    unparsed: Share = 0.0
    confidence: Share | Stated = 0.5
    hit1: Share | None = None
    hit3: Share | None = None
    knows: Share = 0.0
    memory: Memory = "none"

    def after(self, wrong: bool) -> Planted:
        """What is planted where the Ask carries something that is not right."""
        if not wrong or self.after_wrong is None:
            return self
        return self.model_copy(update={"accuracy": self.after_wrong})

    @property
    def hits(self) -> tuple[float, float]:
        """hit@1 (where not given, the accuracy) and hit@3 (never less than hit@1)."""
        first = self.accuracy if self.hit1 is None else self.hit1
        return first, max(first, self.hit3 or 0.0)

    def stated(self, right: bool) -> float:
        """The confidence stated for an answer."""
        if isinstance(self.confidence, Stated):
            return self.confidence.right if right else self.confidence.wrong
        return self.confidence


class Row(Planted):
    """What is planted instead where all of `when` holds. Only what is given counts."""

    when: dict[str, str] = Field(min_length=1)

    @field_validator("when")
    @classmethod
    def _keys(cls, when: dict[str, str]) -> dict[str, str]:
        for key, value in when.items():
            if key in SHARED_AXES:
                raise ValueError(f"{key} cannot be named: its values can put the same Ask")
            if key not in KEYS:
                raise ValueError(f"unknown key {key!r}; there are {', '.join(KEYS)}")
            axis = AXES.get(key)
            if axis and value not in axis.values and not (axis.others and axis.others.fullmatch(value)):
                raise ValueError(f"{key} = {value!r}: expected one of {', '.join(axis.values)}")
        return when

    @model_validator(mode="after")
    def _says_something(self) -> Row:
        if not self.model_fields_set - {"when"}:
            raise ValueError("plants nothing: give accuracy or another parameter beside `when`")
        return self


class Parameters(Planted):
    """All that a study can plant."""

    mode: Mode = "favourite"
    phrasing: Phrasing = "letter"
    believes: Belief = "itself"
    seed: int = 0
    by: list[Row] = []

    @model_validator(mode="after")
    def _three_hold_one(self) -> Parameters:
        if self.hit3 is not None and self.hit3 < self.hits[0]:
            raise ValueError(f"hit3 ({self.hit3:g}) is less than hit1 ({self.hits[0]:g})")
        if self.believes == "evidence" and self.mode != "favourite":
            raise ValueError("believes = 'evidence' needs mode = 'favourite'")
        return self

    def at(self, facts: Mapping[str, Set[str]]) -> Planted:
        """What is planted where these facts hold: of the rows that fit, the last that says it counts."""
        told = {name: getattr(self, name) for name in Planted.model_fields}
        for row in self.by:
            if all(value in facts.get(key, ()) for key, value in row.when.items()):
                told |= {name: getattr(row, name) for name in row.model_fields_set - {"when"}}
        return Planted.model_construct(**told)


def parameters_from(extra_body: Mapping[str, Any], candidate: str) -> Parameters:
    """The parameters that a study gives, or one line that says what is wrong with them."""
    try:
        return Parameters.model_validate(extra_body)
    except ValidationError as error:
        field, message = complaints(error)[0]
        place = f"extra_body.{field}" if field else "extra_body"
        raise WardroundError(f"candidate {candidate!r}: {place}: {message}") from None


def vote_shares(planted: Planted, mode: Mode, options: int, gold: int, favourite: int) -> list[float]:
    """The probability of a vote for each option, given that the vote can be parsed."""
    if mode == "independent":
        favoured, share = gold, planted.accuracy
    else:
        favoured, share = favourite, planted.sharpness
    other = (1 - share) / (options - 1)
    return [share if option == favoured else other for option in range(options)]


def expected_accuracy(planted: Planted, options: int, mode: Mode = "favourite") -> float:
    """The accuracy that follows from what is planted, over many items and trials with K options."""
    right = planted.accuracy
    if mode == "favourite":
        sharp = planted.sharpness
        right = right * sharp + (1 - right) * (1 - sharp) / (options - 1)
    return (1 - planted.unparsed) * right
