"""A table drawn from a run: each cell one line of measures.csv, each change one of comparisons.csv."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby, product

import polars as pl

from wardround.core.condition import AXES, DEFAULTS
from wardround.measuring.validation.judge_validation import judge_note
from wardround.reporting.judge_note import supported_note
from wardround.reporting.numbers import listed
from wardround.reporting.run_files import Comparison, Measure, RunFolder
from wardround.reporting.tables.table import Cell, Column, Row, Table, Unit

NOT_MEASURED, NOT_ASKED = "not measured", "not asked"
JUDGED = ("hit@",)


@dataclass(frozen=True)
class Wanted:
    """One column as it is asked for: a measure in a slice, or its change from another slice (`minus`).

    `by` makes one column of each value that a slice key has in the run, `headings` (value -> heading) first and in
    their order. A measure that ends in @k makes one of each k that was measured. `{}` in the heading is the value's
    heading, or the k; in `published`, the paper's name of the column, it is the same. Of several versions of a measure
    the first that begins with `version` is taken. A change is that of paired questions where the study declares it,
    unless `paired` is false.
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
    version: str = ""
    paired: bool = True
    published: str | None = None

    @property
    def column(self) -> Column:
        return Column(self.heading, self.over, self.unit, self.decimals)


def measured_table(
    run: RunFolder, title: str, rows: tuple[str, ...], wanted: list[Wanted]
) -> tuple[Table, list[Wanted]]:
    """The table with a row for each candidate (and each value of the other keys in `rows`), and its columns' figures.

    The unparsed rate stands beside every score, so it is the last column of every table.
    """
    shown, lines = [*expanded(run, wanted), Wanted("Unparsed", "unparsed")], Lines(run)
    drawn: list[Row] = []
    for labels in product(*(_values(run, key) for key in rows)):
        named = dict(zip(rows, labels, strict=True))
        candidate = named.pop("candidate")
        drawn.append(Row(labels, [figure(lines, each, candidate, named) for each in shown]))
    labels = tuple(key.capitalize() for key in rows)
    return Table(title, labels, [each.column for each in shown], drawn, _notes(run, shown, drawn)), shown


def _values(run: RunFolder, key: str) -> list[str]:
    if key == "candidate":
        return run.candidates
    declared = (run.declared.get("conditions") or {}).get(key, [DEFAULTS[key]])
    return declared if isinstance(declared, list) else [declared]


def expanded(run: RunFolder, wanted: list[Wanted]) -> list[Wanted]:
    """Columns by a key and columns of every k, each made the columns that the run has."""
    found: list[Wanted] = []
    for by, neighbours in groupby(wanted, key=lambda each: each.by):
        if by is not None:
            found += _by_value(run, list(neighbours), by)
            continue
        for each in neighbours:
            found += _by_k(run, each) if each.measure.endswith("@k") else [each]
    return found


def _by_value(run: RunFolder, neighbours: list[Wanted], key: str) -> list[Wanted]:
    """Neighbours by the same key stay together: all columns of its first value, then all of its second."""
    headings, there = neighbours[0].headings, dict[str, None]()
    for wanted in neighbours:
        fixed = _kept(run, wanted.slice)
        for line in run.lines:
            others = {name: value for name, value in line.slice.items() if name != key}
            if line.measure == wanted.measure and key in line.slice and others == fixed and line.slice[key] != "mean":
                there[line.slice[key]] = None
    order = [value for value in headings if value in there] + [value for value in there if value not in headings]
    return [
        replace(
            _named(wanted, headings.get(value, value)),
            by=None,
            slice={**wanted.slice, key: value},
            minus={**wanted.minus, key: value} if wanted.minus else {},
        )
        for value in order
        for wanted in neighbours
    ]


def _by_k(run: RunFolder, wanted: Wanted) -> list[Wanted]:
    stem = wanted.measure.removesuffix("k")
    ks = {int(k) for line in run.lines if line.measure.startswith(stem) and (k := line.measure[len(stem) :]).isdigit()}
    if not ks:
        return [_named(wanted, "k")]
    return [replace(_named(wanted, str(k)), measure=f"{stem}{k}") for k in sorted(ks)]


def _named(wanted: Wanted, name: str) -> Wanted:
    told = {
        part: text.replace("{}", name) for part in ("heading", "over", "published") if (text := getattr(wanted, part))
    }
    return replace(wanted, **told)


class Lines:
    """The lines of measures.csv and comparisons.csv by what they are about, all versions of a measure together."""

    def __init__(self, run: RunFolder) -> None:
        self.run = run
        self.measured = {line.measure for line in run.lines}
        self._places: dict[tuple[str, str, frozenset[tuple[str, str]]], list[Measure]] = {}
        for line in run.lines:
            self._places.setdefault((line.measure, line.candidate, frozenset(line.slice.items())), []).append(line)
        self._keys = {key for line in run.lines for key in line.slice}
        self._of_all: dict[tuple[str, str], bool] = {}
        self._changes: dict[tuple[str, frozenset[tuple[str, str]]], list[Comparison]] = {}
        for change in run.compared:
            self._changes.setdefault((change.measure, frozenset(change.slice.items())), []).append(change)

    def find(self, wanted: Wanted, candidate: str, slice: Mapping[str, str]) -> Measure | None:
        kept = _kept(self.run, slice)
        if kept is None:
            return None
        kept = {key: value for key, value in kept.items() if key in self._keys or not self._all_have(key, value)}
        found = self._places.get((wanted.measure, candidate, frozenset(kept.items())), [])
        return next((line for line in found if (line.version or "").startswith(wanted.version)), None)

    def _all_have(self, key: str, value: str) -> bool:
        """Whether a value is that of all marks: then the whole is its slice, and no other is measured."""
        if (key, value) not in self._of_all:
            marks = self.run.all_marks
            kind = marks.collect_schema().get(key)
            has = pl.col(key).list.contains(value) if isinstance(kind, pl.List) else pl.col(key) == value
            self._of_all[key, value] = kind is not None and bool(
                marks.select(has.fill_null(False).all()).collect().item()
            )
        return self._of_all[key, value]

    def change(self, wanted: Wanted, candidate: str) -> Comparison | None:
        """The paired comparison that a change is, if the study declares it: same questions, one key apart."""
        apart = [key for key in wanted.slice if wanted.slice[key] != wanted.minus.get(key)]
        if len(apart) != 1 or set(wanted.slice) != set(wanted.minus):
            return None
        ends = wanted.slice[apart[0]], wanted.minus[apart[0]]
        where = {"candidate": candidate, **wanted.slice}
        del where[apart[0]]
        for each in self._changes.get((wanted.measure, frozenset(where.items())), []):
            if (each.a, each.b) == ends:
                return each
            if (each.b, each.a) == ends:
                return _turned(each)
        return None

    def why_not(self, measure: str, candidate: str) -> str:
        measured = measure in self.measured and not self.run.not_of_people(measure, candidate)
        return NOT_ASKED if measured else NOT_MEASURED


def figure(lines: Lines, wanted: Wanted, candidate: str, named: Mapping[str, str]) -> Cell:
    """One cell: a figure of a candidate, or its change."""
    line = lines.find(wanted, candidate, {**named, **wanted.slice})
    if not wanted.minus:
        if line is None or line.value is None:
            return Cell(said=lines.why_not(wanted.measure, candidate), n=line.n if line else None)
        return Cell(line.value, line.low, line.high, line.n, line.clusters, line.unparsed)
    paired = lines.change(wanted, candidate) if wanted.paired and not named else None
    if paired is not None and paired.value is not None:
        return Cell(paired.value, paired.low, paired.high, paired.n, paired.clusters)
    before = lines.find(wanted, candidate, {**named, **wanted.minus})
    if line is None or before is None or line.value is None or before.value is None:
        return Cell(said=lines.why_not(wanted.measure, candidate))
    return Cell(line.value - before.value)


def _kept(run: RunFolder, slice: Mapping[str, str]) -> dict[str, str] | None:
    """A slice as the run names it: without axes that have one value in the study. None if it was not asked."""
    kept = {}
    for key, value in slice.items():
        if key in AXES and key not in run.varied_axes:
            if value not in _values(run, key):
                return None
        else:
            kept[key] = value
    return kept


def _turned(each: Comparison) -> Comparison:
    value, low, high = (None if number is None else -number for number in (each.value, each.high, each.low))
    return replace(each, a=each.b, b=each.a, value=value, low=low, high=high)


def _notes(run: RunFolder, shown: list[Wanted], drawn: list[Row]) -> list[str]:
    asked = run.manifest.get("cases", {})
    notes = [
        f"{asked.get('cases', '?')} cases with {asked.get('questions', '?')} questions. "
        f"Brackets are 95% intervals over clusters of cases{', of people over people too' if run.people else ''}."
    ]
    if not run.complete:
        notes.insert(0, f"Incomplete: {run.manifest.get('why') or 'the run did not end'}.")
    changes = [row.cells[place] for row in drawn for place, each in enumerate(shown) if each.minus]
    if any(cell.value is not None and cell.low is None for cell in changes):
        notes.append("A change without brackets is the difference of two figures, not paired by question.")
    judged = dict.fromkeys(each.measure for each in shown if each.measure.startswith(JUDGED))
    judges = {
        line.version
        for line in run.lines
        if line.measure in judged and line.version and line.candidate not in run.people
    }
    if judged and judges:
        _, _, kappa = judge_note(run.folder).partition(": ")
        checked = f"{kappa} against people" if kappa.startswith("kappa") else "not validated against people"
        notes.append(f"{listed(list(judged))}: marked by {listed(sorted(judges))}, {checked}.")
    if support := supported_note(run, (each.measure for each in shown)):
        notes.append(support)
    return notes
