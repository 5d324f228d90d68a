"""Rank ranges over the candidates of comparable runs, by the paired comparisons of measuring/comparing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import polars as pl

from wardround.core.canonical import canonical_json
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings, Family
from wardround.exporting.site.site_runs import SiteRun
from wardround.measuring import compare, rank_intervals

FAMILY = "leaderboard"
Entry = tuple[str, str]  # run and candidate


@dataclass(frozen=True)
class Ranking:
    """The first and last possible rank of each entry among `count`; `notes` say why an entry has none."""

    ranges: Mapping[Entry, tuple[int, int]]
    count: int
    basis: str  # which comparisons the ranges rest on
    notes: Mapping[Entry, str] = field(default_factory=dict)


def rank_runs(runs: Sequence[SiteRun]) -> Ranking:
    """Ranks the candidates of comparable runs.

    One run is ranked by its own comparisons.csv if that compares all pairs, so that its report has the same ranges.
    Several runs are compared anew, all pairs in one family, by the same functions.
    """
    notes = _notes(runs)
    if len(runs) == 1:
        run = runs[0]
        declared = _intervals(run.files.comparisons.filter(pl.col("slice") == "{}"), run.measure)
        if declared:
            ranges = {(run.id, name): places for name, places in declared.items()}
            return Ranking(ranges, len(ranges), "the paired comparisons of the run, as in its report", notes)
    entries = [(run, candidate) for run in runs for candidate in run.files.study.candidates]
    ranked = {_label(run, candidate.name): (run.id, candidate.name) for run, candidate in entries}
    ranked = {label: entry for label, entry in ranked.items() if entry not in notes}
    if len(ranked) < 2:
        return Ranking({}, len(ranked), "", notes)
    study = runs[0].files.study.model_copy(
        update={
            "candidates": [
                candidate.model_copy(update={"name": _label(run, candidate.name)})
                for run, candidate in entries
                if (run.id, candidate.name) not in notes
            ],
            "comparisons": {FAMILY: Family(measure=runs[0].measure or "", between="candidate")},
        }
    )
    marks = pl.concat([_labelled(run) for run in runs], how="diagonal_relaxed")
    try:
        compared = compare(marks.filter(pl.col("candidate").is_in(list(ranked))), study)
    except WardroundError:  # a measure that cannot be paired
        return Ranking({}, len(ranked), "", notes)
    ranges = {ranked[label]: places for label, places in _intervals(compared, runs[0].measure).items()}
    basis = "paired comparisons of all candidates in this table, adjusted together"
    return Ranking(ranges, len(ranges), basis, notes)


def _intervals(comparisons: pl.DataFrame, measure: str | None) -> dict[str, tuple[int, int]]:
    """The ranks of each candidate by the first family of all pairs; a pair without a test leaves both ranks open."""
    intervals = rank_intervals(comparisons.filter(pl.col("measure") == measure))
    for _, family in intervals.group_by("family", maintain_order=True):
        return {row["candidate"]: (row["first"], row["last"]) for row in family.iter_rows(named=True)}
    return {}


def _label(run: SiteRun, candidate: str) -> str:
    return canonical_json([run.id, candidate])


def _labelled(run: SiteRun) -> pl.DataFrame:
    labels = {name: _label(run, name) for name in run.marks["candidate"].unique()}
    return run.marks.with_columns(pl.col("candidate").replace_strict(labels, return_dtype=pl.String))


def _notes(runs: Sequence[SiteRun]) -> dict[Entry, str]:
    """Why an entry is not ranked: people, no answers, or the same candidate in a later run."""
    notes: dict[Entry, str] = {}
    latest: dict[str, SiteRun] = {}
    for run in sorted(runs, key=lambda run: (str(run.files.manifest.get("started") or ""), run.id), reverse=True):
        answered = set(run.marks["candidate"].unique())
        for candidate in run.files.study.candidates:
            entry, key = (run.id, candidate.name), _identity(run, candidate)
            if candidate.name in run.files.people:
                notes[entry] = "people are not ranked"
            elif candidate.name not in answered:
                notes[entry] = "no answers at this condition"
            elif key in latest:
                notes[entry] = f"ranked by its later run {latest[key].id}"
            else:
                latest[key] = run
    return notes


def _identity(run: SiteRun, candidate: CandidateSettings) -> str:
    """The same in two runs if it has the same name, model and sampling."""
    study = run.files.study
    sampling = study.sampling_for(candidate, study.conditions_from_reference[0])
    return canonical_json([candidate.name, candidate.identity.named, asdict(sampling), candidate.sees])
