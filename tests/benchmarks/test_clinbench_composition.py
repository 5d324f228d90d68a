"""ClinBench's tables 1, 2 and 7 and figure 6: a case set beside the paper's rows, written as files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from bench_cases import choice, write
from PIL import Image

from wardround.benchmarks.engine.bench import BenchResult, bench
from wardround.benchmarks.engine.published import load_published
from wardround.core.errors import BadInput
from wardround.reporting.tables.table import Cell, Table


def case(number: int, specialty: str, *, images: int, rare: bool = False) -> dict:
    """Told in text in 3 words and with images in 2; the question has one word."""
    question = choice("mcq", number) | {"prompt": "Which?"}
    record = {"id": f"case-{number}", "specialty": specialty, "questions": [question]}
    record["images"] = [{"path": f"{number}-{place}.png"} for place in range(images)]
    record["tellings"] = {"text": {"history": "Three words here.", "images": []}}
    if images:
        record["tellings"]["multimodal"] = {"history": "Two words.", "images": list(range(images))}
    return record | ({"tags": ["rare"]} if rare else {})


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """Three cases told in text, two of them also with images: three and one."""
    records = [case(0, "GH", images=3, rare=True), case(1, "Surgery", images=1), case(2, "Surgery", images=0)]
    folder = write(tmp_path / "ward", records)
    for record in records:
        for image in record["images"]:
            Image.new("L", (8, 8)).save(folder / image["path"])
    return folder


def draw(name: str, cases: Path, tmp_path: Path) -> BenchResult:
    return bench(f"clinbench/{name}", cases=cases, candidates=[], runs=tmp_path / "runs", note=lambda text: None)


def cells(table: Table, row: str) -> dict[str, Cell]:
    headings = [column.heading for column in table.columns]
    return dict(zip(headings, next(line for line in table.rows if line.labels == (row,)).cells, strict=True))


def test_table_1_has_the_set_and_the_papers_rows(cases: Path, tmp_path: Path) -> None:
    result = draw("table1", cases, tmp_path)
    (table,) = result.tables
    own, paper = cells(table, "ward (this set)"), cells(table, "ClinBench Text")
    options = len(choice("mcq", 0)["options"])
    assert (own["Questions"].value, own["Words"].value, own["Options"].value) == (3, 4.0, options)
    assert (own["Rare diseases"].text, own["saturated"].text) == ("yes", "–")
    assert (paper["Questions"].value, paper["Words"].value, paper["Rare diseases"].text) == (2014, 462.1, "yes")
    assert sum(row.published for row in table.rows) == 8
    assert {"table.csv", "table.tex", "table.md"} == {file.name for file in result.files}
    with next(file for file in result.files if file.suffix == ".csv").open() as lines:
        assert len(list(csv.reader(lines))) > 9


def test_table_2_counts_the_images_of_the_telling_with_images(cases: Path, tmp_path: Path) -> None:
    (table,) = draw("table2", cases, tmp_path).tables
    own = cells(table, "ward (this set)")
    assert (own["Questions"].value, own["Images"].value, own["Images, a question"].value) == (2, 4, 2.0)
    assert own["Words"].value == 3.0
    published = load_published("clinbench/table2")
    for label in published.labels:
        size, images = (published.value(label, name) or 0 for name in ("size", "images"))
        if label != "MMMU-Pro (H & M)":  # the note says so
            assert round(images / size, 1) == published.value(label, "image_rate")


def test_table_7_adds_up_what_models_cost_by_step(cases: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"funnel\.csv.*wardround build"):
        draw("table7", cases, tmp_path)
    (cases / "funnel.csv").write_text(
        "step,records_in,records_out,reasons,calls,tokens,money\n"
        "read,9,5,,0,0,0.0\nplausible,5,5,,5,4000,1.25\nreview,5,3,,5,1000,0.5\n"
    )
    (table,) = draw("table7", cases, tmp_path).tables
    assert [row.labels[0] for row in table.rows][:3] == ["This set (total)", "plausible", "review"]
    assert [cell.value for cell in table.rows[0].cells] == [10, 5000, 1.75]
    assert cells(table, "ClinBench (Total)")["USD"].value == 720
    assert 620 + 100 == 720


def test_figure_6_counts_cases_by_specialty_and_telling(cases: Path, tmp_path: Path) -> None:
    result = draw("fig6", cases, tmp_path)
    (table,) = result.tables
    counts = {row.labels[0]: [cell.value for cell in row.cells] for row in table.rows}
    assert counts == {"Gastroenterology and Hematology": [1, 1], "Surgery": [2, 1]}
    assert "figure.svg" in {file.name for file in result.files}
