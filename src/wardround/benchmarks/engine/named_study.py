"""Named studies: the tables and figures of a benchmark that users run by name, as `studies.toml` defines them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as record_field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, field_validator, model_validator

from wardround.benchmarks.engine.benchmark import (
    STUDIES,
    Benchmark,
    benchmarks,
    find_benchmark,
    is_path,
    normalize_name,
    resolve_name,
)
from wardround.benchmarks.engine.published import PublishedTable, published_table, published_tables
from wardround.benchmarks.engine.set_statistics import Fact
from wardround.core.condition import AXES, check_value
from wardround.core.errors import BadInput, WardroundError
from wardround.core.study import Family, JudgeSettings, SamplingSettings
from wardround.core.toml_table import StrictTable, parse_table, read_toml
from wardround.measuring.measures.catalogue import define_measures
from wardround.measuring.measures.record import MeasureContext
from wardround.reporting.figures.figure_files import Mark
from wardround.reporting.tables.measured import ColumnSpec
from wardround.reporting.tables.run_notes import RunNote
from wardround.reporting.tables.table import Unit

GROUP_ACTIONS = ("list", "all")
KEY = re.compile(r"[a-z0-9][a-z0-9-]*")
TYPED_ELEMENT = re.compile(r"(table|fig|figure)-?(\d{1,4})")  # as users type one
PAPER_ELEMENTS = re.compile(r"(Table|Figure)s? (\d+(?:(?:, | and | to )\d+)*)")  # as `paper` states them


class StudyColumn(StrictTable):
    """One column, as ColumnSpec describes it. `published` names the paper's own column; `{}` in it is the heading."""

    heading: str
    measure: str
    over: str = ""
    slice: dict[str, str] = Field(default_factory=dict)
    minus: dict[str, str] = Field(default_factory=dict)
    by: str | None = None
    unit: Unit = "percent"
    decimals: int = 1
    paired: bool = True
    published: str | None = None

    def to_spec(self, headings: Mapping[str, dict[str, str]]) -> ColumnSpec:
        """The column for the table builder; values of its key get the paper's short headings."""
        return ColumnSpec(**self.model_dump(), headings=headings.get(self.by or "", {}))


class FigureLayout(StrictTable):
    """How the table is drawn, the titles of its axes, and the colours of its columns if they have a meaning.

    `also` is a second way to draw the same, as figure-2.
    """

    mark: Mark
    also: Mark | None = None
    x: str
    y: str
    leave_out: list[str] = Field(default_factory=list)
    colours: list[str] = Field(default_factory=list)


class StudyTemplate(StrictTable):
    """The part of a study file that the paper fixes; users choose the case set and the candidates."""

    questions: list[str] = Field(default_factory=lambda: ["all"])
    trials: int = Field(default=1, ge=1)
    sampling: SamplingSettings = SamplingSettings()
    conditions: dict[str, list[str]] = Field(default_factory=dict)
    severities: str | None = None
    parser: str | None = None  # the rule that the paper states for reading choices, if it has one
    doses: list[float] = Field(default_factory=list)  # severities of the type that --type names
    retrievers: list[str] = Field(default_factory=list)  # the paper's, used if the index has them
    judge: JudgeSettings | None = None
    errors: bool = False  # whether the judge classifies the error behind each wrong answer
    comparisons: dict[str, Family] = Field(default_factory=dict)

    @field_validator("conditions")
    @classmethod
    def _check_conditions(cls, conditions: dict[str, list[str]]) -> dict[str, list[str]]:
        try:
            return {axis: [check_value(axis, value) for value in values] for axis, values in conditions.items()}
        except WardroundError as error:
            raise ValueError(str(error)) from None


class CountTable(StrictTable):
    """A table of counts: cases, questions or images by the value of a key.

    `within` adds the share within a larger group (of the case set, else of the published table), `split` the share of
    each value of another key. `published` is the paper's table and `column` its counts.
    """

    title: str
    count: Literal["cases", "questions", "images"]
    by: str
    within: str | None = None
    split: str | None = None
    published: str | None = None
    column: str | None = None

    @model_validator(mode="after")
    def _check_published(self) -> CountTable:
        if (self.published is None) != (self.column is None):
            raise ValueError("published and column go together: the table and the column of its counts")
        return self


class StudyDefinition(StrictTable):
    """A table or figure as `studies.toml` defines it.

    Published rows are shown next to a run if `comparable`; otherwise `reason` says why not, and `differs` says it for
    single columns, by their heading or the heading over them. `corpus` and `agent` say what the paper searched, and by
    which agent; published_rows.py has the rule for these and all other differences. `chain_stages` are the stages of
    the paper's chains: where those of a run lack some, its SWA or CCR stands without the paper's. `drawn_from` names
    what the study's function in sections.py draws from: the case set, the run (in addition to the table of columns),
    or runs on several case sets.
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
    corpus: str | None = None
    agent: str | None = None
    chain_stages: list[str] = Field(default_factory=list)
    put: StudyTemplate | None = None
    rows: list[str] = Field(default_factory=lambda: ["candidate"])
    average: bool = False  # also the mean over candidates, if these have no groups
    columns: list[StudyColumn] = Field(default_factory=list)
    figure: FigureLayout | None = None
    drawn_from: Literal["cases", "run", "sets"] | None = None
    facts: list[Fact] = Field(default_factory=list)
    blocks: list[CountTable] = Field(default_factory=list)

    @property
    def is_composition(self) -> bool:
        return bool(self.blocks or self.facts)

    @property
    def unavailable_reason(self) -> str | None:
        """Why this version cannot run it, or None if it can."""
        return f"needs {self.lacks}, which this version lacks" if self.lacks else None

    @model_validator(mode="after")
    def _check_consistency(self) -> StudyDefinition:
        if self.comparable == (self.reason is not None):
            raise ValueError("comparable = false needs a reason, and only that")
        outputs = [self.is_composition, bool(self.columns), self.drawn_from in ("cases", "sets")]
        if self.lacks is None and sum(outputs) != 1:
            raise ValueError(
                'expected one of columns, blocks or facts, drawn_from = "cases" or "sets"; or lacks, if it cannot run'
            )
        if self.drawn_from == "run" and not self.columns:
            raise ValueError('drawn_from = "run" needs columns')
        if (self.columns or self.drawn_from == "sets") and self.put is None:
            raise ValueError("columns need the study that fills them: put")
        if self.columns and (self.rows[:1] != ["candidate"] or not set(self.rows[1:]) <= set(AXES)):
            raise ValueError(f"rows = {self.rows}: expected candidate, then axes of conditions")
        if self.published is None and any(column.published for column in self.columns):
            raise ValueError("a column names a published column, but the study names no published table")
        if unknown := set(self.differs) - {name for column in self.columns for name in (column.heading, column.over)}:
            raise ValueError(f"differs names a column that is not there: {', '.join(sorted(unknown))}")
        return self


class StudyList(StrictTable):
    """All studies of one benchmark. `headings` are the paper's short names for values, by slice key.

    `groups` are the paper's headings for groups of candidates, by the names that a study may use for them. `run_notes`
    are on every table of a run.
    """

    studies: dict[str, StudyDefinition]
    headings: dict[str, dict[str, str]] = Field(default_factory=dict)
    groups: dict[str, str] = Field(default_factory=dict)
    run_notes: list[RunNote] = Field(default_factory=list)


@dataclass(frozen=True)
class NamedStudy:
    """A study of a benchmark, named as users type it: `cure/table1`."""

    benchmark: Benchmark
    key: str
    definition: StudyDefinition
    headings: Mapping[str, dict[str, str]]
    groups: Mapping[str, str] = record_field(default_factory=dict)
    run_notes: Sequence[RunNote] = ()

    @property
    def name(self) -> str:
        return f"{self.benchmark.name}/{self.key}"

    @property
    def label(self) -> str:
        """The first line of its table and of its study file."""
        return f"{self.name}: {self.definition.title}"

    @property
    def run_name(self) -> str:
        return self.name.replace("/", "-")

    @property
    def template(self) -> StudyTemplate:
        assert self.definition.put is not None
        return self.definition.put

    @property
    def column_specs(self) -> list[ColumnSpec]:
        return [column.to_spec(self.headings) for column in self.definition.columns]

    @property
    def published(self) -> PublishedTable | None:
        """The paper's own figures, if there are any."""
        return published_table(self.benchmark, self.definition.published) if self.definition.published else None

    def to_manifest(self) -> dict[str, str]:
        """What a run's manifest keeps, to find the study again; the folder of a benchmark that was given by path."""
        by_path = find_benchmark(self.benchmark.name) != self.benchmark
        return {"name": self.name, **({"folder": str(self.benchmark.folder)} if by_path else {})}

    def to_dict(self) -> dict[str, Any]:
        """Its entry in the list of studies."""
        definition = self.definition
        return {
            "study": self.name,
            "paper": definition.paper,
            "title": definition.title,
            "needs": definition.needs,
            "trials": definition.put.trials if definition.put else None,
            "conditions": definition.put.conditions if definition.put else {},
            "published": definition.published and f"{self.benchmark.name}/{definition.published}",
            "runs": definition.unavailable_reason is None,
            "why_not": definition.unavailable_reason,
        }


def named_studies() -> dict[str, NamedStudy]:
    """The studies of all built-in and plug-in benchmarks by name."""
    return {name: study for benchmark in benchmarks().values() for name, study in studies_of(benchmark).items()}


def find_study(name: str) -> NamedStudy:
    """A study by its name (`cure/table1`) or by the path of its benchmark (`./my-benchmark/table1`)."""
    scope, _, key = name.rpartition("/")
    benchmark = find_benchmark(scope)
    if benchmark is None:
        if scope and (Path(scope) / STUDIES).is_file():
            raise WardroundError(f"there is no study {name!r}; did you mean ./{name}?")
        studies, command = named_studies(), "wardround bench list"
    else:
        studies, command = studies_of(benchmark), f"wardround bench {scope}/list"
        name = f"{benchmark.name}/{key}" if is_path(scope) else name
        if normalize_name(name) not in studies and (others := _studies_of_element(key, studies)):
            raise WardroundError(f"there is no study {name!r}; did you mean {', '.join(others)}?")
    return studies[resolve_name(name, studies, "study", command)]


def _studies_of_element(key: str, studies: Mapping[str, NamedStudy]) -> list[str]:
    """The studies of the paper's table or figure that a key such as `table6` or `fig5` names, with what they are."""
    if (typed := TYPED_ELEMENT.fullmatch(normalize_name(key))) is None:
        return []
    word, number = "Table" if typed[1] == "table" else "Figure", int(typed[2])
    names = []
    for name, study in studies.items():
        if (listed := PAPER_ELEMENTS.match(study.definition.paper)) and listed[1] == word:
            numbers = [int(digits) for digits in re.findall(r"\d+", listed[2])]
            is_range = " to " in listed[2] and numbers[0] <= number <= numbers[-1]
            if is_range or number in numbers:
                names.append(f"{name} ({study.definition.paper})")
    return names


class StudyGroup(NamedTuple):
    """What to do with several studies: `list` or `all`."""

    action: str
    studies: dict[str, NamedStudy]


def find_group(name: str) -> StudyGroup | None:
    """The studies that `list`, `cure/all`, `./my-benchmark/list` or `./my-benchmark` means; None for a single study."""
    if is_path(name) and (Path(name).expanduser() / STUDIES).is_file():
        name = f"{name}/list"
    scope, _, action = name.rpartition("/")
    if action not in GROUP_ACTIONS:
        return None
    benchmark = find_benchmark(scope) if scope else None
    if scope and benchmark is None:
        return None
    return StudyGroup(action, named_studies() if benchmark is None else studies_of(benchmark))


@cache
def studies_of(benchmark: Benchmark) -> dict[str, NamedStudy]:
    """The studies of one benchmark by name, checked against its published tables and the measures there are."""
    file = benchmark.folder / STUDIES
    listed = parse_table(StudyList, read_toml(file, "studies"), file)
    studies: dict[str, NamedStudy] = {}
    for key, definition in listed.studies.items():
        if mistake := _find_mistake(key, definition, benchmark):
            raise BadInput(file, mistake[1], field=f"studies.{key}{mistake[0]}")
        study = NamedStudy(benchmark, key, definition, listed.headings, listed.groups, tuple(listed.run_notes))
        studies[study.name] = study
    return studies


def _find_mistake(key: str, definition: StudyDefinition, benchmark: Benchmark) -> tuple[str, str] | None:
    """The first mistake that a definition alone cannot show: the key below the study, and what is wrong."""
    if not KEY.fullmatch(key) or key in GROUP_ACTIONS:
        return "", "is not a name for a study: expected small letters, digits and hyphens, and not `list` or `all`"
    tables = published_tables(benchmark)
    named = {".published": definition.published}
    named |= {f".blocks[{number}].published": block.published for number, block in enumerate(definition.blocks)}
    for field, table in named.items():
        if table and table not in tables:
            return field, f"published/notes.toml describes no table {table!r}"
    known = {measure.name for measure in define_measures(MeasureContext(trials=2, letters=2, probes=1))}
    for number, column in enumerate(definition.columns):
        measure = column.measure
        if measure not in known and not (measure.endswith("@k") and any(n.startswith(measure[:-1]) for n in known)):
            close = get_close_matches(measure, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(sorted(known))}"
            return f".columns[{number}].measure", f"unknown measure {measure!r}; {hint}"
    return None
