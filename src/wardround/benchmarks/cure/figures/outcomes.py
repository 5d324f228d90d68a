"""Figure 2: coverage and the four outcomes of an answer, by evidence, for each candidate and their mean."""

from pathlib import Path
from typing import Any

import altair as alt

from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.reporting.run_files import RunFiles

EVIDENCE = {"reference": "With references", "rag": "With RAG", "agent": "With agent retrieval"}
OUTCOMES = {  # right is green, wrong is red; what rests on the evidence is the darker one
    "evidence_based_correct": ("Evidence-based correct", "#2f855a", "#ffffff"),
    "knowledge_based_correct": ("Knowledge-based correct", "#9ed3b5", "#1a202c"),
    "evidence_misled": ("Evidence-misled", "#b83232", "#ffffff"),
    "hallucination": ("Hallucination", "#f0a79d", "#1a202c"),
}
MEAN = "Mean"
BOLD_MEAN: Any = {"condition": {"test": f"datum.value == '{MEAN}'", "value": "bold"}, "value": "normal"}
ROW = 24  # points
WIDTH = 250
CLEARANCE = 4.0  # percent between a number and the line of coverage
MIN_LABELLED = 7.0  # percent: smaller parts have no number


def fig2(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The figure; its table is the study's own."""
    return [], write_chart(_chart(run), folder, "outcomes", note)


def _chart(run: RunFiles) -> alt.HConcatChart | None:
    panels = {evidence: _points(run, evidence) for evidence in EVIDENCE if evidence in run.declared_values("evidence")}
    candidates = list(dict.fromkeys(point["candidate"] for points in panels.values() for point in points))
    if not candidates:
        return None
    charts = [
        _panel(points, candidates, EVIDENCE[evidence], is_first=number == 0)
        for number, (evidence, points) in enumerate(panels.items())
    ]
    subtitle = "Line: coverage, the share of cases whose documents contain the diagnosis."
    title = alt.Title("Outcomes of answers under evidence", subtitle=subtitle, anchor="start")
    chart: alt.HConcatChart = alt.hconcat(*charts, title=title, spacing=14)
    return chart


def _points(run: RunFiles, evidence: str) -> list[dict[str, Any]]:
    """A part for each candidate and outcome, from its start to its end; and those of the mean over candidates.

    Candidates that do not see and people are not in the mean, as in the table.
    """
    shares: dict[str, dict[str, float]] = {}
    averaged: list[dict[str, float]] = []
    for candidate in run.candidates:
        lines = {name: run.find_line(name, candidate, _slice(run, evidence)) for name in (*OUTCOMES, "coverage")}
        values = {name: 100 * line.value for name, line in lines.items() if line and line.value is not None}
        if OUTCOMES.keys() <= values.keys():
            shares[run.printed_name(candidate)] = values
            averaged += [] if candidate in run.text_only | run.people else [values]
    if len(averaged) > 1:
        names = [name for name in (*OUTCOMES, "coverage") if all(name in values for values in averaged)]
        shares[MEAN] = {name: sum(values[name] for values in averaged) / len(averaged) for name in names}
    points = []
    for candidate, values in shares.items():
        start = 0.0
        for outcome, (label, _, text_colour) in OUTCOMES.items():
            end = start + values[outcome]
            shown = f"{values[outcome]:.0f}" if values[outcome] >= MIN_LABELLED else ""
            part = {"outcome": label, "start": start, "end": end, "middle": _place_number(start, end, values)}
            text = {"shown": shown, "text_colour": text_colour, "coverage": values.get("coverage")}
            points.append({"candidate": candidate, **part, **text})
            start = end
    return points


def _place_number(start: float, end: float, values: dict[str, float]) -> float:
    """The middle of a part, or beside the line of coverage if that is there."""
    middle, coverage = (start + end) / 2, values.get("coverage", -100.0)
    if abs(middle - coverage) > CLEARANCE or end - start < 4 * CLEARANCE:
        return middle
    return coverage + (1.5 if middle >= coverage else -1.5) * CLEARANCE


def _slice(run: RunFiles, evidence: str) -> dict[str, str]:
    return {"evidence": evidence} if "evidence" in run.varied_axes else {}


def _panel(points: list[dict[str, Any]], candidates: list[str], title: str, *, is_first: bool) -> alt.LayerChart:
    base = alt.Chart(alt.Data(values=points), title=alt.Title(title, anchor="start", fontSize=12))
    labels = alt.Axis(labelLimit=260, labelFontWeight=BOLD_MEAN)
    row = alt.Y("candidate:N", sort=candidates, title=None, axis=labels if is_first else None)
    scale = alt.Scale(domain=[0, 100], nice=False)
    names, colours = [label for label, *_ in OUTCOMES.values()], [colour for _, colour, _ in OUTCOMES.values()]
    colour = alt.Color(
        "outcome:N",
        title=None,
        scale=alt.Scale(domain=names, range=colours),
        legend=alt.Legend(orient="bottom", labelLimit=0, columns=4),
    )
    share = alt.X("start:Q", title="Share of cases (%)", scale=scale)
    bars = base.mark_bar().encode(share, alt.X2("end:Q"), row, colour)
    numbers = base.mark_text(fontSize=10).encode(
        alt.X("middle:Q", scale=scale, title="Share of cases (%)"),
        row,
        alt.Text("shown:N"),
        color=alt.Color("text_colour:N", scale=None, legend=None),
    )
    coverage = base.mark_tick(color="#1a202c", thickness=2.5, size=ROW - 2).encode(
        alt.X("coverage:Q", scale=scale, title="Share of cases (%)"), row
    )
    chart: alt.LayerChart = (bars + numbers + coverage).properties(width=WIDTH, height=alt.Step(ROW))
    return chart
