"""MedQ-Deg's further tables and pictures: the cliff by type, example pairs, other sets, candidates along x, radars."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from medq_deg_cases import medq_deg_cases
from PIL import Image
from test_medq_deg import OVERCONFIDENT, STEADY, SURE, run

from wardround.benchmarks.engine.bench import BenchResult
from wardround.benchmarks.engine.drawing import write_table_figure
from wardround.benchmarks.engine.named_study import find_study
from wardround.reporting.figures.candidates_axis import COLOURS
from wardround.reporting.figures.table_figure import figure
from wardround.reporting.tables.table import Cell, Column, Table, TableRow

CASES = 36


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("medq-deg-figures")
    medq_deg_cases(folder / "cases", CASES)
    return folder


@pytest.fixture(scope="module")
def table6(folder: Path) -> BenchResult:
    return run("medq-deg/table6", folder / "cases", folder, [SURE, STEADY], trials=1)


def cliff_cells(result: BenchResult) -> dict[tuple[str, str], list[Cell]]:
    return {(row.labels[0], row.labels[1]): row.cells for row in result.tables[1].rows}


def test_a_cliff_is_named_where_it_is_planted(table6: BenchResult) -> None:
    """`sure` loses nothing at L1 and all at L2 on CT and X-ray; on MRI it loses all at L1, and `steady` nothing."""
    cells = cliff_cells(table6)
    first, second, difference, _, adjusted, named = cells["sure", "reduce contrast"]
    assert (first.value, second.value, difference.value) == (0.0, -1.0, -1.0)
    assert adjusted.value is not None
    assert adjusted.value < 0.01
    assert named.text == "yes"
    assert cells["sure", "adjust brightness"][2].value == 1.0
    assert cells["sure", "adjust brightness"][5].text == "not shown", "it falls in the first step"
    assert all(row[5].text == "not shown" for (name, _), row in cells.items() if name == "steady")


def test_the_steps_of_a_type_are_on_the_same_questions(table6: BenchResult) -> None:
    assert table6.folder is not None
    marks = pl.read_parquet(table6.folder / "marks.parquet").with_columns(right=pl.col("outcome") == "right")
    score = {(m["candidate"], m["case"], m["question"]): float(m["right"]) for m in marks.iter_rows(named=True)}
    for type in ("gaussian_noise", "exposure"):
        steps = [
            (
                score["steady", case, f"{type}-L1"] - score["steady", case, "q"],
                value - score["steady", case, f"{type}-L1"],
            )
            for (name, case, question), value in score.items()
            if name == "steady" and question == f"{type}-L2"
        ]
        first, second, difference, *_ = cliff_cells(table6)["steady", type.replace("_", " ")]
        assert first.value == pytest.approx(np.mean([step[0] for step in steps]))
        assert second.value == pytest.approx(np.mean([step[1] for step in steps]))
        assert difference.value == pytest.approx(np.mean([step[1] - step[0] for step in steps]))


def test_the_adjustment_is_over_the_types_of_a_candidate(table6: BenchResult) -> None:
    for cells in cliff_cells(table6).values():
        assert cells[3].value is not None
        assert cells[4].value is not None
        assert cells[4].value >= cells[3].value
    assert [row.labels[0] for row in table6.tables[1].rows].count("all candidates") == 4


def test_the_pairs_show_a_right_answer_beside_a_wrong_one(folder: Path) -> None:
    result = run("medq-deg/fig1", folder / "cases", folder, [SURE, OVERCONFIDENT], trials=4)
    pairs = next(file for file in result.files if file.name == "pairs.png")
    with Image.open(pairs) as picture:
        assert picture.width > 2 * 700, "two pairs side by side"
    assert result.folder is not None
    marks = pl.read_parquet(result.folder / "marks.parquet")
    for row in result.tables[1].rows:
        case, clean, copy = (cell.text for cell in row.cells[:3])
        own = marks.filter(candidate=row.labels[0], case=case)
        assert (own.filter(question=clean)["outcome"] == "right").mean() > 0.5
        degraded = own.filter(question=copy)
        assert degraded["of"][0] == clean
        assert (degraded["outcome"] == "right").mean() < 0.5
    assert result.tables[1].rows[0].cells[4].text.endswith("4 of 4"), "`sure` is of one mind"


def test_the_own_row_of_table_1_is_counted(folder: Path) -> None:
    (table,) = run("medq-deg/table1", folder / "cases", folder, []).tables
    own, *others = table.rows
    questions = [
        question
        for line in (folder / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
        for question in json.loads(line)["questions"]
    ]
    skills = {question.get("skill") for question in questions} - {None}
    capabilities = {question.get("capability") for question in questions} - {None}
    count = str(len(skills or capabilities))
    assert [cell.text for cell in own.cells] == ["this case set", str(CASES * 5), "3", count, "4"]
    assert all(row.published for row in others)
    assert [cell.text for cell in others[-1].cells][1:] == ["24,894 (evaluation)", "7", "30", "18"]
    assert others[-2].cells[3].text == "–", "not reported"


def grouped_table(names: int) -> Table:
    columns = [Column(modality, level) for level in ("L0", "L2") for modality in ("CT", "MRI")]
    rows = [
        TableRow((f"c{number}",), [Cell(0.5 + number / 100)] * 4, group="open" if number % 2 else "medical")
        for number in range(names)
    ]
    return Table("t", ("Candidate",), columns, rows)


def test_candidates_along_x_are_coloured_by_their_group() -> None:
    chart = figure(grouped_table(4), "candidates", x="", y="Accuracy (%)")
    assert chart is not None
    spec = json.loads(chart.to_json())
    axis = spec["layer"][0]["encoding"]["x"]["axis"]
    tests = [(condition["test"], condition["value"]) for condition in axis["labelColor"]["condition"]]
    assert tests == [
        ('indexof(["c0", "c2"], datum.value) >= 0', COLOURS[0]),
        ('indexof(["c1", "c3"], datum.value) >= 0', COLOURS[1]),
    ]


def test_a_radar_has_a_chart_for_each_modality_and_a_spoke_for_each_candidate() -> None:
    chart = figure(grouped_table(4), "radar", x="Severity", y="Accuracy (%)")
    assert chart is not None
    charts = json.loads(chart.to_json())["concat"]
    assert [own["title"]["text"] for own in charts] == ["CT", "MRI"]
    spokes, lines = charts[0]["layer"][1]["data"]["values"], charts[0]["layer"][-1]["data"]["values"]
    assert len(spokes) == 4
    second = next(point for point in lines if (point["line"], point["order"]) == ("L0", 1))
    assert (second["x"], second["y"]) == (pytest.approx(51), pytest.approx(0, abs=1e-9)), "a quarter turn, 51%"


def test_with_two_candidates_a_radar_has_the_modalities_as_spokes() -> None:
    columns = [Column(modality, level) for level in ("L0", "L2") for modality in ("CT", "MRI", "X-ray")]
    rows = [TableRow((name,), [Cell(0.5)] * 6) for name in ("c0", "c1")]
    chart = figure(Table("t", ("Candidate",), columns, rows), "radar", x="", y="")
    assert chart is not None
    charts = json.loads(chart.to_json())["concat"]
    assert [own["title"]["text"] for own in charts] == ["c0", "c1"]
    assert len(charts[0]["layer"][1]["data"]["values"]) == 3


def test_without_a_radar_the_lines_are_the_only_figure_and_a_message_says_why(tmp_path: Path) -> None:
    messages: list[str] = []
    study = find_study("medq-deg/fig7")
    assert figure(grouped_table(2), "radar", x="", y="") is None
    files = write_table_figure(grouped_table(2), study, tmp_path, messages.append)
    assert {file.stem for file in files} == {"figure"}
    assert messages == ["medq-deg/fig7: no radar chart: it needs three candidates, or three headings, with figures"]


def test_panels_of_lines_share_their_y_range() -> None:
    table = grouped_table(2)
    table.rows[0].cells[1] = Cell(0.9, 0.8, 0.95)
    chart = figure(table, "panels", x="Severity", y="Accuracy (%)")
    assert chart is not None
    domains = [own["layer"][-1]["encoding"]["y"]["scale"]["domain"] for own in json.loads(chart.to_json())["concat"]]
    assert domains == [[50, 95], [50, 95]]


def test_figures_3_and_7_are_drawn_as_in_the_paper_and_as_lines() -> None:
    for study, mark, also in (("fig3", "candidates", "line"), ("fig7", "radar", "panels")):
        layout = find_study(f"medq-deg/{study}").definition.figure
        assert layout is not None
        assert (layout.mark, layout.also) == (mark, also)
