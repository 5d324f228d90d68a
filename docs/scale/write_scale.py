"""Writes the tables of "Building and searching" in docs/scale.md and draws docs/scale/literature.svg.

    python docs/scale/write_scale.py

All figures are those of `python -m perf ten_million` in perf/history.csv; of equal figures for the same number of
articles the last row counts. An exponent is the slope of a straight line through the logarithms, by least squares.
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
HISTORY = FOLDER.parent.parent / "perf" / "history.csv"
PAGE = FOLDER.parent / "scale.md"
PUBMED = 39_650_000  # articles
FEWEST = 10_000_000  # articles from which is extrapolated
COLOURS = ("#0b62a4", "#c8501e", "#2a7f3e", "#7a3fa0", "#8a6d00", "#444444")
WIDTH, HEIGHT, LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 1000, 430, 60, 50, 250, 320
QUESTIONS, HISTORIES = "questions of 3 to 12 words", "histories of 80 to 160 words"
RETRIEVERS, AT_ONCE = ("bm25", "clustered", "fused"), (1, 8, 32)
BUILDING = (
    "CPU of words, s",
    "peak memory of writing and indexing, MB",
    "index without vectors, MB",
    "records, MB",
    "CPU of vectors, s",
    "peak memory of vectors, MB",
    "vectors, MB",
    "recall@10 of the vector search, 100 queries",
)
PANELS = {
    "Building": {
        "CPU of words, s": "words, s of CPU",
        "CPU of vectors, s": "vectors, s of CPU",
        "index without vectors, MB": "index without vectors, MB",
        "records, MB": "records, MB",
        "vectors, MB": "vectors, MB",
    },
    "A search, one at a time, ms of CPU": {
        f"CPU of a search, ms: {name}, {kind}, 1 at once": f"{name}, {kind.partition(' ')[0]}"
        for name in RETRIEVERS
        for kind in (QUESTIONS, HISTORIES)
    },
}


@dataclass(frozen=True)
class Curve:
    """A figure at each size."""

    label: str
    value_by_size: dict[int, float]

    @property
    def sizes(self) -> list[int]:
        return list(self.value_by_size)

    @property
    def values(self) -> list[float]:
        return list(self.value_by_size.values())

    @property
    def exponent(self) -> float | None:
        """None from fewer than three sizes."""
        if len(self.sizes) < 3:
            return None
        return float(np.polyfit(np.log(self.sizes), np.log(self.values), 1)[0])


def main() -> None:
    with HISTORY.open(newline="") as rows:
        values = read_values(list(csv.DictReader(rows)))
    curves_by_panel = {
        title: [Curve(label, values[name]) for name, label in figures.items() if name in values]
        for title, figures in PANELS.items()
    }
    page = PAGE.read_text()
    for name, lines in {
        "building": building_table(values),
        "searches": search_table(values),
        "exponents": exponent_table([curve for curves in curves_by_panel.values() for curve in curves]),
    }.items():
        opening, closing = f"<!-- {name}: written by docs/scale/write_scale.py -->", f"<!-- end of {name} -->"
        before, _, rest = page.partition(opening)
        page = "\n".join([before + opening, *lines, closing]) + rest.partition(closing)[2]
    PAGE.write_text(page)
    panels = [
        draw_panel(title, curves, LEFT + place * WIDTH // 2)
        for place, (title, curves) in enumerate(curves_by_panel.items())
        if curves
    ]
    style = "<style>text{font:13px sans-serif;fill:#222}.title{font-weight:bold}.grid{stroke:#ddd}</style>"
    background = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
    (FOLDER / "literature.svg").write_text("\n".join([opening, style, background, *panels, "</svg>"]) + "\n")


def building_table(values: dict[str, dict[int, float]]) -> list[str]:
    """A row for each number of articles."""
    sizes = sorted({size for name in BUILDING for size in values.get(name, {})})
    head = ["articles", *(name.partition(" of the")[0] for name in BUILDING)]
    return table(
        head, [[f"{size:,}", *(rounded(values.get(name, {}).get(size)) for name in BUILDING)] for size in sizes]
    )


def search_table(values: dict[str, dict[int, float]]) -> list[str]:
    """p50 / p99 / CPU in milliseconds, with a row for each number of articles, retriever and kind of query."""
    rows = []
    sizes = sorted({size for name, by_size in values.items() if " of a search" in name for size in by_size})
    for size in sizes:
        for name in RETRIEVERS:
            for kind in (QUESTIONS, HISTORIES):
                cells = [
                    " / ".join(
                        rounded(values.get(f"{what} of a search, ms: {name}, {kind}, {at_once} at once", {}).get(size))
                        for what in ("p50", "p99", "CPU")
                    )
                    for at_once in AT_ONCE
                ]
                rows.append([f"{size:,}", f"`{name}`, {kind}", *cells])
    return table(["articles", "retriever and queries", *map(str, AT_ONCE)], rows)


def exponent_table(curves: list[Curve]) -> list[str]:
    """The exponents, and the value for PubMed that the growth between the two largest sizes gives."""
    rows = []
    for curve in curves:
        if len(curve.sizes) > 1:
            (before, least), (last, most) = list(curve.value_by_size.items())[-2:]
            growth = math.log(most / least) / math.log(last / before)
            fitted = "" if curve.exponent is None else f"{curve.exponent:.2f}"
            whole = rounded(most * (PUBMED / last) ** growth) if last >= FEWEST else "-"
            rows.append([curve.label, f"{last:,}", rounded(most), fitted, f"{growth:.2f}", whole])
    head = ["", "largest size measured", "there", "exponent of all sizes", "of the last two"]
    return table([*head, f"extrapolated by the last two to {PUBMED:,} articles"], rows)


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *rows]]


def rounded(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def read_values(rows: list[dict[str, str]]) -> dict[str, dict[int, float]]:
    """The figures of `perf ten_million` by name and number of articles."""
    values: dict[str, dict[int, float]] = {}
    for row in rows:
        size = re.search(r"--records (\d+)", row["options"])
        if row["part"] == "ten_million" and size:
            values.setdefault(row["figure"], {})[int(size[1])] = float(row["value"])
    return {name: dict(sorted(by_size.items())) for name, by_size in values.items()}


def draw_panel(title: str, curves: list[Curve], left: int) -> str:
    """A chart with two logarithmic axes; each curve is named at its end, with its exponent."""
    every = [value for curve in curves for value in curve.values]
    low, high = math.floor(math.log10(min(every))), math.ceil(math.log10(max(every)))
    sizes = sorted({size for curve in curves for size in curve.sizes})
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])

    def x(size: float) -> float:
        return left + PLOT_WIDTH * (math.log10(size) - first) / (last - first)

    def y(value: float) -> float:
        return TOP + PLOT_HEIGHT * (high - math.log10(value)) / (high - low)

    parts = [f'<text class="title" x="{left}" y="{TOP - 22}">{escape(title)}</text>']
    for power in range(low, high + 1):
        at = y(10**power)
        parts.append(f'<line class="grid" x1="{left}" x2="{left + PLOT_WIDTH}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{10**power:,g}</text>')
    for size in sizes:
        bottom = TOP + PLOT_HEIGHT
        parts.append(f'<line class="grid" x1="{x(size):.1f}" x2="{x(size):.1f}" y1="{TOP}" y2="{bottom}"/>')
        label = f"{size // 10**6} million" if size >= 10**6 else f"{size // 1000},000"
        parts.append(f'<text x="{x(size):.1f}" y="{bottom + 20}" text-anchor="middle">{label}</text>')
    parts.append(f'<text x="{left + PLOT_WIDTH / 2}" y="{HEIGHT - 15}" text-anchor="middle">articles</text>')
    ends = spread([y(curve.values[-1]) for curve in curves])
    for curve, colour, end in zip(curves, COLOURS, ends, strict=False):
        points = [(x(size), y(value)) for size, value in zip(curve.sizes, curve.values, strict=True)]
        line = " ".join(f"{across:.1f},{down:.1f}" for across, down in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3.5" fill="{colour}"/>' for across, down in points]
        exponent = "" if curve.exponent is None else f" ({curve.exponent:.2f})"
        name = escape(curve.label + exponent)
        parts.append(f'<text x="{left + PLOT_WIDTH + 10}" y="{end + 4:.1f}" style="fill:{colour}">{name}</text>')
    return "\n".join(parts)


def spread(places: list[float], least: float = 17.0) -> list[float]:
    """The places of labels, moved apart so that none covers another."""
    moved = list(places)
    order = sorted(range(len(places)), key=places.__getitem__)
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + least)
    return moved


if __name__ == "__main__":
    main()
