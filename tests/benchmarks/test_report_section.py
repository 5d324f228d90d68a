"""The paper's table in the report of a bench run: this run's figures, the published ones, and when these stay away."""

from __future__ import annotations

import csv
import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from bench_cases import STRONG, WEAK, clinbench_cases

from wardround.benchmarks.engine.bench import STUDY_FILE, Benched, bench
from wardround.benchmarks.engine.candidate_text import candidate_from
from wardround.benchmarks.engine.folders import folder_of
from wardround.benchmarks.engine.report_section import paper_table
from wardround.reporting import read_run, report


@pytest.fixture(scope="module")
def table3(tmp_path_factory: pytest.TempPathFactory) -> Benched:
    folder = tmp_path_factory.mktemp("clinbench")
    candidates = [candidate_from(text) for text in (STRONG, WEAK)]
    cases = clinbench_cases(folder / "cases")
    return bench("clinbench/table3", cases=cases, candidates=candidates, runs=folder / "runs", note=lambda text: None)


def rows(html: str) -> list[tuple[bool, str, list[str]]]:
    """Every row of the paper's table: whether it is published, its name, and the texts of its cells."""
    found = re.search(r'<section id="paper-table".*?</section>', html, re.DOTALL)
    assert found is not None
    told = []
    for row in re.findall(r"<tr.*?</tr>", found[0].partition("<tbody>")[2], re.DOTALL):
        name, *cells = (re.sub(r"<.*?>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL))
        told.append(('class="published"' in row, name, [cell.strip() for cell in cells]))
    return told


def test_it_is_registered_and_stands_in_the_report(table3: Benched) -> None:
    assert "bench" in {entry.name for entry in entry_points(group="wardround.sections")}
    assert table3.folder is not None
    told = rows((table3.folder / "report.html").read_text(encoding="utf-8"))
    with (folder_of("clinbench") / "published" / "table3.csv").open(encoding="utf-8", newline="") as file:
        paper = list(csv.DictReader(file))
    model = list(paper[0])[1]  # the first column groups them
    assert [(name.removesuffix(" published"), cells[-2]) for published, name, cells in told if published] == [
        (line[model], f"{float(line['Avg']):.1f}") for line in paper
    ]
    (table,) = table3.tables
    own = [(name, cells[-2]) for published, name, cells in told if not published]
    assert own == [
        (row.labels[0], "{:.1f} [{:.1f}, {:.1f}]".format(*(100 * (v or 0) for v in (cell.value, cell.low, cell.high))))
        for row in table.rows
        for cell in [row.cells[-2]]
    ]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("trials = 3", "trials = 2", "the paper asked 3 times, this run 2"),
        ("temperature = 0.6", "temperature = 0.0", "sampling of this run: not as in the paper"),
        ('telling = ["text"]', 'telling = ["multimodal"]', "conditions of this run: not as in the paper"),
        ('questions = ["choice"]', 'questions = ["mcq"]', "questions of this run: not as in the paper"),
    ],
)
def test_published_rows_stay_away_where_the_protocol_differs(
    table3: Benched, tmp_path: Path, before: str, after: str, said: str
) -> None:
    assert table3.folder is not None
    for file in ("manifest.json", "measures.csv", "comparisons.csv", "marks.parquet", STUDY_FILE):
        (tmp_path / file).write_bytes((table3.folder / file).read_bytes())
    study = (table3.folder / "study.toml").read_text(encoding="utf-8")
    assert before in study
    (tmp_path / "study.toml").write_text(study.replace(before, after), encoding="utf-8")
    html = report(tmp_path).read_text(encoding="utf-8")
    assert {published for published, _, _ in rows(html)} == {False}
    assert said.replace("'", "&#39;") in html


def test_a_run_that_bench_did_not_make_has_none(table3: Benched, tmp_path: Path) -> None:
    assert table3.folder is not None
    for file in ("manifest.json", "measures.csv", "comparisons.csv", "marks.parquet", "study.toml"):
        (tmp_path / file).write_bytes((table3.folder / file).read_bytes())
    assert paper_table(read_run(tmp_path)) is None
