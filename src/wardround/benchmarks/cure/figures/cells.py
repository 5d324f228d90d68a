"""The 16 cells of inputs and evidence as a grid of figures for each candidate."""

from pathlib import Path
from typing import Any

import altair as alt

from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.reporting.run_files import RunFiles

EVIDENCE = {"none": "none", "reference": "references", "rag": "RAG", "agent": "agent"}
INPUTS = {
    "history": "history",
    "history+images": "and images",
    "history+findings": "and findings",
    "history+images+findings": "and both",
}
MEASURES = {"hit@1": "Hit@1 (%)", "accuracy": "MCQ (%)"}
LIGHT_TO_MID = ["#f4f8fc", "#7fb2d9"]  # dark numbers stay readable on all of it
PANELS_PER_ROW = 2


def cells(run: RunFiles, folder: Path, note: Note) -> SectionOutput:
    """The figure; its table is the study's own."""
    panels = [panel for candidate in run.candidates if (panel := _candidate_panel(run, candidate)) is not None]
    if not panels:
        return [], []
    title = alt.Title("What is shown (down) and what evidence is given (across)", anchor="start")
    return [], write_chart(alt.concat(*panels, columns=PANELS_PER_ROW, title=title), folder, "cells", note)


def _candidate_panel(run: RunFiles, candidate: str) -> alt.HConcatChart | None:
    grids: list[alt.LayerChart] = []
    for measure, heading in MEASURES.items():
        points: list[dict[str, Any]] = []
        for inputs, shown in INPUTS.items():
            for evidence, label in EVIDENCE.items():
                line = run.find_line(measure, candidate, {"inputs": inputs, "evidence": evidence})
                if line is not None and line.value is not None:
                    value = 100 * line.value
                    points.append({"inputs": shown, "evidence": label, "value": value, "printed": f"{value:.0f}"})
        if points:
            grids.append(_grid(points, heading, is_first=not grids))
    title = alt.Title(run.printed_name(candidate), anchor="start", fontSize=12)
    return alt.hconcat(*grids, title=title, spacing=10) if grids else None


def _grid(points: list[dict[str, Any]], heading: str, *, is_first: bool) -> alt.LayerChart:
    base = alt.Chart(alt.Data(values=points), title=alt.Title(heading, anchor="start", fontWeight="normal"))
    column = alt.X("evidence:N", sort=list(EVIDENCE.values()), title=None, axis=alt.Axis(labelAngle=0))
    row = alt.Y("inputs:N", sort=list(INPUTS.values()), title=None, axis=alt.Axis() if is_first else None)
    shade = alt.Color("value:Q", scale=alt.Scale(domain=[0, 100], range=LIGHT_TO_MID), legend=None)
    squares = base.mark_rect().encode(column, row, shade)
    numbers = base.mark_text(fontSize=11).encode(column, row, alt.Text("printed:N"))
    chart: alt.LayerChart = (squares + numbers).properties(width=alt.Step(58), height=alt.Step(24))
    return chart
