"""Entry: one table or figure of a paper as a named study, as `studies.toml` tells it."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from wardround.benchmarks.engine.folders import BENCHMARKS, FromToml, folder_of, named, read_toml
from wardround.benchmarks.engine.set_statistics import Fact
from wardround.core.condition import AXES
from wardround.core.study import Family, JudgeSettings, SamplingSettings
from wardround.reporting.figures.table_figure import Mark
from wardround.reporting.tables.measured import Wanted
from wardround.reporting.tables.table import Unit


class Column(FromToml):
    """One column: see Wanted. `published` names the paper's own column; `{}` in it is the heading."""

    heading: str
    measure: str
    over: str = ""
    slice: dict[str, str] = Field(default_factory=dict)
    minus: dict[str, str] = Field(default_factory=dict)
    by: str | None = None
    unit: Unit = "percent"
    decimals: int = 1
    version: str = ""
    paired: bool = True
    published: str | None = None

    def wanted(self, headings: dict[str, dict[str, str]]) -> Wanted:
        """The column for the renderer; values of its key have the paper's short headings."""
        return Wanted(**self.model_dump(), headings=headings.get(self.by or "", {}))


class Figure(FromToml):
    """How the table is drawn, and what its axes are called."""

    mark: Mark
    x: str
    y: str
    leave_out: list[str] = Field(default_factory=list)


class Put(FromToml):
    """What of a study file the paper fixes; the case set and the candidates are the user's."""

    questions: list[str] = Field(default_factory=lambda: ["all"])
    trials: int = Field(default=1, ge=1)
    sampling: SamplingSettings = SamplingSettings()
    conditions: dict[str, list[str]] = Field(default_factory=dict)
    severities: str | None = None
    doses: list[float] = Field(default_factory=list)  # severities of the one type that the user names
    retrievers: list[str] = Field(default_factory=list)  # what the paper searches with, if the index has it
    judge: JudgeSettings | None = None
    errors: bool = False  # whether a judge, which the user names, tells the kind of error behind each wrong answer
    comparisons: dict[str, Family] = Field(default_factory=dict)

    @field_validator("conditions")
    @classmethod
    def _known(cls, conditions: dict[str, list[str]]) -> dict[str, list[str]]:
        for axis, values in conditions.items():
            if axis not in AXES:
                raise ValueError(f"unknown axis {axis!r}")
            for value in values:
                pattern = AXES[axis].others
                if value not in AXES[axis].values and not (pattern and pattern.fullmatch(value)):
                    raise ValueError(f"{axis} has no value {value!r}")
        return conditions


class Block(FromToml):
    """One table of a composition: how many cases, questions or images there are of each value of a key.

    `within` adds the share in a larger group (from the case set, or else as the published table groups them),
    `split` the share of each value of another key. `published` and `column` are the paper's table and its counts.
    """

    title: str
    count: Literal["cases", "questions", "images"]
    by: str
    within: str | None = None
    split: str | None = None
    published: str | None = None
    column: str | None = None

    @model_validator(mode="after")
    def _both_or_neither(self) -> Block:
        if (self.published is None) != (self.column is None):
            raise ValueError("a block with a published table names the column of its counts")
        return self


class Entry(FromToml):
    """`comparable` says whether published rows may stand beside a run; if not, `reason` says why.

    `differs` gives that reason for single columns, by their heading or the heading over them. `drawn_from` says that
    the function of the study's name in the benchmark's sections.py draws what columns cannot: from the case set
    alone, from the run beside the table of its columns, or from runs on several case sets.
    """

    title: str
    paper: str
    needs: list[str]
    lacks: str | None = None
    choices: list[str] = Field(default_factory=list)
    published: str | None = None
    comparable: bool = True
    reason: str | None = None
    differs: dict[str, str] = Field(default_factory=dict)
    put: Put | None = None
    rows: list[str] = Field(default_factory=lambda: ["candidate"])
    columns: list[Column] = Field(default_factory=list)
    figure: Figure | None = None
    drawn_from: Literal["cases", "run", "sets"] | None = None
    facts: list[Fact] = Field(default_factory=list)
    blocks: list[Block] = Field(default_factory=list)

    @property
    def composition(self) -> bool:
        return bool(self.blocks or self.facts)

    @model_validator(mode="after")
    def _hangs_together(self) -> Entry:
        if self.comparable == (self.reason is not None):
            raise ValueError("comparable = false needs a reason, and only that")
        ways = [self.composition, bool(self.columns), self.drawn_from in ("cases", "sets")]
        if self.lacks is None and sum(ways) != 1:
            raise ValueError("an entry has columns, or blocks, or is drawn from cases, unless something is lacking")
        if self.drawn_from == "run" and not self.columns:
            raise ValueError("what is drawn from a run has columns beside it")
        if (self.columns or self.drawn_from == "sets") and self.put is None:
            raise ValueError("columns need a study: put")
        if self.columns and self.rows[:1] != ["candidate"]:
            raise ValueError("the first of rows is candidate")
        if self.published is None and any(column.published for column in self.columns):
            raise ValueError("a column names a published one, but the entry names no published table")
        if unknown := set(self.differs) - {name for column in self.columns for name in (column.heading, column.over)}:
            raise ValueError(f"differs names no column: {', '.join(sorted(unknown))}")
        return self

    @property
    def cannot(self) -> str | None:
        """Why this version cannot run it, or None if it can."""
        return f"needs {self.lacks}, which this version lacks" if self.lacks else None

    @property
    def _conditions(self) -> dict[str, list[str]]:
        return self.put.conditions if self.put else {}

    def told(self, name: str) -> dict[str, Any]:
        """What the list of studies says of it."""
        return {
            "study": name,
            "paper": self.paper,
            "title": self.title,
            "needs": self.needs,
            "trials": self.put.trials if self.put else None,
            "conditions": self._conditions,
            "published": self.published and f"{name.partition('/')[0]}/{self.published}",
            "runs": self.cannot is None,
            "why_not": self.cannot,
        }


class Studies(FromToml):
    """All studies of one benchmark. `headings` are the paper's short names for values, by slice key."""

    studies: dict[str, Entry]
    headings: dict[str, dict[str, str]] = Field(default_factory=dict)


def entries() -> dict[str, Entry]:
    """Every named study: `cure/table1` and what it is."""
    return {
        f"{benchmark}/{study}": entry
        for benchmark in BENCHMARKS
        for study, entry in _studies(benchmark).studies.items()
    }


def find(name: str) -> tuple[str, Entry]:
    """A study by its name, as it is listed."""
    every = entries()
    name = named(name, every, "study", "wardround bench list")
    return name, every[name]


def headings_of(benchmark: str) -> dict[str, dict[str, str]]:
    return _studies(benchmark).headings


@cache
def _studies(benchmark: str) -> Studies:
    return read_toml(folder_of(benchmark) / "studies.toml", Studies)
