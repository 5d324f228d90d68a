"""Groups of patients, or prompts, compared: the worst, the best, each against the rest, and gaps by chance."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.measuring.comparing.group_contrasts import GroupContrasts, GroupSums, contrast_groups
from wardround.measuring.engine.encode import EncodedMarks, encode_marks, is_empty
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.items import build_items
from wardround.measuring.engine.measure import Measure
from wardround.measuring.engine.measurement import MeasureInputs, measure_candidates, measures_for_marks
from wardround.measuring.engine.slices import SliceMembers, Slicing, slicings
from wardround.measuring.engine.sums import Integers, sum_by_index
from wardround.measuring.engine.tables import table_schema
from wardround.measuring.measures.derived import DerivedInputs

PEOPLE = ("age_band", "sex", "modality", "tag")
GROUPS = table_schema(  # one line per group
    *("measure", "key", "candidate", "slice", "value", "low", "high", "clusters"),
    *("difference", "difference_low", "difference_high", "p", "p_adjusted"),
    *("groups", "at_least", "gap", "gap_by_chance", "gap_within_chance"),
)
GAPS = table_schema(  # one line per key: its worst and best group
    *("key", "candidate", "groups", "worst", "worst_value", "worst_low", "worst_high", "best", "best_value"),
    *("difference", "difference_low", "difference_high", "p_adjusted"),
    *("at_least", "gap", "gap_by_chance", "gap_within_chance"),
)


def compare_groups(
    marks: pl.DataFrame | pl.LazyFrame, study: Study, keys: Sequence[str] = PEOPLE, measure: str = "accuracy"
) -> pl.DataFrame:
    """Every group of every key, by candidate: its value, and its difference from the other groups together.

    `difference_low` and `difference_high` hold for all groups of a key at once, `p_adjusted` is adjusted for them
    (step-down max-T), and no group is below `at_least`. `gap_within_chance`: 95% of the gaps between groups that do
    not differ are not larger. Groups of fewer than 8 clusters are left out. Each tag is compared with the cases
    without it.
    """
    if is_empty(marks):
        return pl.DataFrame(schema=GROUPS)
    encoded = encode_marks(marks, study)
    measures = [m for m in measures_for_marks(encoded, study) if m.name == measure and m.kind.is_mean]
    chosen = _chosen_slicings(encoded, study, keys)
    if not measures or not chosen:
        return pl.DataFrame(schema=GROUPS)
    inputs = MeasureInputs(encoded, study, measures, DerivedInputs(chosen, {}, study.seed))
    lines = measure_candidates(inputs).table(measures, chosen, encoded.candidates)
    intervals = {(line["candidate"], line["slice"]): line for line in lines.iter_rows(named=True)}
    sums = _group_sums(encoded, study, chosen, measures[0])
    rows: list[dict[str, Any]] = []
    for slicing, by_candidate in zip(chosen, sums, strict=True):
        contrasts = contrast_groups([sums for _, sums in by_candidate.values()], study.seed)
        for (candidate, (groups, _)), contrast in zip(by_candidate.items(), contrasts, strict=True):
            own = [intervals[candidate, slicing.slices[group]] for group in groups]
            rows += _rows(slicing.keys[-1], own, contrast)
    return pl.DataFrame(rows, schema=GROUPS)


def subgroup_gaps(
    marks: pl.DataFrame | pl.LazyFrame, study: Study, keys: Sequence[str] = PEOPLE, measure: str = "accuracy"
) -> pl.DataFrame:
    """The worst and the best group of every key and candidate; `difference` is that of the worst from the others."""
    groups, rows, first = compare_groups(marks, study, keys, measure), [], 0
    while first < len(groups):
        own = groups[first : first + groups["groups"][first]]
        worst, best = (own.row(int(place), named=True) for place in (own["value"].arg_min(), own["value"].arg_max()))
        ends = {f"worst_{name}": worst[name] for name in ("value", "low", "high")}
        rows.append(worst | ends | {"worst": worst["slice"], "best": best["slice"], "best_value": best["value"]})
        first += len(own)
    return pl.DataFrame(rows, schema=GAPS)


def prompt_sensitivity(marks: pl.DataFrame | pl.LazyFrame, study: Study, measure: str = "accuracy") -> pl.DataFrame:
    """The same over the prompts of a study: how far a measure depends on the wording."""
    return subgroup_gaps(marks, study, ("prompt",), measure)


def _rows(key: str, lines: list[dict[str, Any]], contrast: GroupContrasts) -> Iterator[dict[str, Any]]:
    """One row per group: its line of measures.csv, then its contrast."""
    shared = {"key": key, "groups": len(lines), "at_least": contrast.at_least, "gap": contrast.gap}
    shared |= {"gap_by_chance": contrast.gap_by_chance, "gap_within_chance": contrast.gap_within_chance}
    for place, line in enumerate(lines):
        figures = {"difference": contrast.difference, "p": contrast.p, "p_adjusted": contrast.p_adjusted}
        figures |= {"difference_low": contrast.low, "difference_high": contrast.high}
        own = {name: line[name] for name in ("measure", "candidate", "slice", "value", "low", "high", "clusters")}
        yield own | shared | {name: float(values[place]) for name, values in figures.items()}


SumsByCandidate = dict[str, tuple[list[int], GroupSums]]  # the groups that are compared, and their sums


def _group_sums(encoded: EncodedMarks, study: Study, chosen: list[Slicing], measure: Measure) -> list[SumsByCandidate]:
    """For every slicing the candidates with two or more groups of at least 8 clusters."""
    by_slicing: list[SumsByCandidate] = [{} for _ in chosen]
    for number, name in enumerate(encoded.candidates):
        items = build_items(encoded.marks_of(number), study.trials, encoded)
        columns = [items.column(part) for part in measure.sums[:2]]
        cluster = items.rows["cluster"].cast(pl.Int64).to_numpy()
        for by_candidate, slicing in zip(by_slicing, chosen, strict=True):
            item, group = slicing.assign(items.rows)
            in_groups = _by_cluster(cluster[item], group, [column[item] for column in columns], len(slicing.slices))
            kept = np.flatnonzero(np.count_nonzero(in_groups[1], axis=1) >= FEWEST)
            if len(kept) < 2:
                continue
            once = np.unique(item[np.isin(group, kept)])
            everywhere = _by_cluster(cluster[once], np.zeros_like(once), [column[once] for column in columns], 1)
            present = everywhere[1][0] > 0
            in_all = [np.pad(sums, ((0, 0), (0, len(present) - sums.shape[1])))[:, present] for sums in in_groups]
            sums = GroupSums(in_all[0][kept], in_all[1][kept], *(total[0][present] for total in everywhere))
            by_candidate[name] = kept.tolist(), sums
    return by_slicing


def _by_cluster(cluster: Integers, group: Integers, columns: list[Floats], groups: int) -> list[Floats]:
    """Each column added up by group and cluster (groups x clusters)."""
    size = int(cluster.max(initial=-1)) + 1
    return [sum_by_index(group * size + cluster, column, groups * size).reshape(groups, size) for column in columns]


def _chosen_slicings(encoded: EncodedMarks, study: Study, keys: Sequence[str]) -> list[Slicing]:
    by_keys = {slicing.keys: slicing for slicing in slicings(encoded, study) if not slicing.only_measures}
    chosen = [by_keys[(key,)] for key in keys if key != "tag" and (key,) in by_keys]
    return chosen + (_tags(encoded) if "tag" in keys else [])


def _tags(encoded: EncodedMarks) -> list[Slicing]:
    """Cases with and without each tag."""
    tags = encoded.subjects["tag"]
    chosen = []
    for tag in sorted(tags.explode().drop_nulls().unique()):
        inside = tags.list.contains(tag).fill_null(False)
        if inside.all():
            continue
        frame = encoded.subjects.select("subject", slice=pl.when(inside).then(0).otherwise(1).cast(pl.UInt32))
        slices = [canonical_json({"tag": tag}), canonical_json({"tag": f"not {tag}"})]
        chosen.append(Slicing(("tag",), slices, (SliceMembers("subject", frame, 2),)))
    return chosen
