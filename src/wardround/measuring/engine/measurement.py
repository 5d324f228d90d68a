"""Every measure that the marks allow, over the whole and over every slice, with its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.encode import Coded, coded, is_empty
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import TOO_FEW, Figures, figures
from wardround.measuring.engine.items import Items, importance_scale, items
from wardround.measuring.engine.lines import FIGURES, Lines
from wardround.measuring.engine.measure import Kind, Measure
from wardround.measuring.engine.resampling import Resampling
from wardround.measuring.engine.slices import Slicing, slicings
from wardround.measuring.engine.sums import Whole, cluster_sums, placed
from wardround.measuring.engine.tables import MEASURES
from wardround.measuring.measures.confidence_order import RANKED, by_confidence, ranked_sums
from wardround.measuring.measures.definitions import definitions
from wardround.measuring.measures.derived import Joining, join, join_means

BESIDE = ("unparsed", "scored")  # what stands beside every figure, of the items that it is about
CHUNK = 2_000_000  # marks looked at together


@dataclass(frozen=True)
class Sitting:
    """What is measured: the marks as numbers, the measures, the ways of slicing, and what joins figures."""

    numbers: Coded
    study: Study
    defined: list[Measure]
    joining: Joining

    @property
    def slicings(self) -> list[Slicing]:
        return self.joining.slicings


def measure(marks: pl.DataFrame | pl.LazyFrame, study: Study) -> pl.DataFrame:
    """The table of measures.csv: by measure, then slice, then candidate in the study's order."""
    if is_empty(marks):
        return pl.DataFrame(schema=MEASURES)
    numbers = coded(marks, study)
    defined = defined_for(numbers, study)
    joining = Joining.of_table(slicings(numbers, study), defined, numbers, study.seed)
    lines = measured(Sitting(numbers, study, defined, joining))
    join(joining, defined, len(numbers.candidates), lines)
    return lines.table(defined, joining.slicings, numbers.candidates)


def defined_for(numbers: Coded, study: Study) -> list[Measure]:
    """The measures with the versions that these marks give them."""
    letters = numbers.source.select(pl.col("k").max()).collect().item() if "k" in numbers.extras else 0
    probes = sum(value != "none" for value in study.conditions.get("probe", ()))
    return definitions(study.trials, numbers.parsers, numbers.judges, letters, importance_scale(numbers), probes)


def measured(sitting: Sitting) -> Lines:
    """All figures but the joined ones, some candidates at a time, so that memory does not grow with their number."""
    numbers, lines = sitting.numbers, Lines()
    many = max(1, CHUNK * len(numbers.candidates) // max(CHUNK, numbers.rows))
    for first in range(0, len(numbers.candidates), many):
        last = min(first + many, len(numbers.candidates)) - 1
        _measure(items(numbers.of(first, last), sitting.study.trials, numbers), sitting, lines)
        join_means(sitting.joining, sitting.defined, range(first, last + 1), lines)
    return lines


def _measure(each: Items, sitting: Sitting, lines: Lines) -> None:
    numbers, joining = sitting.numbers, sitting.joining
    applied = [m for m in sitting.defined if m.needed in each.sums]
    if not applied:
        return
    whom = _applying(each, applied)
    columns = item_columns(each, applied)
    each.sums.clear()  # all that is needed of them is in the columns
    claims = {source: by_confidence(claimed) for source, claimed in each.claims.items()}
    resampling = Resampling(numbers.size, sitting.study.seed, joining)
    taken = []
    for number, slicing in enumerate(sitting.slicings):
        at = placed(each.rows, *slicing.of(each.rows))
        held = [m for m in applied if slicing.holds(m)]
        ranked: dict[str, Floats] = {}
        for source, claimed in claims.items():
            ranked |= ranked_sums(claimed, at, len(each.rows), source) if not slicing.only else {}
        sums = cluster_sums(at, {name: columns[name] for name in _needed(held)}, ranked)
        found = [figures(m, sums) for m in held]
        joining.note(number, sums, found)
        resampling.add(found, sums, number)
        taken.append((sums.slice, sums.candidate, found))
    resampling.finish()
    for number, (slice, candidate, found) in enumerate(taken):
        for figure in found:
            _write(figure, (slice, candidate), whom, number, sitting, lines)


def item_columns(each: Items, applied: list[Measure]) -> dict[str, Floats]:
    """The sums that some measures need, those that are equal as one array; what no mark tells is zero."""
    nothing = np.zeros(len(each.rows))
    beside = {
        f"{name}_{group}": each.sums.get(name, nothing) * (each.sums.get(group, nothing) > 0)
        for group in {m.about for m in applied}
        for name in BESIDE
    }
    told, seen, found = each.sums | beside, dict[float, list[Floats]](), {}
    for name in _needed(applied):
        column = told.get(name, nothing)
        alike = seen.setdefault(float(column.sum()), [])
        found[name] = next((other for other in alike if np.array_equal(other, column)), column)
        if found[name] is column:
            alike.append(column)
    return found


def _needed(measures: list[Measure]) -> list[str]:
    """The sums of items that some measures are made of."""
    names = {name for m in measures for name in (*m.sums, m.n, m.counted, *(f"{each}_{m.about}" for each in BESIDE))}
    return sorted(name for name in names if name.partition(":")[0] not in RANKED)


def _applying(each: Items, applied: list[Measure]) -> dict[str, Whole]:
    """For each thing that a measure needs the candidates that have it."""
    candidate = each.rows["candidate"].cast(pl.Int64).to_numpy()
    return {needed: np.unique(candidate[each.sums[needed] > 0]) for needed in {m.needed for m in applied}}


def _write(
    found: Figures,
    cells: tuple[Whole, Whole],
    applying: dict[str, Whole],
    number: int,
    sitting: Sitting,
    lines: Lines,
) -> None:
    """One measure over one slicing, for every candidate that it applies to; an empty slice has n = 0."""
    slices, size = len(sitting.slicings[number].slices), len(sitting.numbers.candidates)
    whom = applying[found.measure.needed]
    slice, candidate = np.repeat(np.arange(slices), len(whom)), np.tile(whom, slices)
    cell = np.full(slices * size, -1)
    cell[cells[0] * size + cells[1]] = np.arange(len(cells[0]))
    at = cell[slice * size + candidate]  # -1 is what stands last: nothing
    if found.measure.kind is Kind.CONDITION:  # a yes or no of too few cases is not told
        found.value[found.method == TOO_FEW] = np.nan
    told = {name: np.append(getattr(found, name), np.nan)[at] for name in FIGURES}
    counts = {name: np.append(getattr(found, name), 0)[at] for name in ("n", "clusters")}
    method = np.append(found.method, np.array([None], dtype=object))[at]
    lines.add(sitting.defined.index(found.measure), number, slice, candidate, **told, **counts, method=method)
