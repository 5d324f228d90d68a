"""The section Acceptance: what every endpoint says of every candidate, from acceptance.csv."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from wardround.core.study_tables.endpoint import Endpoint
from wardround.measuring.acceptance.against_candidate import METHOD as PAIRED_AT_MARGIN
from wardround.measuring.acceptance.endpoints import ACCEPTANCE, ACCEPTANCE_FILE, primary_endpoint
from wardround.reporting.figures import svg
from wardround.reporting.judge_note import judging_note
from wardround.reporting.labels import measure_title, slice_title, slice_words
from wardround.reporting.numbers import format_interval, format_value, join_words
from wardround.reporting.run_files import RunFiles, read_table
from wardround.reporting.sections.section import Section
from wardround.reporting.templating import render

Row = Mapping[str, Any]
OTHER_INTERVAL = (
    "The interval holds the limits that neither the score test nor the sign-flip test rejects, since sign flips alone "
    "are not valid at a margin. Under Differences the same difference has the interval of a test of 0, which may end "
    "elsewhere."
)


@dataclass(frozen=True)
class PartRow:
    """A figure of one candidate, over the whole or in one group; `line` is its row of acceptance.csv."""

    line: Row
    label: str
    track: Markup
    value: str | None
    interval: str | None
    cases: str | None  # the address of the cases behind it


@dataclass(frozen=True)
class EndpointTable:
    name: str
    is_primary: bool
    criterion: str
    interval_note: str  # why an interval is not the one of the same difference elsewhere; empty: it is the same
    axis: Markup
    candidates: list[tuple[str, Row, list[PartRow]]]


def acceptance(run: RunFiles) -> Section | None:
    """First of all sections, if the study has endpoints."""
    file = run.folder / ACCEPTANCE_FILE
    if not run.study.acceptance or not file.is_file():
        return None
    rows = list(read_table(file, ACCEPTANCE).iter_rows(named=True))
    endpoints = [_table(run, name, [row for row in rows if row["endpoint"] == name]) for name in run.study.acceptance]
    context = {
        "endpoints": endpoints,
        "primary": primary_endpoint(run.study),
        "adjusted": sum(not endpoint.is_primary for endpoint in endpoints),
        "frozen": (run.folder / "frozen.json").is_file(),
        "is_complete": run.is_complete,
        "judged": judging_note(run, (endpoint.measure for endpoint in run.study.acceptance.values())),
    }
    return Section("acceptance", "Acceptance", render("sections/acceptance.html", **context))


def _table(run: RunFiles, name: str, rows: Sequence[Row]) -> EndpointTable:
    endpoint = run.study.acceptance[name]
    scale = _scale(rows, is_difference=isinstance(endpoint.reference, str))
    by_candidate: dict[str, list[Row]] = {}
    for row in rows:
        by_candidate.setdefault(row["candidate"], []).append(row)
    candidates = [
        (candidate, own[0], [_part(run, endpoint, row, scale) for row in own])
        for candidate, own in by_candidate.items()
    ]
    is_primary = name == primary_endpoint(run.study)
    note = OTHER_INTERVAL if any(row["method"] == PAIRED_AT_MARGIN for row in rows) else ""
    return EndpointTable(name, is_primary, _criterion(endpoint, rows), note, svg.axis(scale), candidates)


def _scale(rows: Sequence[Row], *, is_difference: bool) -> svg.Scale:
    """Values from 0 to 1, or differences around 0; the first limit is the marked line."""
    limits = [row[name] for row in rows[:1] for name in ("above", "below") if row[name] is not None]
    marked = limits[0] if limits else None
    if not is_difference:
        return svg.Scale(marked=marked)
    ends = [row[name] for row in rows for name in ("value", "low", "high", "above", "below") if row[name] is not None]
    around = svg.scale_around_zero(ends)
    return svg.Scale(around.low, around.high, marked=marked)


def _part(run: RunFiles, endpoint: Endpoint, row: Row, scale: svg.Scale) -> PartRow:
    group = {key: value for key, value in json.loads(row["slice"]).items() if key not in endpoint.where}
    label = slice_words(group) if group else "all"
    if row["value"] is None:
        return PartRow(row, label, svg.empty_track(scale, f"{label}: {row['method']}"), None, None, None)
    value = format_value(row["measure"], row["value"])
    interval = format_interval(row["measure"], row["low"], row["high"])
    title = f"{row['candidate']}, {label}: {value} ({interval or row['method']}); {row['part_verdict']}"
    track = svg.interval(row["value"], row["low"], row["high"], scale=scale, title=title)
    filters = {"candidate": row["candidate"], **run.study.reference_condition, **endpoint.where, **group}
    return PartRow(row, label, track, value, interval, run.cases_link(filters))


def _criterion(endpoint: Endpoint, rows: Sequence[Row]) -> str:
    """What must be true, as a sentence."""
    above, below = (next((row[name] for row in rows), None) for name in ("above", "below"))
    figure = measure_title(endpoint.measure)
    if isinstance(endpoint.reference, str):
        figure += f" minus that of {endpoint.reference}"
    limits = [f"above {format_value(endpoint.measure, above)}"] if above is not None else []
    limits += [f"below {format_value(endpoint.measure, below)}"] if below is not None else []
    text = f"{endpoint.test.capitalize()}: {figure} must be {' and '.join(limits)}"
    if endpoint.where:
        text += f", with {slice_words(endpoint.where)}"
    if endpoint.groups:
        keys = [slice_title(key).lower() for key in endpoint.groups]
        text += f"; in every group by {join_words(keys)}, too"
    return f"{text}."
