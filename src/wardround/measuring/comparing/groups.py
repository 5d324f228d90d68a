"""Groups of patients, or prompts, compared: the worst, the best, each against the rest, and gaps by chance."""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.study import Study
from wardround.measuring.comparing.group_contrasts import GroupContrasts, GroupSums, contrast_groups
from wardround.measuring.engine.encode import EncodedMarks, Marks, encode_marks, is_empty
from wardround.measuring.engine.exact import Floats
from wardround.measuring.engine.intervals import FEWEST
from wardround.measuring.engine.items import Items, build_items
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


def compare_groups(marks: Marks, study: Study, keys: Sequence[str] = PEOPLE, measure: str = "accuracy") -> pl.DataFrame:
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
    chosen = _chosen_slicings(encoded, study, keys) if measures else []
    if not chosen:
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


def subgroup_gaps(marks: Marks, study: Study, keys: Sequence[str] = PEOPLE, measure: str = "accuracy") -> pl.DataFrame:
    """The worst and the best group of every key and candidate; `difference` is that of the worst from the others."""
    return find_gaps(compare_groups(marks, study, keys, measure))


def find_gaps(groups: pl.DataFrame) -> pl.DataFrame:
    """The same of groups that are compared already."""
    rows, first = [], 0
    while first < len(groups):
        own = groups[first : first + groups["groups"][first]]
        lines = own.rows(named=True)
        worst, best = min(lines, key=itemgetter("value")), max(lines, key=itemgetter("value"))
        ends = {f"worst_{name}": worst[name] for name in ("value", "low", "high")}
        rows.append(worst | ends | {"worst": worst["slice"], "best": best["slice"], "best_value": best["value"]})
        first += len(own)
    return pl.DataFrame(rows, schema=GAPS)


def prompt_sensitivity(marks: Marks, study: Study, measure: str = "accuracy") -> pl.DataFrame:
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
    """For every slicing the candidates with two or more groups that can be compared."""
    by_slicing: list[SumsByCandidate] = [{} for _ in chosen]
    for number, name in enumerate(encoded.candidates):
        items = build_items(encoded.marks_of(number), study.trials, encoded)
        for by_candidate, slicing in zip(by_slicing, chosen, strict=True):
            groups, sums = _sums_of_groups(items, slicing, measure)
            if len(groups) > 1:
                by_candidate[name] = groups, sums
    return by_slicing


def _sums_of_groups(items: Items, slicing: Slicing, measure: Measure) -> tuple[list[int], GroupSums]:
    """The groups with at least 8 clusters, and as many that are not wholly in them; their sums by cluster."""
    cluster, (item, group) = items.rows["cluster"].cast(pl.Int64).to_numpy(), slicing.assign(items.rows)
    columns, size = [items.column(part) for part in measure.sums[:2]], int(cluster.max(initial=-1)) + 1
    part, whole = (_by_cluster(cluster, item, group, column, len(slicing.slices), size) for column in columns)
    large = np.count_nonzero(whole, axis=1) >= FEWEST
    once = np.unique(item[large[group]])  # a question in two groups counts once
    all_part, all_whole = (_by_cluster(cluster, once, np.zeros_like(once), column, 1, size)[0] for column in columns)
    groups = np.flatnonzero(large & (np.count_nonzero(all_whole - whole, axis=1) >= FEWEST))
    present = all_whole > 0
    sums = (part[groups][:, present], whole[groups][:, present], all_part[present], all_whole[present])
    return groups.tolist(), GroupSums(*sums)


def _by_cluster(cluster: Integers, item: Integers, group: Integers, column: Floats, groups: int, size: int) -> Floats:
    """A column of these items added up by group and cluster (groups x clusters)."""
    return sum_by_index(group * size + cluster[item], column[item], groups * size).reshape(groups, size)


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
