"""Rank intervals: how far each candidate's place is settled by the paired differences."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from wardround.measuring import rank_intervals
from wardround.reporting.figures import svg
from wardround.reporting.judge_note import judged_note
from wardround.reporting.labels import measure_title
from wardround.reporting.reference_condition import ranked
from wardround.reporting.run_files import RunFolder
from wardround.reporting.sections.section import Section
from wardround.reporting.templating import render

FEWEST_RANKED = 3


@dataclass(frozen=True)
class Place:
    candidate: str
    places: str
    track: Markup


@dataclass(frozen=True)
class Ranking:
    """One family of all pairs of candidates."""

    title: str
    axis: Markup
    places: list[Place]


def ranks(run: RunFolder) -> Section | None:
    """For every family that compares all candidates with each other."""
    told = rank_intervals(run.comparisons)
    rankings, names = [], ranked(run)

    def place(name: str) -> int:
        return names.index(name) if name in names else len(names)

    for (_, measure), found in told.group_by("family", "measure", maintain_order=True):
        if len(found) < FEWEST_RANKED:
            continue
        many = len(found)
        order = sorted(
            found.iter_rows(named=True), key=lambda row: (row["first"] + row["last"], place(row["candidate"]))
        )
        rankings.append(
            Ranking(
                measure_title(str(measure)),
                svg.places_axis(many),
                [_place(row["candidate"], row["first"], row["last"], many) for row in order],
            )
        )
    if not rankings:
        return None
    measures = told["measure"].unique(maintain_order=True)
    note = judged_note(run, measures)
    drawn = render("ranks.html", rankings=rankings, judged=note, varied=bool(run.varied_axes))
    return Section("ranks", "Ranks", drawn)


def _place(name: str, first: int, last: int, many: int) -> Place:
    places = str(first) if first == last else f"{first} to {last}"
    return Place(name, places, svg.places(first, last, many, f"{name}: rank {places} of {many}"))
