"""The flow of chains through their stages as SVG: intact, broken, or right again."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from markupsafe import Markup

from wardround.benchmarks.engine.section_output import Note
from wardround.measuring.chains.breaks import INTACT, RIGHT_AGAIN, WRONG
from wardround.reporting.figures.figure_files import NEEDED

COLOURS = {INTACT: "#2b6cb0", RIGHT_AGAIN: "#d69e2e", WRONG: "#b83232"}
LEFT, STEP, BAR, HEIGHT, TOP, PANEL = 24.0, 112.0, 20.0, 170.0, 46.0, 262.0
LEGEND = 34.0


def flow_svg(flow: pl.DataFrame, candidates: Sequence[str]) -> str | None:
    """One panel for each candidate; None if no chain has all stages."""
    shown = [name for name in candidates if name in set(flow["candidate"])]
    stages = list(dict.fromkeys(flow["stage"]))
    if not shown or not stages:
        return None
    width = LEFT + STEP * (len(stages) - 1) + BAR + 60
    panels = Markup("").join(
        Markup('<g transform="translate(0 {:.0f})">{}</g>').format(
            LEGEND + number * PANEL, _panel(flow.filter(candidate=name), name, stages)
        )
        for number, name in enumerate(shown)
    )
    height = LEGEND + PANEL * len(shown)
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222"><rect width="100%" height="100%" '
        'fill="white"/>{2}{3}</svg>'
    ).format(width, height, _legend(), panels)


def _panel(flow: pl.DataFrame, name: str, stages: list[str]) -> Markup:
    chains = int(flow.filter(stage=stages[0])["chains"].sum())
    svg = _text(LEFT, 18, f"{name}, {chains:,} chains", bold=True)
    tops: dict[tuple[int, str], float] = {}
    heights: dict[tuple[int, str], float] = {}
    for number, stage in enumerate(stages):
        y = TOP
        for state in COLOURS:
            count = int(flow.filter(stage=stage, state=state)["chains"].sum())
            height = HEIGHT * count / chains
            tops[number, state], heights[number, state] = y, height
            y += height
    for number in range(1, len(stages)):
        svg += _bands(flow.filter(stage=stages[number]), number, tops, HEIGHT / chains)
    for number, stage in enumerate(stages):
        x = LEFT + STEP * number
        for state, colour in COLOURS.items():
            if heights[number, state]:
                svg += Markup('<rect x="{:.1f}" y="{:.1f}" width="{}" height="{:.1f}" fill="{}"/>').format(
                    x, tops[number, state], BAR, heights[number, state], colour
                )
        intact = heights[number, INTACT] / HEIGHT
        svg += _text(x + BAR / 2, TOP - 8, f"{100 * intact:.0f}%", anchor="middle")
        svg += _text(x + BAR / 2, TOP + HEIGHT + 16, stage, anchor="middle", bold=True)
    return svg


def _bands(flow: pl.DataFrame, number: int, tops: dict[tuple[int, str], float], unit: float) -> Markup:
    """Bands from the bars of the previous stage to those of this one, in the order of the states."""
    svg = Markup("")
    leaving = {state: tops[number - 1, state] for state in COLOURS}
    arriving = {state: tops[number, state] for state in COLOURS}
    chains_by_states = {(row["before"], row["state"]): row["chains"] for row in flow.iter_rows(named=True)}
    x1, x2 = LEFT + STEP * (number - 1) + BAR, LEFT + STEP * number
    middle = (x1 + x2) / 2
    for before in COLOURS:
        for state in COLOURS:
            height = unit * chains_by_states.get((before, state), 0)
            if not height:
                continue
            y1, y2 = leaving[before], arriving[state]
            svg += Markup(
                '<path d="M{0:.1f},{1:.1f} C{2:.1f},{1:.1f} {2:.1f},{3:.1f} {4:.1f},{3:.1f} L{4:.1f},{5:.1f} '
                'C{2:.1f},{5:.1f} {2:.1f},{6:.1f} {0:.1f},{6:.1f} Z" fill="{7}" fill-opacity="0.3"/>'
            ).format(x1, y1, middle, y2, x2, y2 + height, y1 + height, COLOURS[state])
            leaving[before] += height
            arriving[state] += height
    return svg


def _legend() -> Markup:
    svg, x = Markup(""), LEFT
    labels = {INTACT: "right so far (share above)", RIGHT_AGAIN: "right, after an earlier error", WRONG: "wrong"}
    for state, colour in COLOURS.items():
        svg += Markup('<rect x="{:.1f}" y="12" width="12" height="12" fill="{}"/>').format(x, colour)
        svg += _text(x + 18, 22, labels[state])
        x += 34 + 6.4 * len(labels[state])
    return svg


def _text(x: float, y: float, text: str, anchor: str = "start", bold: bool = False) -> Markup:
    weight = "bold" if bold else "normal"
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-weight="{}">{}</text>').format(
        x, y, anchor, weight, text
    )


def write_svg(svg: str, folder: Path, stem: str, note: Note) -> list[Path]:
    """Writes the picture as SVG and PNG; without the package that this needs, a message says so."""
    try:
        import vl_convert
    except ImportError:
        note(NEEDED)
        return []
    files = [folder / f"{stem}.svg", folder / f"{stem}.png"]
    files[0].write_text(svg, encoding="utf-8")
    files[1].write_bytes(vl_convert.svg_to_png(svg, scale=2.0))
    return files
