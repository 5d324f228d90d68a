"""SummaryFigures: the figures and the adjusted tests that the sentences of a summary rest on.

Every kind of claim is one family over all candidates: pairs and axes by step-down max-T, groups and stages by max-T
within a candidate's key and Bonferroni over keys and candidates, single figures by Holm. So where there is nothing to
find, at most 5% of all summaries make a claim of a kind (the level is our choice).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from wardround.core.condition import DEFAULTS
from wardround.core.study import Family
from wardround.measuring import compare, compare_groups
from wardround.measuring.acceptance.against_number import line_figure
from wardround.measuring.comparing.families import PEOPLE, SEVERITY
from wardround.measuring.engine.measure import STATED, measure_name
from wardround.measuring.measures.catalogue import find_measure
from wardround.measuring.people.against_models import holm
from wardround.reporting.reference_condition import chance_accuracy, score_measures
from wardround.reporting.run_files import ComparisonLine, MeasureLine, RunFiles, parse_comparisons

ALPHA = 0.05
CONFIDENCE_SOURCES = ("", STATED)
SHIFTS = {"": "calibration_shift_of_vote_share", STATED: "calibration_shift_stated"}  # confidence minus share right


@dataclass(frozen=True)
class TestedLine:
    """A figure, and the two-sided p of its boundary, adjusted over candidates."""

    line: MeasureLine
    p: float

    @property
    def is_shown(self) -> bool:
        return self.p <= ALPHA


@dataclass(frozen=True)
class GroupDifference:
    """One group against the rest, with p adjusted for all groups, keys and candidates."""

    slice: str
    value: float
    rest: float  # the score of the rest
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class SummaryFigures:
    """By candidate, in the reference condition; `measure` is the score."""

    measure: str
    chance: float | None
    scores: Mapping[str, MeasureLine]
    against_chance: Mapping[str, TestedLine] = field(default_factory=dict)
    pairs: Sequence[ComparisonLine] = ()
    all_pairs: bool = False
    people: Sequence[ComparisonLine] = ()
    images: Sequence[ComparisonLine] = ()  # each control minus as-is
    options_only: Mapping[str, TestedLine] = field(default_factory=dict)  # against chance
    degradations: Sequence[ComparisonLine] = ()  # each degradation minus the clean image
    groups: Mapping[str, Sequence[GroupDifference]] = field(default_factory=dict)
    stages: Mapping[str, Sequence[GroupDifference]] = field(default_factory=dict)
    discrimination: Mapping[str, TestedLine] = field(default_factory=dict)  # AUROC against one half
    bias: Mapping[str, TestedLine] = field(default_factory=dict)  # mean confidence minus share right, against 0

    def pairs_of(self, candidate: str) -> dict[str, ComparisonLine]:
        """The comparisons of a candidate with each other one, as the candidate minus the other."""
        own = {line.b: line for line in self.pairs if line.a == candidate}
        return own | {line.a: _turned(line) for line in self.pairs if line.b == candidate}


def summary_figures(run: RunFiles) -> SummaryFigures | None:
    """None without a score: a run of leakage probes alone has a first measure that is none."""
    measures = [name for name in score_measures(run) if name == "accuracy" or name.startswith("hit@")]
    if not measures:
        return None
    measure, chance = measures[0], chance_accuracy(run, measures[0])
    scores = _lines(run, measure, {})
    if not any(line.value is not None for line in scores.values()):
        return None
    pairs, all_pairs = _pairs(run, measure)
    over_axes = _axis_differences(run, measure)
    discrimination, bias = confidence_figures(run, _confidence_source(run), {})
    options_only = _lines(run, measure, {"stem": "options-only"}) if _is_asked(run, "stem", "options-only") else {}
    return SummaryFigures(
        measure=measure,
        chance=chance,
        scores=scores,
        against_chance=_tested(scores, chance),
        pairs=pairs,
        all_pairs=all_pairs,
        people=[line for line in run.comparison_lines if (line.family or "") == f"{PEOPLE}: {measure}"],
        images=over_axes("images", DEFAULTS["images"]),
        options_only=_tested(options_only, chance),
        degradations=_severity_differences(run, measure) or over_axes("degradation", DEFAULTS["degradation"]),
        groups=_group_differences(run.compare_patients(measure)),
        stages=_group_differences(compare_groups(run.marks_at_reference, run.study, ("stage",), measure)),
        discrimination=discrimination,
        bias=bias,
    )


def confidence_figures(
    run: RunFiles, source: str, slice: Mapping[str, str]
) -> tuple[dict[str, TestedLine], dict[str, TestedLine]]:
    """AUROC against one half, and mean confidence minus share right against 0, of one source of confidence."""
    bias = _tested(_lines(run, SHIFTS[source], slice), 0.0) if source in SHIFTS else {}
    return _tested(_lines(run, measure_name("auroc", source), slice), 0.5), bias


def leaders(figures: SummaryFigures) -> list[str]:
    """The candidates that none is shown to be better than, the highest score first; empty without all pairs."""
    if not figures.all_pairs:
        return []
    beaten = {line.b if (line.value or 0.0) > 0 else line.a for line in figures.pairs if is_shown(line)}
    names = dict.fromkeys(name for line in figures.pairs for name in (line.a, line.b))
    return sorted((name for name in names if name not in beaten), key=lambda name: -(figures.scores[name].value or 0.0))


def _lines(run: RunFiles, measure: str, slice: Mapping[str, str]) -> dict[str, MeasureLine]:
    lines = {name: run.find_line(measure, name, slice) for name in run.candidates}
    return {name: line for name, line in lines.items() if line is not None and line.measure == measure and line.n}


def _tested(lines: Mapping[str, MeasureLine], boundary: float | None) -> dict[str, TestedLine]:
    """The two-sided p of a boundary for every line with an interval, adjusted by Holm."""
    measure = next((find_measure(line.measure) for line in lines.values()), None)
    if boundary is None or measure is None:
        return {}
    figures = {name: line_figure(vars(line), measure.kind) for name, line in lines.items()}
    p = {
        name: min(1.0, 2 * min(figure.p_above(boundary), figure.p_below(boundary)))
        for name, figure in figures.items()
        if figure.has_interval
    }
    adjusted = holm(np.array(list(p.values()), float))
    return {name: TestedLine(lines[name], float(own)) for name, own in zip(p, adjusted, strict=True)}


def _pairs(run: RunFiles, measure: str) -> tuple[list[ComparisonLine], bool]:
    """The declared comparisons of all candidates with each other, else those that are computed here."""
    models = [name for name in run.candidates if name not in run.people]
    wanted = len(models) * (len(models) - 1) // 2
    if not wanted:
        return [], False
    for family in dict.fromkeys(line.family for line in run.comparison_lines):
        own = [line for line in run.comparison_lines if line.family == family and line.measure == measure]
        between = [line for line in own if not line.slice and not (family or "").startswith(PEOPLE)]
        if len(between) == wanted:
            return between, True
    return _compared(run, Family(measure=measure, between="candidate")), True


def _is_asked(run: RunFiles, axis: str, value: str) -> bool:
    return value in run.varied_axes.get(axis, ())


def _axis_differences(run: RunFiles, measure: str) -> Callable[[str, str], list[ComparisonLine]]:
    """For an axis: every value minus that of the reference condition, if that is `reference`."""

    def differences(axis: str, reference: str) -> list[ComparisonLine]:
        if run.study.reference_condition.get(axis) != reference:
            return []
        return _compared(run, Family(measure=measure, between=axis, reference=reference))

    return differences


def _severity_differences(run: RunFiles, measure: str) -> list[ComparisonLine]:
    """Degraded questions minus their clean twins, of cases that carry their degradation with them."""
    if not {"assigned", "stored"} & set(run.declared_values("degradation")):
        return []
    return _compared(run, Family(measure=measure, between=SEVERITY))


def _compared(run: RunFiles, family: Family) -> list[ComparisonLine]:
    study = run.study.model_copy(update={"comparisons": {"summary": family}})
    lines = parse_comparisons(compare(run.marks, study), run.folder)
    return [line for line in lines if line.value is not None and line.p_adjusted is not None]


def _group_differences(table: pl.DataFrame) -> dict[str, list[GroupDifference]]:
    """All groups of every candidate; the families (a key of a candidate) are adjusted by Bonferroni."""
    rows = table.rows(named=True)
    families, place = 0, 0
    while place < len(rows):
        families, place = families + 1, place + rows[place]["groups"]
    groups: dict[str, list[GroupDifference]] = {}
    for row in rows:
        p = min(1.0, row["p_adjusted"] * families)
        own = GroupDifference(
            row["slice"],
            row["value"],
            row["value"] - row["difference"],
            row["difference_low"],
            row["difference_high"],
            p,
        )
        groups.setdefault(row["candidate"], []).append(own)
    return groups


def _confidence_source(run: RunFiles) -> str:
    """The source of confidence that has figures in the reference condition: the votes' if both have."""
    for source in CONFIDENCE_SOURCES:
        if _lines(run, measure_name("auroc", source), {}):
            return source
    return ""


def _turned(line: ComparisonLine) -> ComparisonLine:
    """The same comparison with its sides exchanged."""
    value, low, high = (None if end is None else -end for end in (line.value, line.high, line.low))
    return replace(line, a=line.b, b=line.a, value=value, low=low, high=high)


def of_candidate(lines: Iterable[ComparisonLine], candidate: str) -> list[ComparisonLine]:
    return [line for line in lines if line.slice.get("candidate") == candidate]


def is_shown(line: ComparisonLine) -> bool:
    return line.p_adjusted is not None and line.p_adjusted <= ALPHA
