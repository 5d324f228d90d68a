"""The sections that are made of marks: what the page prints is what the functions of measuring give."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import polars as pl
import pytest
from rich_run import Rich
from test_report import Page

from wardround.core.study import load_study
from wardround.measuring import reliability, risk_coverage
from wardround.reporting import diagrams
from wardround.reporting.diagrams import BOTTOM, LEFT, RIGHT, TOP


def section(html: str, name: str) -> str:
    found = re.search(rf'<section id="{name}".*?</section>', html, re.DOTALL)
    assert found is not None, f"no section {name}"
    return found[0]


def has(html: str, name: str) -> bool:
    return f'<section id="{name}"' in html


def cells(html: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of all tables: what names a row, and the texts of its cells."""
    for row in re.findall(r"<tr\b.*?</tr>", re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL), re.DOTALL):
        page = Page(row)
        head = [text for _, text in page.find("th")]
        if texts := [text for _, text in page.find("td")]:
            yield (head or [""])[0], texts


def hundredfold(value: float | None, decimals: int = 1) -> str:
    """A fraction as a page prints it, made here."""
    assert value is not None
    text = f"{value * 100:.{decimals}f}"
    return text.replace("-", "−") if float(text) else text.replace("-", "")


def reference(marks: pl.DataFrame) -> pl.DataFrame:
    return marks.filter(pl.col("condition").str.contains('"prompt":"paper"'))


def test_reliability_bins_are_those_of_the_function(rich: Rich) -> None:
    study = load_study(rich.run.folder / "study.toml")
    told = reliability(reference(rich.marks), study).filter(version="verbal")
    html = section(rich.page, "confidence")
    figures = re.findall(r'<figure class="calibration" data-candidate="(.*?)">(.*?)</figure>', html, re.DOTALL)
    assert [name for name, _ in figures] == ["sharp-eyed", "steady", "over-sure", "small-model", "coin"]
    for name, figure in figures:
        own = told.filter(candidate=name).rows(named=True)
        printed = [(head, *texts) for head, texts in cells(figure)]
        assert printed == [
            (
                f"{hundredfold(row['bin_low'], 0)} to {hundredfold(row['bin_high'], 0)}",
                str(row["n"]),
                hundredfold(row["confidence"]),
                f"{hundredfold(row['accuracy'])} "
                + (
                    f"({hundredfold(row['low'])} to {hundredfold(row['high'])})"
                    if row["low"] is not None
                    else "too few cases"
                ),
            )
            for row in own
        ]
        assert re.findall(r'class="many".*?>(\d+)<', figure) == [str(row["n"]) for row in own]
        assert f"{sum(row['n'] for row in own)} answers" in figure


def test_calibration_errors_and_accuracy_at_80_stand_beside_the_diagram(rich: Rich) -> None:
    told = pl.read_csv(rich.run.folder / "measures.csv").filter(
        slice=json.dumps({"prompt": "paper"}, separators=(",", ":"))
    )
    html = section(rich.page, "confidence")
    for name, figure in re.findall(r'data-candidate="(.*?)">(.*?)</figure>', html, re.DOTALL):
        printed = dict(re.findall(r'<dd data-version="(.*?)"><b>(.*?)</b>', figure))
        for version in (
            "plug-in, 10 bins, verbal",
            "debiased, 10 bins, verbal",
            "plug-in if calibrated, 10 bins, verbal",
        ):
            (value,) = told.filter(measure="ece", candidate=name, version=version)["value"]
            assert printed[version] == hundredfold(value)
        kept = told.filter(measure="accuracy@80", candidate=name, version="verbal").row(0, named=True)
        interval = f"({hundredfold(kept['low'])} to {hundredfold(kept['high'])})"
        assert f'<b>{hundredfold(kept["value"])}</b> <span class="interval">{interval}</span>' in figure


def test_the_curve_runs_through_the_figure_at_80(rich: Rich) -> None:
    """Its last point is the risk of answering all, and at 80% it is what measures.csv says."""
    study = load_study(rich.run.folder / "study.toml")
    told = risk_coverage(reference(rich.marks), study).filter(version="verbal")
    html = section(rich.page, "confidence")
    for name, figure in re.findall(r'data-candidate="(.*?)">(.*?)</figure>', html, re.DOTALL):
        points = [tuple(map(float, point.split(","))) for point in re.findall(r'points="(.*?)"', figure)[0].split()]
        highest = 1.0
        last = told.filter(candidate=name)["risk"][-1]
        assert points[-1] == (RIGHT, pytest.approx(BOTTOM - (BOTTOM - TOP) * last / highest, abs=0.06))
        kept = rich.run.line("accuracy@80", name, {"prompt": "paper"})
        assert kept is not None
        assert kept.value is not None
        x, y = points[79]
        assert x == pytest.approx(LEFT + 0.8 * (RIGHT - LEFT), abs=0.06)
        assert y == pytest.approx(BOTTOM - (BOTTOM - TOP) * (1 - kept.value) / highest, abs=0.2)


def test_a_diagram_puts_every_dot_in_its_place() -> None:
    bins = [diagrams.Bin(0.6, 0.7, 12, 0.65, 0.5, 0.25, 0.75), diagrams.Bin(0.9, 1.0, 3, 1.0, 1.0, None, None)]
    drawn = diagrams.reliability_diagram(bins, "<b>")
    dots = re.findall(r'class="dot" cx="(.*?)" cy="(.*?)"', drawn)
    middle = (TOP + BOTTOM) / 2
    assert [tuple(map(float, dot)) for dot in dots] == [
        (pytest.approx(LEFT + 0.65 * (RIGHT - LEFT), abs=0.06), middle),
        (RIGHT, TOP),
    ]
    assert len(re.findall('class="range"', drawn)) == 1
    assert "<b>" not in drawn
    curve = [(0.5, 0.1), (1.0, 0.4)]
    assert 'class="dot"' not in diagrams.risk_diagram(curve, None, 0.5, "one")
