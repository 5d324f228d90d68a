"""Every measure that the marks allow, over the whole and over every slice, with its interval."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.compiled import MANY_MARKS, use_loops
from wardround.measuring.engine.encode import EncodedMarks, Marks, encode_marks, is_empty
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import TOO_FEW, CellEstimates, estimate_cells
from wardround.measuring.engine.items import Items, build_items
from wardround.measuring.engine.known_sums import RANKED, shared_by_differences
from wardround.measuring.engine.lines import FIGURES, MeasureLines
from wardround.measuring.engine.measure import Measure, MeasureKind
from wardround.measuring.engine.resampling.estimates import Resampling
from wardround.measuring.engine.resampling.unions import plan_unions
from wardround.measuring.engine.slices import Slicing, slicings
from wardround.measuring.engine.sums import Integers, SumStorage, cluster_sums, place_items
from wardround.measuring.engine.tables import MEASURES
from wardround.measuring.measures.catalogue import define_measures
from wardround.measuring.measures.confidence import mean_importance
from wardround.measuring.measures.confidence_order import by_confidence, ranked_sums
from wardround.measuring.measures.derived import DerivedInputs, add_dke, add_means
from wardround.measuring.measures.record import MeasureContext
from wardround.measuring.measures.selective import COVERAGE_AT_RISK, coverage_estimates
from wardround.running.progress import NO_PROGRESS, StepProgress

# every line gives its shares unparsed and refused, over the items that it is about
READING_SUMS = ("unparsed", "scored", "refused", "scorable")
CHUNK = 2_000_000


@dataclass(frozen=True)
class MeasureInputs:
    """The marks as numbers, the measures, and what collects the inputs of derived figures."""

    encoded: EncodedMarks
    study: Study
    measures: list[Measure]
    derived: DerivedInputs
    progress: StepProgress = NO_PROGRESS

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each measure among them, by its name."""
        return {measure.name: place for place, measure in enumerate(self.measures)}

    @property
    def slicings(self) -> list[Slicing]:
        return self.derived.slicings


def measure(marks: Marks, study: Study, progress: StepProgress = NO_PROGRESS) -> pl.DataFrame:
    """The table of measures.csv: by measure, then slice, then candidate in the study's order."""
    if is_empty(marks):
        return pl.DataFrame(schema=MEASURES)
    encoded = encode_marks(marks, study)
    if encoded.mark_count >= MANY_MARKS:
        use_loops()
    measures = measures_for_marks(encoded, study)
    derived = DerivedInputs.for_table(slicings(encoded, study), measures, encoded, study.seed)
    lines = measure_candidates(MeasureInputs(encoded, study, measures, derived, progress))
    add_dke(derived, measures, len(encoded.candidates), lines)
    return lines.table(measures, derived.slicings, encoded.candidates)


def measures_for_marks(encoded: EncodedMarks, study: Study) -> list[Measure]:
    """The measures with the versions that these marks give them."""
    probes = len(study.conditions["probe"]) if encoded.has_probes and "probe" in study.conditions else 0
    importance, axes, letters = mean_importance(encoded.subjects), tuple(encoded.axes), encoded.max_options or 0
    context = MeasureContext(study.trials, encoded.parsers, encoded.judges, letters, importance, probes, axes)
    return define_measures(context)


def measure_candidates(inputs: MeasureInputs) -> MeasureLines:
    """All figures but DKE, some candidates at a time, so that memory does not grow with their number."""
    encoded, lines, storage = inputs.encoded, MeasureLines(), SumStorage()
    count = max(1, CHUNK * len(encoded.candidates) // max(CHUNK, encoded.mark_count))
    for first in range(0, len(encoded.candidates), count):
        last = min(first + count, len(encoded.candidates)) - 1
        _measure_items(build_items(encoded.marks_of(first, last), inputs.study.trials, encoded), inputs, lines, storage)
        add_means(inputs.derived, inputs.measures, range(first, last + 1), lines)
    return lines


def _measure_items(items: Items, inputs: MeasureInputs, lines: MeasureLines, storage: SumStorage) -> None:
    encoded, derived = inputs.encoded, inputs.derived
    applicable = [m for m in inputs.measures if m.kind is not MeasureKind.DERIVED and m.required_sum in items.sums]
    if not applicable:
        return
    candidates_by_sum = _candidates_by_sum(items, applicable)
    columns = item_columns(items, applicable)
    items.sums.clear()  # the columns hold all that is needed
    claims = {source: by_confidence(claimed) for source, claimed in items.claims.items()}
    plan = plan_unions(inputs.slicings, items.rows, encoded.cluster_count)
    resampling = Resampling(encoded.cluster_count, inputs.study.seed, derived, plan)
    by_slicing = []
    for number in inputs.progress.watch("measuring", plan.order, len(inputs.slicings)):
        slicing = inputs.slicings[number]
        placement = place_items(items.rows, *slicing.assign(items.rows))
        measures = [m for m in applicable if slicing.includes(m)]
        ranked: dict[str, Floats] = {}
        for source, claimed in claims.items():
            ranked |= ranked_sums(claimed, placement, len(items.rows), source) if not slicing.only_measures else {}
        sums = cluster_sums(placement, {name: columns[name] for name in _needed(measures)}, ranked, storage)
        estimates = [estimate_cells(m, sums) for m in measures]
        derived.record(number, sums, estimates)
        resampling.add(estimates, sums, number)
        if slicing.is_by_one_axis(inputs.study):
            at_risk = [m for m in inputs.measures if m.base == COVERAGE_AT_RISK and slicing.includes(m)]
            place = placement, len(items.rows), encoded.cluster_count
            estimates += coverage_estimates(at_risk, estimates, claims, *place, inputs.study.seed)
        by_slicing.append((number, sums.slice, sums.candidate, estimates))
    resampling.finish()
    for number, slice, candidate, estimates in by_slicing:
        for estimate in estimates:
            candidates = candidates_by_sum[estimate.measure.required_sum]
            _write(estimate, (slice, candidate), candidates, number, inputs, lines)


def item_columns(items: Items, measures: list[Measure]) -> dict[str, Floats]:
    """The sums that the measures need, equal ones as one array; a sum that the marks do not have is zero."""
    reading = {
        f"{name}_{group}": items.column(name) * (items.column(group) > 0)
        for group in {m.group for m in measures}
        for name in READING_SUMS
    }
    columns_by_total, columns = dict[float, list[Floats]](), {}
    for name in _needed(measures):
        column = reading[name] if name in reading else items.column(name)
        same_total = columns_by_total.setdefault(float(column.sum()), [])
        columns[name] = next((other for other in same_total if np.array_equal(other, column)), column)
        if columns[name] is column:
            same_total.append(column)
    return columns


def _needed(measures: list[Measure]) -> list[str]:
    """The sums of items that the measures take."""
    names = {name for m in measures for name in (*m.sums, m.n, m.cluster_sum, *(m.claims or ()))}
    names |= {f"{name}_{m.group}" for m in measures for name in READING_SUMS}
    names |= shared_by_differences(names)
    return sorted(name for name in names if name.partition(":")[0] not in RANKED)


def _candidates_by_sum(items: Items, measures: list[Measure]) -> dict[str, Integers]:
    """For each sum that a measure requires the candidates that have it."""
    candidate = items.rows["candidate"].cast(pl.Int64).to_numpy()
    return {name: np.unique(candidate[items.sums[name] > 0]) for name in {m.required_sum for m in measures}}


def _write(
    estimates: CellEstimates,
    cells: tuple[Integers, Integers],
    candidates: Integers,
    number: int,
    inputs: MeasureInputs,
    lines: MeasureLines,
) -> None:
    """One measure over one slicing, for every candidate that it applies to; an empty slice has n = 0."""
    slices, size = len(inputs.slicings[number].slices), len(inputs.encoded.candidates)
    slice, candidate = np.repeat(np.arange(slices), len(candidates)), np.tile(candidates, slices)
    cell = np.full(slices * size, -1)
    cell[cells[0] * size + cells[1]] = np.arange(len(cells[0]))
    source = cell[slice * size + candidate]  # -1 is the entry appended below: nothing
    if estimates.measure.kind is MeasureKind.CONDITION:  # too few cases for a yes or no
        estimates.value[estimates.method == TOO_FEW] = np.nan
    figures = {name: np.append(getattr(estimates, name), np.nan)[source] for name in FIGURES}
    counts = {name: np.append(getattr(estimates, name), 0)[source] for name in ("n", "clusters")}
    method = np.append(estimates.method, np.array([None], dtype=object))[source]
    lines.add(inputs.places[estimates.measure.name], number, slice, candidate, **figures, **counts, method=method)
