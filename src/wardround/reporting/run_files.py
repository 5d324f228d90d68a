"""RunFiles: a run as its report needs it, read from the files of the run folder and nothing else."""

import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import polars as pl

from wardround.core.condition import DEFAULTS
from wardround.core.errors import BadInput, describe_unreadable
from wardround.core.study import Study, parse_study
from wardround.marking.marks import MARKS_FILE, scan_marks
from wardround.marking.slice_values import STRATA_SCHEMA
from wardround.measuring.comparing.groups import GROUPS, compare_groups
from wardround.measuring.engine.encode import Marks, encode_once
from wardround.measuring.engine.measure import from_any_source
from wardround.measuring.engine.reference import marks_at_reference
from wardround.measuring.engine.slices import DEGRADATION
from wardround.measuring.engine.tables import COMPARISONS, MEASURES, restore_texts
from wardround.measuring.modelling.abilities import Abilities, fit_abilities
from wardround.measuring.people.figures import without_people
from wardround.measuring.validation.item_review import items_to_review
from wardround.running.inputs.run_inputs import find_cases
from wardround.running.parquet import open_table
from wardround.running.run_folder import require_run
from wardround.running.settings.verdict import SettingVerdict, verdicts_of

SliceKey = frozenset[tuple[str, str]]
ADDED = ("refused",)  # columns that measures.csv lacks in runs of earlier versions
TEXT_ONLY = "text only"  # what a candidate is that does not see
ALL_CANDIDATES = "*"  # figures over all candidates, such as the share of pairs in which the weaker is surer


@dataclass(frozen=True)
class MeasureLine:
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
    refused: float | None
    method: str | None
    version: str | None


@dataclass(frozen=True)
class ComparisonLine:
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
class RunFiles:
    """The files of one run. `case_list` is the page that table cells link to, if there is one."""

    folder: Path
    study_text: str  # study.toml as it was run
    study_settings: Mapping[str, Any]  # the same, parsed
    manifest: Mapping[str, Any]
    measures: pl.DataFrame
    comparisons: pl.DataFrame
    all_marks: pl.LazyFrame
    marks: pl.LazyFrame  # without those of people
    case_list: str | None = None
    condition: Mapping[str, str] | None = None  # these are the figures of another condition than the reference
    encoded_reference: Marks | None = None  # the marks of the reference condition, if they are encoded already

    @property
    def name(self) -> str:
        return str(self.manifest.get("study", {}).get("name") or self.folder.name)

    @property
    def is_complete(self) -> bool:
        return self.manifest.get("status") == "complete"

    @property
    def candidate_entries(self) -> dict[str, Mapping[str, Any]]:
        """Each candidate's entry in the manifest, by name."""
        return {entry.get("name", "?"): entry for entry in self.manifest.get("candidates", [])}

    @property
    def people(self) -> set[str]:
        return {name for name, entry in self.candidate_entries.items() if entry.get("provider") == "people"}

    @cached_property
    def text_only(self) -> set[str]:
        """The candidates that do not see images, in a study that shows some."""
        blind = {name for name, entry in self.candidate_entries.items() if not entry.get("sees", True)}
        if not blind or (self.manifest.get("cases") or {}).get("images") == 0:
            return set()
        conditions = self.study.all_conditions
        shows_images = any(condition.sends_images and condition.telling != "text" for condition in conditions)
        return blind if shows_images else set()

    @cached_property
    def missing_settings(self) -> dict[str, list[SettingVerdict]]:
        """The settings that had no effect, of each candidate that has such."""
        missing = {
            name: [verdict for verdict in verdicts_of(entry) if verdict.is_missing]
            for name, entry in self.candidate_entries.items()
        }
        return {name: verdicts for name, verdicts in missing.items() if verdicts}

    def remark(self, candidate: str) -> str:
        """What sets a candidate apart in every table: it sees no images, or a setting had no effect."""
        labels = [verdict.label for verdict in self.missing_settings.get(candidate, ())]
        return "; ".join([*([TEXT_ONLY] if candidate in self.text_only else []), *labels])

    def printed_name(self, candidate: str) -> str:
        """A candidate's name with what sets it apart."""
        return f"{candidate} ({remark})" if (remark := self.remark(candidate)) else candidate

    @cached_property
    def reference_marks(self) -> pl.LazyFrame:
        """The marks of the reference condition."""
        return marks_at_reference(self.marks, self.study)

    @cached_property
    def marks_at_reference(self) -> Marks:
        """The same, encoded once for all figures that are taken from them."""
        if self.encoded_reference is not None:
            return self.encoded_reference
        return encode_once(self.reference_marks, self.study)

    def compare_patients(self, measure: str) -> pl.DataFrame:
        """Groups of patients in the reference condition, compared once for all sections, or read from groups.csv."""
        if measure not in self._compared_patients:
            self._compared_patients[measure] = self._read_groups(measure)
        return self._compared_patients[measure]

    @cached_property
    def _compared_patients(self) -> dict[str, pl.DataFrame]:
        return {}

    def _read_groups(self, measure: str) -> pl.DataFrame:
        path = self.folder / "groups.csv"
        table = read_table(path, GROUPS) if path.is_file() and self.condition is None else None
        if table is not None and measure in table["measure"]:
            return table.filter(pl.col("measure") == measure)
        return compare_groups(self.marks_at_reference, self.study, measure=measure)

    @cached_property
    def abilities(self) -> Abilities | None:
        """The item-response model of the reference condition, fitted once for the page and its table."""
        return fit_abilities(self.reference_marks, self.study)

    @cached_property
    def items_to_review(self) -> pl.DataFrame:
        """The questions whose key may be wrong in the reference condition, for the page and its table."""
        return items_to_review(self.reference_marks)

    @cached_property
    def clusters(self) -> list[str]:
        """All clusters of the run, whose resamples are the same for every figure."""
        return self.marks.select(pl.col("cluster").unique().sort()).collect()["cluster"].to_list()

    @property
    def cases_file(self) -> str:
        """The path of the case set."""
        return str(find_cases(self.folder, self.manifest))

    @cached_property
    def study(self) -> Study:
        """The study as a validated record."""
        return parse_study(dict(self.study_settings), self.folder / "study.toml")

    @cached_property
    def conditions(self) -> dict[str, dict[str, str]]:
        """Every condition in the marks, with its value on each axis."""
        conditions = self.marks.select(pl.col("condition").unique().sort()).collect()["condition"]
        return {condition: {**DEFAULTS, **json.loads(condition)} for condition in conditions}

    @cached_property
    def candidates(self) -> list[str]:
        """Names in the study's order, then those that only the measures have."""
        names = dict.fromkeys([*self.candidate_entries, *(line.candidate for line in self.measure_lines)])
        return [name for name in names if name != ALL_CANDIDATES]

    @cached_property
    def measure_lines(self) -> list[MeasureLine]:
        return [MeasureLine(**row) for row in _rows_with_slices(self.measures, self.folder / "measures.csv")]

    @cached_property
    def measure_names(self) -> list[str]:
        """The measures that have lines, in the order of the file."""
        return list(dict.fromkeys(line.measure for line in self.measure_lines))

    @cached_property
    def has_refusals(self) -> bool:
        """Whether a question was refused: then the rate is printed next to every score."""
        return any(line.refused for line in self.measure_lines)

    @cached_property
    def comparison_lines(self) -> list[ComparisonLine]:
        return parse_comparisons(self.comparisons, self.folder / "comparisons.csv")

    def declared_values(self, axis: str) -> list[str]:
        """The values of an axis in the study, or its default."""
        values = (self.study_settings.get("conditions") or {}).get(axis, DEFAULTS[axis])
        return values if isinstance(values, list) else [values]

    @cached_property
    def varied_axes(self) -> dict[str, list[str]]:
        """The axes that have two or more values, with these values, in the study's order."""
        axes = self.study_settings.get("conditions") or {}
        return {axis: values for axis, values in axes.items() if isinstance(values, list) and len(values) > 1}

    @cached_property
    def _line_by_key(self) -> dict[tuple[str, str, SliceKey], MeasureLine]:
        """The lines by their key; of a run by an earlier wardround, in which a key may repeat, the first."""
        lines = reversed(self.measure_lines)
        return {(line.measure, line.candidate, frozenset(line.slice.items())): line for line in lines}

    def find_line(self, measure: str, candidate: str, slice: Mapping[str, str]) -> MeasureLine | None:
        """A candidate's line in a slice; without one, that of the measure from another source of confidence."""
        keys = ((name, candidate, frozenset(slice.items())) for name in from_any_source(measure))
        return next((line for key in keys if (line := self._line_by_key.get(key))), None)

    @cached_property
    def _asked_slices(self) -> set[tuple[str, SliceKey]]:
        return {(line.candidate, frozenset(line.slice.items())) for line in self.measure_lines if line.n}

    def was_asked(self, candidate: str, slice: Mapping[str, str]) -> bool:
        """Whether a candidate has answers in a slice; a mean over a key is of the whole."""
        return (candidate, frozenset(pair for pair in slice.items() if pair[1] != "mean")) in self._asked_slices

    @cached_property
    def _slices_with_values(self) -> set[tuple[str, SliceKey]]:
        return {(line.measure, frozenset(line.slice.items())) for line in self.measure_lines if line.value is not None}

    def has_values(self, measure: str, slice: Mapping[str, str]) -> bool:
        """Whether any candidate has a value in a slice."""
        return (measure, frozenset(slice.items())) in self._slices_with_values

    def cases_link(self, slice: Mapping[str, str]) -> str | None:
        """The address of the case list, filtered to a slice; None without case pages."""
        if self.case_list is None:
            return None
        filters = {key: value for key, value in slice.items() if value != "mean"}
        return f"{self.case_list}#{urlencode(filters)}"

    def line_cases_link(self, line: MeasureLine | None) -> str | None:
        """The address of the cases behind a line."""
        if line is None or not line.n:
            return None
        reference = {**self.study.reference_condition, **(self.condition or {})}
        if set(STRATA_SCHEMA) & set(line.slice):
            reference.pop(DEGRADATION, None)
        return self.cases_link({"candidate": line.candidate, **reference, **line.slice})


def read_run(folder: Path, marks: pl.LazyFrame | None = None, encoded_reference: Marks | None = None) -> RunFiles:
    """Reads a run folder; raises BadInput with the file's name if one is missing or broken.

    `marks` are those of marks.parquet, if they are read already; `encoded_reference` what `write_measures` returned.
    """
    require_run(folder)
    open_table(folder / MARKS_FILE, "write the marks by `wardround mark RUN`")
    study_text = _read_text(folder / "study.toml")
    try:
        settings = tomllib.loads(study_text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(folder / "study.toml", f"is not TOML: {error}") from None
    manifest = _read_manifest(folder / "manifest.json")
    if "chance" in manifest and "reference" not in manifest:
        raise BadInput(folder, "was measured by an earlier wardround, which pooled conditions; run `wardround mark`")
    all_marks = scan_marks(folder) if marks is None else marks
    return RunFiles(
        folder=folder,
        study_text=study_text,
        study_settings=settings,
        manifest=manifest,
        measures=read_table(folder / "measures.csv", MEASURES, optional=ADDED),
        comparisons=read_table(folder / "comparisons.csv", COMPARISONS),
        all_marks=all_marks,
        marks=without_people(all_marks),
        encoded_reference=encoded_reference,
    )


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(path, describe_unreadable(error)) from None


def _read_manifest(path: Path) -> Mapping[str, Any]:
    try:
        manifest = json.loads(_read_text(path))
    except json.JSONDecodeError as error:
        raise BadInput(path, f"is not JSON: {error}") from None
    if not isinstance(manifest, dict):
        raise BadInput(path, "expected one JSON object")
    return manifest


def read_table(path: Path, columns: Mapping[str, Any], optional: Collection[str] = ()) -> pl.DataFrame:
    """A CSV table of a run, with these columns and types; `optional` ones are empty if the file lacks them."""
    try:
        table = pl.read_csv(path, schema_overrides=dict(columns))
    except FileNotFoundError:
        raise BadInput(path, "there is no such table; write it by `wardround mark RUN`") from None
    except (OSError, pl.exceptions.PolarsError):
        raise BadInput(path, "is damaged or is not a CSV table; write it again by `wardround mark RUN`") from None
    missing = [column for column in columns if column not in table.columns]
    if required := [column for column in missing if column not in optional]:
        raise BadInput(path, f"lacks the column {required[0]!r}")
    complete = table.with_columns(pl.lit(None, columns[column]).alias(column) for column in missing).select(*columns)
    return restore_texts(complete)


def parse_comparisons(table: pl.DataFrame, path: Path) -> list[ComparisonLine]:
    """The lines of a table of comparisons; `path` is named if a slice is damaged."""
    return [ComparisonLine(**row) for row in _rows_with_slices(table, path)]


def _rows_with_slices(table: pl.DataFrame, path: Path) -> list[dict[str, Any]]:
    rows = []
    for index, row in enumerate(table.iter_rows(named=True)):
        try:
            slice = json.loads(row["slice"] or "{}")
        except json.JSONDecodeError:
            slice = None
        if not isinstance(slice, dict):
            raise BadInput(path, f"expected a JSON object, not {row['slice']!r}", line=index + 2, field="slice")
        rows.append({**row, "slice": {str(key): str(value) for key, value in slice.items()}})
    return rows
