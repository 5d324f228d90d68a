"""The flow of chains through their stages, as a picture: what is still intact, what broke, what came right again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from markupsafe import Markup

from wardround.core.errors import WardroundError
from wardround.measuring.chains.breaks import INTACT, RIGHT_AGAIN, WRONG
from wardround.reporting.figures.table_figure import NEEDED

COLOURS = {INTACT: "#2b6cb0", RIGHT_AGAIN: "#d69e2e", WRONG: "#b83232"}
LEFT, STEP, BAR, TALL, TOP, PANEL = 24.0, 112.0, 20.0, 170.0, 46.0, 262.0
LEGEND = 34.0


def flow_picture(flow: pl.DataFrame, candidates: Sequence[str]) -> str | None:
    """One panel a candidate, as SVG; None where no chain has all stages."""
    there = [name for name in candidates if name in set(flow["candidate"])]
    stages = list(dict.fromkeys(flow["stage"]))
    if not there or not stages:
        return None
    wide = LEFT + STEP * (len(stages) - 1) + BAR + 60
    panels = Markup("").join(
        Markup('<g transform="translate(0 {:.0f})">{}</g>').format(
            LEGEND + place * PANEL, _panel(flow.filter(candidate=name), name, stages)
        )
        for place, name in enumerate(there)
    )
    tall = LEGEND + PANEL * len(there)
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222"><rect width="100%" height="100%" '
        'fill="white"/>{2}{3}</svg>'
    ).format(wide, tall, _legend(), panels)


def _panel(flow: pl.DataFrame, name: str, stages: list[str]) -> Markup:
    chains = int(flow.filter(stage=stages[0])["chains"].sum())
    drawn = _text(LEFT, 18, f"{name}, {chains:,} chains", bold=True)
    tops: dict[tuple[int, str], float] = {}
    heights: dict[tuple[int, str], float] = {}
    for place, stage in enumerate(stages):
        y = TOP
        for state in COLOURS:
            many = int(flow.filter(stage=stage, state=state)["chains"].sum())
            tall = TALL * many / chains
            tops[place, state], heights[place, state] = y, tall
            y += tall
    for place in range(1, len(stages)):
        drawn += _bands(flow.filter(stage=stages[place]), place, tops, TALL / chains)
    for place, stage in enumerate(stages):
        x = LEFT + STEP * place
        for state, colour in COLOURS.items():
            if heights[place, state]:
                drawn += Markup('<rect x="{:.1f}" y="{:.1f}" width="{}" height="{:.1f}" fill="{}"/>').format(
                    x, tops[place, state], BAR, heights[place, state], colour
                )
        intact = heights[place, INTACT] / TALL
        drawn += _text(x + BAR / 2, TOP - 8, f"{100 * intact:.0f}%", anchor="middle")
        drawn += _text(x + BAR / 2, TOP + TALL + 16, stage, anchor="middle", bold=True)
    return drawn


def _bands(flow: pl.DataFrame, place: int, tops: dict[tuple[int, str], float], unit: float) -> Markup:
    """From the bars of the stage before to those of this one; bands leave and arrive in the order of the states."""
    drawn = Markup("")
    leaving = {state: tops[place - 1, state] for state in COLOURS}
    arriving = {state: tops[place, state] for state in COLOURS}
    told = {(row["before"], row["state"]): row["chains"] for row in flow.iter_rows(named=True)}
    x1, x2 = LEFT + STEP * (place - 1) + BAR, LEFT + STEP * place
    middle = (x1 + x2) / 2
    for before in COLOURS:
        for state in COLOURS:
            tall = unit * told.get((before, state), 0)
            if not tall:
                continue
            a, b = leaving[before], arriving[state]
            drawn += Markup(
                '<path d="M{0:.1f},{1:.1f} C{2:.1f},{1:.1f} {2:.1f},{3:.1f} {4:.1f},{3:.1f} L{4:.1f},{5:.1f} '
                'C{2:.1f},{5:.1f} {2:.1f},{6:.1f} {0:.1f},{6:.1f} Z" fill="{7}" fill-opacity="0.3"/>'
            ).format(x1, a, middle, b, x2, b + tall, a + tall, COLOURS[state])
            leaving[before] += tall
            arriving[state] += tall
    return drawn


def _legend() -> Markup:
    drawn, x = Markup(""), LEFT
    words = {INTACT: "right so far (share above)", RIGHT_AGAIN: "right, after an earlier error", WRONG: "wrong"}
    for state, colour in COLOURS.items():
        drawn += Markup('<rect x="{:.1f}" y="12" width="12" height="12" fill="{}"/>').format(x, colour)
        drawn += _text(x + 18, 22, words[state])
        x += 34 + 6.4 * len(words[state])
    return drawn


def _text(x: float, y: float, text: str, anchor: str = "start", bold: bool = False) -> Markup:
    weight = "bold" if bold else "normal"
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-weight="{}">{}</text>').format(
        x, y, anchor, weight, text
    )


def write_svg(drawn: str, folder: Path, stem: str) -> list[Path]:
    """As SVG, and as PNG."""
    try:
        import vl_convert
    except ImportError:
        raise WardroundError(NEEDED) from None
    files = [folder / f"{stem}.svg", folder / f"{stem}.png"]
    files[0].write_text(drawn, encoding="utf-8")
    files[1].write_bytes(vl_convert.svg_to_png(drawn, scale=2.0))
    return files
