"""A table of a run's figures: each cell is a line of measures.csv, each change one of comparisons.csv."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby, product

import polars as pl

from wardround.asking.degradation import CLEAN_LEVEL
from wardround.core.condition import AXES
from wardround.marking.slice_values import STRATA_SCHEMA
from wardround.measuring.engine.measure import from_any_source
from wardround.measuring.validation.judge_validation import judge_note
from wardround.reporting.absence import MEANINGS, NO_INTERVAL, NOT_ASKED, missing_reason
from wardround.reporting.judge_note import support_test_note
from wardround.reporting.numbers import join_words
from wardround.reporting.refusals import refusals_note
from wardround.reporting.run_files import ComparisonLine, MeasureLine, RunFiles, SliceKey
from wardround.reporting.tables.remarks import add_remarks
from wardround.reporting.tables.table import Cell, Column, Table, TableRow, Unit

JUDGED = ("hit@", "rubric_")


@dataclass(frozen=True)
class ColumnSpec:
    """The specification of a column: a measure in a slice, or its change from another slice (`minus`).

    `by` makes one column for each value of a slice key in the run; the keys of `headings` (value -> heading) come
    first. A measure that ends in @k makes one column for each measured k. `{}` in `heading`, `over` and `published`
    (the paper's name of the column) is replaced by the value's heading or by k. A measure of votes stands for the same
    from another source of confidence if there are no votes. A change is the paired comparison if the study declares
    it, unless `paired` is false.
    """

    heading: str
    measure: str
    over: str = ""
    slice: Mapping[str, str] = field(default_factory=dict)
    minus: Mapping[str, str] = field(default_factory=dict)
    by: str | None = None
    headings: Mapping[str, str] = field(default_factory=dict)
    unit: Unit = "percent"
    decimals: int = 1
    paired: bool = True
    published: str | None = None

    @property
    def column(self) -> Column:
        return Column(self.heading, self.over, self.unit, self.decimals)


def measured_table(
    run: RunFiles, title: str, row_keys: tuple[str, ...], specs: list[ColumnSpec]
) -> tuple[Table, list[ColumnSpec]]:
    """The table with a row for each combination of values of `row_keys`, and the specification of each column.

    Every table ends with the unparsed rate and, if questions were refused, that rate: they belong next to every score.
    """
    lines = RunLines(run)
    columns = [*_expand_columns(lines, specs), ColumnSpec("Unparsed", "unparsed")]
    columns += [ColumnSpec("Refused", "refused")] if run.has_refusals else []
    rows: list[TableRow] = []
    for labels in product(*(run.candidates if key == "candidate" else run.declared_values(key) for key in row_keys)):
        row_slice = dict(zip(row_keys, labels, strict=True))
        candidate = row_slice.pop("candidate")
        rows.append(TableRow(labels, [_measured_cell(lines, spec, candidate, row_slice) for spec in columns]))
    headings = tuple(key.capitalize() for key in row_keys)
    notes = _notes(run, columns, rows)
    absent = dict.fromkeys(spec.by for spec in specs if spec.by is not None and not _by_value(lines, [spec], spec.by))
    notes += [f"There are no columns by {key}: the run has no figures by it." for key in absent]
    table = Table(title, headings, [spec.column for spec in columns], rows, notes)
    return add_remarks(table, run), columns


def _expand_columns(lines: "RunLines", specs: list[ColumnSpec]) -> list[ColumnSpec]:
    """Replaces each column by a key or of every k by one column per value that the run has."""
    columns: list[ColumnSpec] = []
    for key, neighbours in groupby(specs, key=lambda spec: spec.by):
        if key is not None:
            columns += _by_value(lines, list(neighbours), key)
            continue
        for spec in neighbours:
            columns += _by_k(lines.run, spec) if spec.measure.endswith("@k") else [spec]
    return columns


def _by_value(lines: "RunLines", neighbours: list[ColumnSpec], key: str) -> list[ColumnSpec]:
    """Columns by the same key stay together: all columns of its first value, then all of its second."""
    run, headings, values = lines.run, neighbours[0].headings, dict[str, None]()
    for spec in neighbours:
        fixed = _run_slice(run, spec.slice)
        for line in run.measure_lines:
            others = {name: value for name, value in line.slice.items() if name != key}
            if (
                line.measure in from_any_source(spec.measure)
                and key in line.slice
                and others == fixed
                and line.slice[key] != "mean"
            ):
                values[line.slice[key]] = None
    if not values and (sole := lines.sole_value(key)) is not None:
        values[sole] = None
    order = [value for value in headings if value in values] + [value for value in values if value not in headings]
    return [
        replace(
            _fill_headings(spec, headings.get(value, value)),
            by=None,
            slice={**spec.slice, key: value},
            minus={**spec.minus, key: value} if spec.minus else {},
        )
        for value in order
        for spec in neighbours
    ]


def _by_k(run: RunFiles, spec: ColumnSpec) -> list[ColumnSpec]:
    stem = spec.measure.removesuffix("k")
    names = {line.measure.removeprefix(stem) for line in run.measure_lines if line.measure.startswith(stem)}
    ks = sorted({int(k) for k, _, _ in (name.partition("_") for name in names) if k.isdigit()})
    if not ks:
        return [_fill_headings(spec, "k")]
    return [replace(_fill_headings(spec, str(k)), measure=f"{stem}{k}") for k in ks]


def _fill_headings(spec: ColumnSpec, name: str) -> ColumnSpec:
    headings = {
        field: text.replace("{}", name) for field in ("heading", "over", "published") if (text := getattr(spec, field))
    }
    return replace(spec, **headings)


class RunLines:
    """Finds the line of measures.csv or comparisons.csv behind a column."""

    def __init__(self, run: RunFiles) -> None:
        self.run = run
        self._keys = {key for line in run.measure_lines for key in line.slice}
        self._sole_values: dict[str, str | None] = {}
        self._changes: dict[tuple[str, SliceKey], list[ComparisonLine]] = {}
        for change in run.comparison_lines:
            self._changes.setdefault((change.measure, frozenset(change.slice.items())), []).append(change)

    def find(self, spec: ColumnSpec, candidate: str, slice: Mapping[str, str]) -> MeasureLine | None:
        run_slice = self._measured_slice(slice)
        return None if run_slice is None else self.run.find_line(spec.measure, candidate, run_slice)

    def _measured_slice(self, slice: Mapping[str, str]) -> dict[str, str] | None:
        """The slice as measures.csv has it; None if it was not asked."""
        run_slice = _run_slice(self.run, slice)
        if run_slice is None:
            return None
        return {key: value for key, value in run_slice.items() if key in self._keys or not self._is_whole(key, value)}

    def _is_whole(self, key: str, value: str) -> bool:
        """Whether all marks have this value, or a mean is over one alone: then no slice by the key is measured."""
        sole = self.sole_value(key)
        return sole is not None and value in (sole, "mean")

    def sole_value(self, key: str) -> str | None:
        """The one value of a key that all marks have, those of clean images aside for a degradation's."""
        if key not in self._sole_values:
            marks = self.run.all_marks
            dtype = marks.collect_schema().get(key)
            if key in STRATA_SCHEMA and key != "severity" and dtype is not None:
                marks = marks.filter(pl.col("severity") != CLEAN_LEVEL)
            if isinstance(dtype, pl.List):
                marks = marks.explode(key)
            values = [] if dtype is None else marks.select(pl.col(key).unique()).collect()[key].to_list()
            self._sole_values[key] = values[0] if len(values) == 1 else None
        return self._sole_values[key]

    def find_change(self, spec: ColumnSpec, candidate: str) -> ComparisonLine | None:
        """The paired comparison behind a change, if the study declares one between slices that differ in one key."""
        after, before = self._measured_slice(spec.slice), self._measured_slice(spec.minus)
        if after is None or before is None or set(after) != set(before):
            return None
        differing = [key for key in after if after[key] != before[key]]
        if len(differing) != 1:
            return None
        values = after[differing[0]], before[differing[0]]
        slice = {"candidate": candidate, **after}
        del slice[differing[0]]
        keys = [(name, frozenset(slice.items())) for name in from_any_source(spec.measure)]
        for change in (change for key in keys for change in self._changes.get(key, [])):
            if (change.a, change.b) == values:
                return change
            if (change.b, change.a) == values:
                return _reversed(change)
        return None

    def missing_cell(self, spec: ColumnSpec, candidate: str, slice: Mapping[str, str]) -> Cell:
        """The cell of a figure that is not there, with the reason."""
        run_slice = self._measured_slice(slice)
        reason = NOT_ASKED if run_slice is None else missing_reason(self.run, spec.measure, candidate, run_slice)
        return Cell(text=reason)


def _measured_cell(lines: RunLines, spec: ColumnSpec, candidate: str, row_slice: Mapping[str, str]) -> Cell:
    """A candidate's value in a column, or its change."""
    slice = {**row_slice, **spec.slice}
    line = lines.find(spec, candidate, slice)
    if not spec.minus:
        if line is None or line.value is None:
            return replace(lines.missing_cell(spec, candidate, slice), n=line.n if line else None)
        return Cell(line.value, line.low, line.high, line.n, line.clusters, line.unparsed, line.refused)
    paired = lines.find_change(spec, candidate) if spec.paired and not row_slice else None
    if paired is not None and paired.value is not None:
        return Cell(paired.value, paired.low, paired.high, paired.n, paired.clusters)
    other_slice = {**row_slice, **spec.minus}
    before = lines.find(spec, candidate, other_slice)
    if line is None or line.value is None:
        return lines.missing_cell(spec, candidate, slice)
    if before is None or before.value is None:
        return lines.missing_cell(spec, candidate, other_slice)
    return Cell(line.value - before.value)


def _run_slice(run: RunFiles, slice: Mapping[str, str]) -> dict[str, str] | None:
    """The slice as the run's files have it: without axes that have one value. None if it was not asked."""
    run_slice = {}
    for key, value in slice.items():
        if key in AXES and key not in run.varied_axes:
            if value not in run.declared_values(key):
                return None
        else:
            run_slice[key] = value
    return run_slice


def _reversed(change: ComparisonLine) -> ComparisonLine:
    value, low, high = (None if number is None else -number for number in (change.value, change.high, change.low))
    return replace(change, a=change.b, b=change.a, value=value, low=low, high=high)


def _notes(run: RunFiles, columns: list[ColumnSpec], rows: list[TableRow]) -> list[str]:
    cases = run.manifest.get("cases", {})
    notes = [
        f"{cases.get('cases', '?')} cases with {cases.get('questions', '?')} questions. "
        f"Brackets: 95% intervals over clusters of cases{', for people also over people' if run.people else ''}."
    ]
    if not run.is_complete:
        notes.insert(0, f"Incomplete: {run.manifest.get('why') or 'the run did not end'}.")
    without = [
        spec
        for row in rows
        for cell, spec in zip(row.cells, columns, strict=True)
        if cell.value is not None and cell.low is None
    ]
    if any(spec.minus for spec in without):
        notes.append("A change without brackets is a difference of two figures that is not paired by question.")
    reasons = [reason for reason in MEANINGS if any(cell.text == reason for row in rows for cell in row.cells)]
    reasons += [NO_INTERVAL] if any(not spec.minus for spec in without) else []
    notes += [f"{reason.capitalize()}: {MEANINGS[reason]}" for reason in reasons]
    judged = dict.fromkeys(spec.measure for spec in columns if spec.measure.startswith(JUDGED))
    judges = {
        line.version
        for line in run.measure_lines
        if line.measure in judged and line.version and line.candidate not in run.people
    }
    if judged and judges:
        _, _, kappa = judge_note(run.folder).partition(": ")
        validation = f"{kappa} against people" if kappa.startswith("kappa") else "not validated against people"
        notes.append(f"{join_words(list(judged))}: marked by {join_words(sorted(judges))}, {validation}.")
    if refusals := refusals_note(run):
        notes.append(refusals)
    if support := support_test_note(run, (spec.measure for spec in columns)):
        notes.append(support)
    return notes
