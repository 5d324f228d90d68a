"""The statistics figure: questions by stage, disease and modality, split by level, with the paper's shares."""

from pathlib import Path
from typing import Any

import altair as alt

from wardround.asking.tellings import shown_image_numbers
from wardround.benchmarks.engine.composition import composition_tables
from wardround.benchmarks.engine.named_study import find_study
from wardround.benchmarks.engine.published import load_published
from wardround.benchmarks.engine.section_output import Note, SectionOutput, write_chart
from wardround.cases.set import CaseSet
from wardround.core.condition import Condition

LEVELS = {"R": "#9fc5e8", "A": "#3d85c6", "S": "#0b3a66", "none": "#cccccc"}
MAX_DISEASES = 15
PAPER = "grey: the paper's share"
STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")
MODALITIES = ("CFP", "OCT", "FFA", "ICGA", "EP", "RetCam")
Count = dict[tuple[str, str], int]  # questions by value and level


def statistics(cases: CaseSet, folder: Path, encoder: str | None, note: Note) -> SectionOutput:
    """The tables of `xpcr/composition`, and the figure."""
    folder.mkdir(parents=True, exist_ok=True)
    all_cases = list(cases)
    counts: dict[str, Count] = {"stage": {}, "disease": {}, "modality": {}}
    for case in all_cases:
        for question in case.questions:
            shown = {case.images[number].modality for number in shown_image_numbers(case, question, Condition())}
            disease = (question.model_extra or {}).get("disease")
            values = {"stage": {question.stage}, "disease": {disease}, "modality": shown}
            for key, count in counts.items():
                for value in values[key] - {None}:
                    place = str(value), question.grade or "none"
                    count[place] = count.get(place, 0) + 1
    panels = [
        _panel("Questions by stage", PAPER, counts["stage"], STAGES, _published_shares("stages", "stage")),
        _panel(
            "Questions by modality",
            f"{PAPER}; counted in each that is shown",
            counts["modality"],
            MODALITIES,
            _published_shares("modalities", "modality"),
        ),
        _panel(
            "Questions by disease",
            f"the {MAX_DISEASES} most frequent at most",
            counts["disease"],
            _largest(counts["disease"]),
            {},
        ),
    ]
    chart = alt.hconcat(*(panel for panel in panels if panel is not None))
    tables = composition_tables(all_cases, find_study("xpcr/composition"))
    return tables, write_chart(chart, folder, "statistics", note)


def _published_shares(table: str, column: str) -> dict[str, float]:
    """The paper's questions by value, in percent of all."""
    paper = load_published(f"xpcr/{table}")
    counts = {row[column]: float(row["qa_pairs"]) for row in paper.cells}
    return {value: 100 * count / sum(counts.values()) for value, count in counts.items()}


def _largest(count: Count) -> tuple[str, ...]:
    totals: dict[str, int] = {}
    for (value, _), number in count.items():
        totals[value] = totals.get(value, 0) + number
    return tuple(sorted(totals, key=lambda value: (-totals[value], value))[:MAX_DISEASES])


def _panel(
    title: str, remark: str, count: Count, order: tuple[str, ...], published: dict[str, float]
) -> alt.LayerChart | alt.FacetChart | None:
    """Stacked bars of shares by level, and a tick at the paper's share."""
    total = sum(count.values())
    values = [value for value in order if any(name == value for name, _ in count)]
    if not values:
        return None
    bars: list[dict[str, Any]] = [
        {"value": value, "level": level, "share": 100 * number / total, "place": list(LEVELS).index(level)}
        for (value, level), number in count.items()
        if value in values
    ]
    ticks = [{"value": value, "share": published[value]} for value in values if value in published]
    y = alt.Y("value:N", title=None, sort=values, axis=alt.Axis(labelLimit=230))
    x = alt.X("share:Q", title="Share (%)", stack="zero")
    used = [level for level in LEVELS if any(bar["level"] == level for bar in bars)]
    scale = alt.Scale(domain=used, range=[LEVELS[level] for level in used])
    colour = alt.Color("level:N", scale=scale, title="Level", sort=used, legend=alt.Legend(orient="top"))
    drawn = alt.Chart(alt.Data(values=bars)).mark_bar().encode(x, y, colour, order=alt.Order("place:Q"))
    marks = alt.Chart(alt.Data(values=ticks)).mark_tick(color="#888888", thickness=3, size=16).encode(x="share:Q", y=y)
    heading = alt.Title(title, subtitle=f"{total:,}; {remark}", anchor="start")
    return alt.layer(drawn, marks).properties(width=210, height=alt.Step(22), title=heading)
