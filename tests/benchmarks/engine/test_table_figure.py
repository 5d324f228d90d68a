"""Tables as figures: axes, colours and the line between a run and a paper, in the chart that is drawn."""

from __future__ import annotations

from typing import Any

from wardround.benchmarks.cure.figures.outcomes import OUTCOMES
from wardround.reporting.figures.table_figure import COLOURS, GREY, figure
from wardround.reporting.tables.table import Cell, Column, Table, TableRow


def test_shares_of_a_whole_end_at_100() -> None:
    columns = [Column(name) for name in ("all", "one", "two", "three", "four")]
    rows = [TableRow((name,), [Cell(0.9), *[Cell(0.25)] * 4]) for name in ("a", "b")]
    colours = ["#111111", "#222222", "#333333", "#444444"]
    table = Table("t", ("Candidate",), columns, rows)
    chart = figure(table, "stacked", x="Part", y="Share (%)", leave_out=["all"], colours=colours)
    assert chart is not None
    encoding = chart.to_dict()["encoding"]
    assert encoding["x"]["scale"]["domain"] == [0, 100]
    assert encoding["color"]["scale"] == {"domain": ["one", "two", "three", "four"], "range": colours}


def test_right_outcomes_are_green_and_wrong_ones_red() -> None:
    for label, colour, _ in OUTCOMES.values():
        red, green = int(colour[1:3], 16), int(colour[3:5], 16)
        assert (green > red) == label.endswith("correct")


def test_published_lines_are_grey_and_no_two_rows_of_a_run_look_alike() -> None:
    runs = [TableRow((f"model {number}",), [Cell(0.5, 0.4, 0.6), Cell(0.6, 0.5, 0.7)]) for number in range(24)]
    papers = [TableRow((f"paper {number}",), [Cell(0.5), Cell(0.4)], published=True) for number in range(21)]
    table = Table("t", ("Candidate",), [Column("IQA"), Column("AL")], [*runs, *papers])
    chart = figure(table, "line", x="Stage", y="Accuracy (%)")
    assert chart is not None
    layers: list[dict[str, Any]] = chart.to_dict()["layer"]
    dashed, *_, dots = layers
    colours, shapes = (dots["encoding"][channel]["scale"] for channel in ("color", "shape"))
    assert colours["domain"] == shapes["domain"] == [*(row.labels[0] for row in runs), "published"]
    assert len(set(zip(colours["range"], shapes["range"], strict=True))) == 25
    assert colours["range"][-1] == GREY
    assert GREY not in COLOURS
    assert dashed["encoding"]["color"]["scale"] == colours
    assert "published" in dashed["transform"][0]["filter"]
