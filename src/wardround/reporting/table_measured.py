"""A table drawn from a run: each cell one line of measures.csv, each change one of comparisons.csv."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from wardround.core.condition import AXES, DEFAULTS
from wardround.reporting.numbers import listed
from wardround.reporting.run import Comparison, Measure, RunFolder
from wardround.reporting.table import Cell, Column, Row, Table, Unit

NOT_MEASURED, NOT_ASKED = "not measured", "not asked"
JUDGED = ("hit@",)


@dataclass(frozen=True)
class Wanted:
    """One column as it is asked for: a measure in a slice, or its change from another slice (`minus`).

    `by` makes one column of each value that a slice key has in the run, `headings` first and in their order.
    A measure that ends in @k makes one of each k that was measured; `{}` in its heading is the k.
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

    @property
    def column(self) -> Column:
        return Column(self.heading, self.over, self.unit, self.decimals)


def measured_table(run: RunFolder, title: str, rows: tuple[str, ...], wanted: list[Wanted]) -> tuple[Table, list[Wanted]]:
    """The table with a row for each candidate (and each value of the other keys in `rows`), and its columns' figures.

    The unparsed rate stands beside every score, so it is the last column of every table.
    """
    shown = [*expanded(run, wanted), Wanted("Unparsed", "unparsed")]
    drawn: list[Row] = []
    for labels in product(*(_values(run, key) for key in rows)):
        named = dict(zip(rows, labels, strict=True))
        candidate = named.pop("candidate")
        drawn.append(Row(labels, [figure(run, each, candidate, named) for each in shown]))
    labels = tuple(key.capitalize() for key in rows)
    return Table(title, labels, [each.column for each in shown], drawn, _notes(run, shown)), shown


def _values(run: RunFolder, key: str) -> list[str]:
    if key == "candidate":
        return run.candidates
    declared = (run.declared.get("conditions") or {}).get(key, [DEFAULTS[key]])
    return declared if isinstance(declared, list) else [declared]


def expanded(run: RunFolder, wanted: list[Wanted]) -> list[Wanted]:
    """Columns by a key and columns of every k, each made the columns that the run has."""
    found: list[Wanted] = []
    for each in wanted:
        if each.by is not None:
            found += _by_value(run, each, each.by)
        elif each.measure.endswith("@k"):
            found += _by_k(run, each)
        else:
            found.append(each)
    return found


def _by_value(run: RunFolder, wanted: Wanted, key: str) -> list[Wanted]:
    there = {line.slice[key]: None for line in run.lines if line.measure == wanted.measure and set(line.slice) == {key}}
    there.pop("mean", None)
    order = [value for value in wanted.headings if value in there]
    order += [value for value in there if value not in wanted.headings]
    return [
        replace(wanted, by=None, heading=wanted.headings.get(value, value), slice={**wanted.slice, key: value})
        for value in order
    ]


def _by_k(run: RunFolder, wanted: Wanted) -> list[Wanted]:
    stem = wanted.measure.removesuffix("k")
    ks = {int(k) for line in run.lines if line.measure.startswith(stem) and (k := line.measure[len(stem) :]).isdigit()}
    if not ks:
        return [replace(wanted, heading=wanted.heading.format("k"))]
    return [replace(wanted, measure=f"{stem}{k}", heading=wanted.heading.format(k)) for k in sorted(ks)]


def figure(run: RunFolder, wanted: Wanted, candidate: str, named: Mapping[str, str]) -> Cell:
    """One cell: a figure of a candidate, or its change."""
    line = _line(run, wanted.measure, candidate, {**named, **wanted.slice})
    if not wanted.minus:
        return _cell(run, wanted.measure, line)
    before = _line(run, wanted.measure, candidate, {**named, **wanted.minus})
    if line is None or before is None or line.value is None or before.value is None:
        return Cell(said=_why(run, wanted.measure))
    paired = None if named else _paired(run, wanted, candidate)
    if paired is not None and paired.value is not None:
        return Cell(paired.value, paired.low, paired.high, paired.n, paired.clusters)
    return Cell(line.value - before.value)


def _line(run: RunFolder, measure: str, candidate: str, slice: Mapping[str, str]) -> Measure | None:
    """The figure in a slice. An axis with one value in the study is not named in its slices."""
    kept = {}
    for key, value in slice.items():
        if key in AXES and key not in run.varied_axes:
            if value not in _values(run, key):
                return None
        else:
            kept[key] = value
    return run.line(measure, candidate, kept)


def _cell(run: RunFolder, measure: str, line: Measure | None) -> Cell:
    if line is None or line.value is None:
        return Cell(said=_why(run, measure), n=line.n if line else None)
    return Cell(line.value, line.low, line.high, line.n, line.clusters, line.unparsed)


def _why(run: RunFolder, measure: str) -> str:
    return NOT_ASKED if any(line.measure == measure for line in run.lines) else NOT_MEASURED


def _paired(run: RunFolder, wanted: Wanted, candidate: str) -> Comparison | None:
    """The paired comparison that a change is, if the study declares it: same questions, one axis apart."""
    apart = [key for key in wanted.slice if wanted.slice[key] != wanted.minus.get(key)]
    if len(apart) != 1 or set(wanted.slice) != set(wanted.minus) or len(wanted.slice) > 1:
        return None
    ends = wanted.slice[apart[0]], wanted.minus[apart[0]]
    for each in run.compared:
        if each.measure == wanted.measure and dict(each.slice) == {"candidate": candidate}:
            if (each.a, each.b) == ends:
                return each
            if (each.b, each.a) == ends:
                return _turned(each)
    return None


def _turned(each: Comparison) -> Comparison:
    value, low, high = (None if number is None else -number for number in (each.value, each.high, each.low))
    return replace(each, a=each.b, b=each.a, value=value, low=low, high=high)


def _notes(run: RunFolder, shown: list[Wanted]) -> list[str]:
    asked = run.manifest.get("cases", {})
    notes = [
        f"{asked.get('cases', '?')} cases with {asked.get('questions', '?')} questions. Brackets are 95% intervals over "
        "clusters of cases."
    ]
    if not run.complete:
        notes.insert(0, f"Incomplete: {run.manifest.get('why') or 'the run did not end'}.")
    if any(each.minus for each in shown):
        notes.append("A change is paired, question by question; without brackets it is the difference of two figures.")
    judged = dict.fromkeys(each.measure for each in shown if each.measure.startswith(JUDGED))
    judges = {line.version for line in run.lines if line.measure in judged and line.version}
    if judged and judges:
        kappa = [line for line in run.lines if line.measure == "kappa" and line.value is not None]
        checked = f"kappa {kappa[0].value:.2f} against people" if kappa else "not validated against people"
        notes.append(f"{listed(list(judged))}: marked by {listed(sorted(judges))}, {checked}.")
    return notes
