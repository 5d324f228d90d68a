"""Case and Question: one patient and the questions about them; a rubric question has weighted criteria."""

from __future__ import annotations

from math import isfinite
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from wardround.core.text import option_letter


class Record(BaseModel):
    """Unknown fields are kept, so that a round trip loses nothing.

    Empty lists come from a factory: pydantic would deep-copy a default for every case of a large set.
    """

    model_config = ConfigDict(extra="allow", frozen=True)


class Image(Record):
    """One image file of a case. `frame` chooses from a multi-frame file or a volume (`axis` of a volume)."""

    path: str = Field(min_length=1)
    modality: str | None = None
    findings: str | None = None
    frame: int | None = Field(default=None, ge=0)
    axis: int | None = Field(default=None, ge=0, le=2)
    window: tuple[float, float] | None = None  # centre, width; instead of the header's
    degradations: tuple[str, ...] = ()  # what the stored file was degraded with


class Patient(Record):
    age: int | float | None = Field(default=None, ge=0, le=130)
    sex: str | None = None


class Origin(Record):
    """Where the case was published. Never shown to a candidate."""

    name: str | None = None
    pmids: list[str] = Field(default_factory=list)
    published: str | None = None


class Reference(Record):
    pmid: str | None = None


class Telling(Record):
    """Another version of the case's history, with the numbers of its images."""

    history: str | None = None
    images: list[int] | None = None


class Criterion(Record):
    """One criterion of a rubric: what an answer meets or not, and the points that this adds or takes."""

    id: str = Field(min_length=1)
    text: str
    points: float
    axis: str | None = None  # what it examines, such as accuracy: rubric scores are also taken by axis
    tags: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check(self) -> Criterion:
        if not self.text.strip():
            raise ValueError(f"criterion {self.id!r} has an empty text")
        if not isfinite(self.points) or self.points == 0:
            raise ValueError(f"criterion {self.id!r} has {self.points:g} points; expected a number above or below 0")
        return self


class SaidMessage(Record):
    """One message of the conversation before a question."""

    role: Literal["system", "user", "assistant"]
    content: str


class Question(Record):
    id: str = Field(min_length=1)
    kind: Literal["choice", "open", "rubric"]
    prompt: str
    gold: int | str = ""  # of a rubric question: an ideal answer, or nothing
    criteria: list[Criterion] = Field(default_factory=list)  # the rubric
    conversation: list[SaidMessage] = Field(default_factory=list)  # what was said before `prompt`
    options: list[str] | None = None
    accept: list[str] = Field(default_factory=list)
    skill: str | None = None
    capability: str | None = None
    task: str | None = None
    grade: Literal["R", "A", "S"] | None = None
    importance: float | None = Field(default=None, ge=0)
    stage: str | None = None
    chain: str | None = None
    given: list[str] = Field(default_factory=list)
    of: str | None = None
    degradations: list[str] = Field(default_factory=list)
    images: list[int] | None = None  # the numbers of the case's images that it shows; None: all
    rationale: str | None = None  # the published reason for the gold; never shown to a candidate
    paraphrase: str | None = None  # the same rationale in other words

    @model_validator(mode="after")
    def _gold_fits_kind(self) -> Question:
        if self._is_sound_choice():
            return self
        if self.kind == "rubric":
            self._check_rubric()
            return self
        if self.criteria:
            raise ValueError(f'criteria are of kind = "rubric", not {self.kind!r}')
        if "gold" not in self.model_fields_set:
            raise ValueError("gold is required")
        if self.kind == "choice":
            if self.options is None or len(self.options) < 2:
                raise ValueError("a choice needs at least two options")
            for index, option in enumerate(self.options):
                if not option.strip():
                    raise ValueError(f"option {option_letter(index)} is empty")
            if not isinstance(self.gold, int) or isinstance(self.gold, bool):
                raise ValueError(f"gold of a choice is the option's index (a number), not {self.gold!r}")
            if not 0 <= self.gold < len(self.options):
                raise ValueError(f"gold is {self.gold}, but there are options 0 to {len(self.options) - 1}")
        elif not isinstance(self.gold, str) or not self.gold.strip():
            raise ValueError("gold of an open question is the diagnosis as text")
        return self

    def _is_sound_choice(self) -> bool:
        """Whether it is a choice without fault, which most questions are: one look in place of many."""
        options, gold = self.options, self.gold
        return (
            self.kind == "choice"
            and type(gold) is int
            and options is not None
            and 0 <= gold < len(options) >= 2
            and not self.criteria
            and all(map(str.strip, options))
        )

    def _check_rubric(self) -> None:
        if not self.criteria:
            raise ValueError("a rubric needs criteria, each with id, text and points")
        ids = [criterion.id for criterion in self.criteria]
        if repeated := [id for id in ids if ids.count(id) > 1]:
            raise ValueError(f"criterion id {repeated[0]!r} is used twice")
        if self.possible_points <= 0:
            raise ValueError("a rubric needs at least one criterion with points above 0")
        if self.options is not None:
            raise ValueError("a rubric question has no options")
        if self.chain is not None:
            raise ValueError("a rubric question is not right or wrong, so that it cannot be part of a chain")
        if not isinstance(self.gold, str):
            raise ValueError(f"gold of a rubric question is an ideal answer as text, not {self.gold!r}")

    @property
    def possible_points(self) -> float:
        """The points of an answer that meets every criterion with positive points and no other."""
        return sum(criterion.points for criterion in self.criteria if criterion.points > 0)

    @property
    def choices(self) -> list[str]:
        """The options of a choice question."""
        assert self.options is not None
        return self.options

    @property
    def gold_text(self) -> str:
        """The right answer in words; of a rubric without an ideal answer, what earns points."""
        if self.kind == "rubric" and not self.gold:
            return "; ".join(criterion.text for criterion in self.criteria if criterion.points > 0)
        return self.choices[self.gold] if isinstance(self.gold, int) else self.gold


class Case(Record):
    id: str = Field(min_length=1)
    questions: list[Question] = Field(min_length=1)
    split: str | None = None
    specialty: str | None = None
    tags: list[str] = Field(default_factory=list)
    cluster: str | None = None
    origin: Origin | None = None
    patient: Patient | None = None
    history: str | None = None
    findings: str | None = None
    images: list[Image] = Field(default_factory=list)
    references: list[Reference] = Field(default_factory=list)
    tellings: dict[str, Telling] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_references(self) -> Case:
        ids = {question.id for question in self.questions}
        if len(ids) != len(self.questions):
            all_ids = [question.id for question in self.questions]
            twice = next(id for id in all_ids if all_ids.count(id) > 1)
            raise ValueError(f"question id {twice!r} is used twice")
        linked = [question for question in self.questions if question.given or question.of or question.images]
        for question in linked:
            for other in [*question.given, question.of] if question.of else question.given:
                if other not in ids:
                    raise ValueError(f"question {question.id!r} names question {other!r}, which the case lacks")
            if question.images:
                self._check_image_numbers(f"question {question.id!r}", question.images)
        if any(question.given for question in linked):
            self._check_cycles()
        for name, telling in self.tellings.items():
            self._check_image_numbers(f"telling {name!r}", telling.images)
        return self

    def _check_image_numbers(self, owner: str, numbers: list[int] | None) -> None:
        for number in numbers or []:
            if not 0 <= number < len(self.images):
                raise ValueError(f"{owner} names image {number}; there are {len(self.images)}")

    def _check_cycles(self) -> None:
        waiting = {question.id: set(question.given) for question in self.questions}
        while ready := [id for id, earlier in waiting.items() if not earlier & waiting.keys()]:
            for id in ready:
                del waiting[id]
        if waiting:
            raise ValueError(f"questions {', '.join(waiting)} build on each other in a cycle; check `given`")

    @property
    def cluster_id(self) -> str:
        """The unit of resampling and splitting: the cluster, by default the case itself."""
        return self.cluster or self.id

    def telling_named(self, name: str) -> Telling | None:
        """A telling by its name. A case with no tellings and no images is its own `text` telling."""
        if name == "text" and not self.tellings and not self.images:
            return Telling()
        return self.tellings.get(name)

    def as_written(self) -> dict[str, Any]:
        """The case as in its file: the fields that were set, unknown ones included."""
        return self.model_dump(exclude_unset=True)

    def _repr_html_(self) -> str:
        from wardround.core.case_html import case_html

        return case_html(self)


def drop_empty(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a JSON object that have a value."""
    return {key: value for key, value in fields.items() if value not in (None, "", [], {})}
