"""Study: the file that names cases x conditions x candidates x trials."""

from __future__ import annotations

import tomllib
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from wardround.core.ask import Identity, Sampling
from wardround.core.canonical import blake
from wardround.core.condition import Condition, check_value, crossed
from wardround.core.errors import BadInput, WardroundError
from wardround.core.field_errors import said, where

SAMPLING_KEYS = ("temperature", "top_p", "top_k", "max_tokens", "stop")


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SamplingSettings(Table):
    """What is not given is not sent."""

    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    stop: list[str] | None = None

    @property
    def given(self) -> dict[str, Any]:
        return {name: value for name in SAMPLING_KEYS if (value := getattr(self, name)) is not None}


class CandidateSettings(SamplingSettings):
    """Whoever answers, as the study names them."""

    name: str = Field(min_length=1)
    provider: str = Field(min_length=1)
    base_url: str | None = None
    command: list[str] | None = Field(default=None, min_length=1)  # of an outside agent
    model: str | None = None
    revision: str | None = None
    api_key_env: str | None = None
    headers: dict[str, str] = {}
    extra_body: dict[str, Any] = {}
    concurrency: int = Field(default=16, ge=1)
    timeout: float = Field(default=120.0, gt=0)
    attempts: int = Field(default=12, ge=1)
    sees: bool = True
    context: int | None = Field(default=None, ge=1)
    price_in: float = Field(default=0.0, ge=0)
    price_out: float = Field(default=0.0, ge=0)
    cutoff: str | None = None
    send_seed: bool = False
    fixed_sampling: bool = False
    tools: Literal["calls", "text"] = "calls"  # how it is offered a search: tool calls, or lines of text

    @property
    def identity(self) -> Identity:
        return Identity(self.provider, self.model, self.revision, self.extra_body)


class JudgeSettings(CandidateSettings):
    """Who marks open answers: a candidate in a role of its own, or the rule `lexical`."""

    name: str = "judge"
    errors: bool = False  # whether it also names the kind of error behind each wrong answer

    @property
    def is_rule(self) -> bool:
        return self.provider == "lexical"

    def sampling(self, max_tokens: int) -> Sampling:
        """A judge has settings of its own: temperature 0 and a short reply, unless it is given others."""
        told = {"temperature": 0.0, "max_tokens": max_tokens, **self.given}
        if "stop" in told:
            told["stop"] = tuple(told["stop"])
        return Sampling(**told)


class Search(Table):
    """How documents are found. The defaults are the paper's (CURE), but for the retrievers: all that the index has."""

    retrievers: list[str] = []
    depth: int = Field(default=5, ge=1, le=1000)
    fusion: Literal["paper", "rrf"] = "paper"
    combine: Literal["mean", "max"] = "mean"
    weights: list[float] = []
    reranker: str | None = None
    k: int = Field(default=10, ge=1, le=100)
    query: Literal["case", "candidate"] = "case"


class Agent(Table):
    """How far an agent may go (our choice: the paper's agent was bound by other means)."""

    turns: int = Field(default=8, ge=1, le=100)
    searches: int = Field(default=5, ge=1, le=100)
    tokens: int = Field(default=24_000, ge=1)  # of all that was said, by our estimate
    step_tokens: int = Field(default=512, ge=1)  # of one reply on the way
    hits: int = Field(default=5, ge=1, le=50)


class Literature(Search):
    """The index that evidence comes from, and how it is searched. `searches` are named others, for `rag@NAME`."""

    index: str = Field(min_length=1)
    since: int | None = None
    until: int | None = None
    publication_types: list[str] = []
    searches: dict[str, Search] = {}
    agent: Agent = Agent()
    support: Literal["lexical", "judge"] = "lexical"  # who says whether documents support a diagnosis

    def search_named(self, evidence: str) -> Search:
        """The search of a value of the axis evidence."""
        return self.searches[evidence.removeprefix("rag@")] if evidence.startswith("rag@") else self


class Budget(Table):
    """Whichever is reached first stops the run cleanly."""

    requests: int | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)
    money: float | None = Field(default=None, ge=0)


class Family(Table):
    """One family of paired comparisons, fixed before the run."""

    measure: str
    between: str
    reference: str | None = None


class Study(Table):
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    cases: str = Field(min_length=1)
    questions: list[str] = ["all"]
    trials: int = Field(default=1, ge=1)
    seed: int = 0
    offline: bool = False
    severities: str = Field(default="clinical-1", min_length=1)  # a profile of the severity table, or FILE.toml:NAME
    sampling: SamplingSettings = SamplingSettings()
    candidates: list[CandidateSettings] = Field(min_length=1)
    conditions: dict[str, list[str]] = {}
    literature: Literature | None = None
    judge: JudgeSettings | None = None
    budget: Budget = Budget()
    comparisons: dict[str, Family] = {}

    @field_validator("questions", mode="before")
    @classmethod
    def _one_or_several(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("conditions", mode="before")
    @classmethod
    def _axes(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        axes: dict[str, list[str]] = {}
        for axis, chosen in value.items():
            values = chosen if isinstance(chosen, list) else [chosen]
            if not values:
                raise ValueError(f"{axis} = []: an axis needs at least one value")
            try:
                axes[axis] = [check_value(axis, item) for item in values]
            except WardroundError as error:
                raise ValueError(str(error)) from None
            if len(set(axes[axis])) != len(values):
                raise ValueError(f"{axis}: a value is there twice")
        return axes

    @model_validator(mode="after")
    def _hangs_together(self) -> Study:
        names = [candidate.name for candidate in self.candidates]
        identities = [blake(candidate.identity.named) for candidate in self.candidates]
        for place, (name, identity) in enumerate(zip(names, identities, strict=True)):
            if name in names[:place]:
                raise ValueError(f"two candidates are named {name!r}")
            if identity in identities[:place]:
                other = names[identities.index(identity)]
                raise ValueError(
                    f"candidates {other!r} and {name!r} would share their answers (same provider, model, "
                    "revision and extra_body): give one another revision"
                )
        self._refuse_without_literature()
        return self

    def _refuse_without_literature(self) -> None:
        for value in self.conditions.get("evidence", []):
            if value == "none":
                continue
            if self.literature is None:
                raise ValueError(f"evidence = {value!r} needs [literature] with the index that documents come from")
            if value.startswith("rag@") and value.removeprefix("rag@") not in self.literature.searches:
                raise ValueError(
                    f"evidence = {value!r}: there is no [literature.searches.{value.removeprefix('rag@')}]"
                )
        by_judge = self.literature is not None and self.literature.support == "judge"
        if by_judge and (self.judge is None or self.judge.is_rule):
            raise ValueError('[literature] support = "judge" needs a [judge] that is a model')

    @cached_property
    def all_conditions(self) -> list[Condition]:
        return crossed(self.conditions)

    @property
    def varied_axes(self) -> list[str]:
        """The axes with more than one value: those that slices name."""
        return [axis for axis, values in self.conditions.items() if len(values) > 1]

    @property
    def hash(self) -> str:
        """What a run folder is bound to: everything but how fast, how long and at what price."""
        told = self.model_dump(exclude={"budget"})
        if self.literature is None:
            del told["literature"]
        elif self.literature.support == "lexical":
            del told["literature"]["support"]
        for candidate in [*told["candidates"], *([told["judge"]] if told["judge"] else [])]:
            for pace in ("concurrency", "timeout", "attempts", "price_in", "price_out"):
                candidate.pop(pace)
            # a study without them keeps its hash
            for later, default in (("tools", "calls"), ("command", None), ("errors", False)):
                if candidate.get(later, ...) == default:
                    del candidate[later]
        return blake(told).hex()

    def sampling_for(self, candidate: CandidateSettings, condition: Condition) -> Sampling:
        """The study's sampling wins over the candidate's own, unless the candidate's is fixed."""
        own, studys = candidate.given, self.sampling.given
        merged = {**studys, **own} if candidate.fixed_sampling else {**own, **studys}
        if "stop" in merged:
            merged["stop"] = tuple(merged["stop"])
        reasoning = {"as-is": None, "on": True, "off": False}[condition.reasoning]
        return Sampling(**merged, reasoning=reasoning)


def load_study(path: Path) -> Study:
    """Reads a study file; whatever is wrong is one line that names the file and the key."""
    return study_from(_toml(path, "study"), path)


def load_judge(path: Path) -> JudgeSettings:
    """Reads the [judge] of a TOML file: of a study, or of a file that holds nothing else."""
    told = _toml(path, "judge").get("judge")
    if not isinstance(told, dict):
        raise BadInput(path, "there is no [judge] in it")
    try:
        return JudgeSettings.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(path, said(first), field=where(("judge", *first["loc"]))) from None


def _toml(path: Path, kind: str) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors begin files with a mark
    except FileNotFoundError:
        raise BadInput(path, f"there is no such {kind} file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(path, f"cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(path, f"is not TOML: {error}") from None


def study_from(told: dict[str, Any], path: Path) -> Study:
    """A study from its parsed table; `path` is what messages name."""
    try:
        return Study.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(path, said(first), field=where(first["loc"])) from None
