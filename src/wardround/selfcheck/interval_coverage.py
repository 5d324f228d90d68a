"""Interval coverage: the share of 95% intervals that contain a known truth, by class of measure."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from wardround.core.study import Study
from wardround.measuring.engine.encode import encode_marks
from wardround.measuring.engine.measurement import MeasureInputs, measure_candidates, measures_for_marks
from wardround.measuring.engine.slices import slicings
from wardround.measuring.measures.derived import DerivedInputs
from wardround.selfcheck.coverage_designs import DESIGNS, SIZES, CoverageDesign, KnownTruth

REPEATS = 2000
MAX_MARKS = 400_000  # measured at once
LEVEL = 0.95
FEW = 30  # clusters; under it intervals may be wide, never narrow
COVERAGE_LIMITS = {  # by class; `agreement` is that of interval and p, which under 30 clusters is complete
    "smooth": (0.93, 0.97),
    "boundary": (0.93, 1.0),
    "biased": (0.92, 1.0),
    "agreement": (0.93, 1.0),
    "verdict": (0.965, 1.0),  # of endpoints, which have a one-sided level of .025
}


@dataclass(frozen=True)
class TruthCoverage:
    """The share of repeats whose interval contains the truth, and the mean width of the intervals."""

    design: str
    clusters: int
    trials: int
    truth: KnownTruth
    repeats: int
    coverage: float
    width: float

    @property
    def limits(self) -> tuple[float, float]:
        low, high = COVERAGE_LIMITS[self.truth.kind]
        if self.clusters >= FEW:
            return low, high
        return (1.0 if self.truth.kind == "agreement" else low), 1.0

    @property
    def is_met(self) -> bool:
        low, high = self.limits
        noise = 3 * math.sqrt(LEVEL * (1 - LEVEL) / max(1, self.repeats)) if low < 1.0 else 0.0
        return low - noise <= self.coverage <= high + noise

    def to_dict(self) -> dict[str, Any]:
        own = {name: value for name, value in self.__dict__.items() if name != "truth"}
        return own | self.truth.__dict__ | {"limits": self.limits, "met": self.is_met}


def measure_coverage(
    repeats: int = REPEATS,
    seed: int = 0,
    note: Callable[[str], None] = print,
    designs: Sequence[CoverageDesign] = DESIGNS,
    sizes: Sequence[int] = SIZES,
) -> list[TruthCoverage]:
    """The coverage of every truth of every design, at every number of clusters and trials."""
    rows: list[TruthCoverage] = []
    for design in designs:
        note(f"{design.name}: {repeats:,} repeats at {', '.join(map(str, sizes))} clusters")
        for trials in design.trials:
            truths = design.truths(trials)
            for clusters in sizes:
                rng = np.random.default_rng([seed, clusters, trials])
                rows += _coverage(design, clusters, trials, truths, repeats, rng)
    return rows


def _coverage(
    design: CoverageDesign,
    clusters: int,
    trials: int,
    truths: list[KnownTruth],
    repeats: int,
    rng: np.random.Generator,
) -> list[TruthCoverage]:
    counts, widths, intervals = np.zeros((3, len(truths)))
    batch = max(1, MAX_MARKS // (clusters * trials * 4))
    for first in range(0, repeats, batch):
        size = min(batch, repeats - first)
        marks = design.draw(rng, size, clusters, trials)
        lines = figures(marks, simulated_study(size, trials, seed=first), {truth.measure for truth in truths})
        for place, truth in enumerate(truths):
            own = lines.filter(measure=truth.measure, slice=truth.slice).select("low", "high").drop_nulls()
            counts[place] += ((own["low"] <= truth.value + 1e-9) & (truth.value - 1e-9 <= own["high"])).sum()
            widths[place] += (own["high"] - own["low"]).sum()
            intervals[place] += len(own)  # an AUROC has none if all answers are right
    columns = (column.tolist() for column in (counts, widths, intervals))
    return [
        TruthCoverage(design.name, clusters, trials, truth, int(own), count / max(own, 1), width / max(own, 1))
        for truth, count, width, own in zip(truths, *columns, strict=True)
    ]


def figures(marks: pl.DataFrame, study: Study, names: set[str]) -> pl.DataFrame:
    """The lines of measures.csv of these measures alone."""
    encoded = encode_marks(marks, study)
    measures = [measure for measure in measures_for_marks(encoded, study) if measure.name in {"accuracy", *names}]
    chosen = slicings(encoded, study)
    means = {n: {m.name for m in measures if slicing.mean_over(m)} for n, slicing in enumerate(chosen)}
    inputs = MeasureInputs(encoded, study, measures, DerivedInputs(chosen, means, study.seed))
    return measure_candidates(inputs).table(measures, chosen, encoded.candidates)


def simulated_study(repeats: int, trials: int, seed: int, **fields: Any) -> Study:
    """A study whose candidates are the repeats."""
    candidates = [{"name": str(n), "provider": "simulated", "revision": str(n)} for n in range(repeats)]
    no_comparison = {"none": {"measure": "accuracy", "between": "prompt"}}
    own = {"name": "coverage", "cases": "none", "trials": trials, "seed": seed, "comparisons": no_comparison}
    return Study.model_validate(own | {"candidates": candidates} | fields)
