"""RunFolder: what a report is made of, read from the files of a run and from nothing else."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import polars as pl

from wardround.core.condition import DEFAULTS
from wardround.core.errors import BadInput
from wardround.core.study import Study, study_from
from wardround.measuring.engine.tables import COMPARISONS, MEASURES
from wardround.measuring.people.figures import of_models

TOGETHER = "*"  # figures of all candidates together, as the share of pairs in which the weaker is surer


@dataclass(frozen=True)
class Measure:
    """One line of measures.csv."""

    measure: str
    candidate: str
    slice: Mapping[str, str]
    value: float | None
    low: float | None
    high: float | None
    n: int | None
    clusters: int | None
    unparsed: float | None
    method: str | None
    version: str | None


@dataclass(frozen=True)
class Comparison:
    """One line of comparisons.csv: `value` is a minus b, on the same cases."""

    measure: str
    a: str
    b: str
    slice: Mapping[str, str]
    value: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None
    family: str | None
    n: int | None
    clusters: int | None
    method: str | None


@dataclass(frozen=True)
class RunFolder:
    """A run as its folder tells it. `case_list` is the page that table cells link to, if it is made."""

    folder: Path
    study: str  # study.toml as it was run
    declared: Mapping[str, Any]  # the same, parsed
    manifest: Mapping[str, Any]
    measures: pl.DataFrame
    comparisons: pl.DataFrame
    marks: pl.LazyFrame  # of all but people
    case_list: str | None = None

    @property
    def name(self) -> str:
        return str(self.manifest.get("study", {}).get("name") or self.folder.name)

    @property
    def complete(self) -> bool:
        return self.manifest.get("status") == "complete"

    @property
    def about(self) -> dict[str, Mapping[str, Any]]:
        """What the manifest tells of each candidate, by name."""
        return {told.get("name", "?"): told for told in self.manifest.get("candidates", [])}

    @property
    def people(self) -> set[str]:
        """The candidates that are people."""
        return {name for name, told in self.about.items() if told.get("provider") == "people"}

    def not_of_people(self, measure: str | None, candidate: str) -> bool:
        """Whether a candidate is people, who do not have every measure, and has no figure of this one."""
        return candidate in self.people and all(
            (line.measure, line.candidate) != (measure, candidate) for line in self.lines
        )

    @property
    def all_marks(self) -> pl.LazyFrame:
        """Those of people too."""
        return pl.scan_parquet(self.folder / "marks.parquet")

    @property
    def cases_file(self) -> str:
        """Where the cases are that the run was about."""
        told: Mapping[str, str] = self.manifest["cases"]
        return told.get("file") or told["folder"]

    @cached_property
    def as_study(self) -> Study:
        """What was declared, as measures over its marks need it."""
        return study_from(dict(self.declared), self.folder / "study.toml")

    @cached_property
    def conditions(self) -> dict[str, dict[str, str]]:
        """Every condition that marks carry, with its value on each axis."""
        told = self.marks.select(pl.col("condition").unique().sort()).collect()["condition"]
        return {condition: {**DEFAULTS, **json.loads(condition)} for condition in told}

    @cached_property
    def candidates(self) -> list[str]:
        """In the study's order, then those that only the measures name."""
        named = [*self.about, *(line.candidate for line in self.lines if line.candidate != TOGETHER)]
        return list(dict.fromkeys(named))

    @cached_property
    def lines(self) -> list[Measure]:
        path = self.folder / "measures.csv"
        return [Measure(**told) for told in _with_slices(self.measures, path)]

    @cached_property
    def compared(self) -> list[Comparison]:
        path = self.folder / "comparisons.csv"
        return [Comparison(**told) for told in _with_slices(self.comparisons, path)]

    @cached_property
    def varied_axes(self) -> dict[str, list[str]]:
        """The axes of which the study has two or more values, with these, in its order."""
        axes = self.declared.get("conditions") or {}
        return {axis: values for axis, values in axes.items() if isinstance(values, list) and len(values) > 1}

    @cached_property
    def _places(self) -> dict[tuple[str, str, frozenset[tuple[str, str]]], Measure]:
        places: dict[tuple[str, str, frozenset[tuple[str, str]]], Measure] = {}
        for line in self.lines:
            places.setdefault((line.measure, line.candidate, frozenset(line.slice.items())), line)
        return places

    def line(self, measure: str, candidate: str, slice: Mapping[str, str]) -> Measure | None:
        """The figure of a candidate in a slice (the first one, where there are several versions)."""
        return self._places.get((measure, candidate, frozenset(slice.items())))

    @cached_property
    def _measured(self) -> set[tuple[str, frozenset[tuple[str, str]]]]:
        return {(line.measure, frozenset(line.slice.items())) for line in self.lines if line.value is not None}

    def has_values(self, measure: str, slice: Mapping[str, str]) -> bool:
        """Whether any candidate has a figure in a slice."""
        return (measure, frozenset(slice.items())) in self._measured

    def linking_to(self, case_list: str | None) -> RunFolder:
        return replace(self, case_list=case_list)

    def cases_behind(self, slice: Mapping[str, str]) -> str | None:
        """The address of the case list, filtered to the marks behind one table cell."""
        if self.case_list is None:
            return None
        chosen = {key: value for key, value in slice.items() if value != "mean"}
        return f"{self.case_list}#{urlencode(chosen)}"

    def behind(self, line: Measure | None) -> str | None:
        """The address of the cases that a figure rests on."""
        return self.cases_behind({"candidate": line.candidate, **line.slice}) if line is not None and line.n else None


def read_run(folder: Path) -> RunFolder:
    """Reads a run folder; what is missing or broken is one line that names the file."""
    if not folder.is_dir():
        raise BadInput(folder, "there is no such run folder")
    marks = folder / "marks.parquet"
    if not marks.is_file():
        raise BadInput(marks, "there are no marks; `wardround mark` makes them")
    study = _text(folder / "study.toml")
    try:
        declared = tomllib.loads(study)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(folder / "study.toml", f"is not TOML: {error}") from None
    return RunFolder(
        folder=folder,
        study=study,
        declared=declared,
        manifest=_manifest(folder / "manifest.json"),
        measures=read_table(folder / "measures.csv", MEASURES),
        comparisons=read_table(folder / "comparisons.csv", COMPARISONS),
        marks=of_models(pl.scan_parquet(marks)),
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(path, f"cannot be read: {error}") from None


def _manifest(path: Path) -> Mapping[str, Any]:
    try:
        told = json.loads(_text(path))
    except json.JSONDecodeError as error:
        raise BadInput(path, f"is not JSON: {error}") from None
    if not isinstance(told, dict):
        raise BadInput(path, "expected one JSON object")
    return told


def read_table(path: Path, columns: Mapping[str, Any]) -> pl.DataFrame:
    """A CSV table of a run, its columns as they should be."""
    try:
        table = pl.read_csv(path, schema_overrides=dict(columns))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BadInput(path, f"cannot be read as a table: {str(error).splitlines()[0]}") from None
    if missing := [column for column in columns if column not in table.columns]:
        raise BadInput(path, f"lacks the column {missing[0]!r}")
    return table.select(*columns)


def _with_slices(table: pl.DataFrame, path: Path) -> list[dict[str, Any]]:
    rows = []
    for place, row in enumerate(table.iter_rows(named=True)):
        try:
            told = json.loads(row["slice"] or "{}")
        except json.JSONDecodeError:
            told = None
        if not isinstance(told, dict):
            raise BadInput(path, f"expected a JSON object, not {row['slice']!r}", line=place + 2, field="slice")
        rows.append({**row, "slice": {str(key): str(value) for key, value in told.items()}})
    return rows
