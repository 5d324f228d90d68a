"""The paper's table in the report of a bench run: this run's figures, the published ones, and when these stay away."""

from __future__ import annotations

import csv
import json
import re
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from bench_cases import STRONG, WEAK, clinbench_cases

from wardround.benchmarks.clinbench import sections
from wardround.benchmarks.engine.bench import BenchResult, bench
from wardround.benchmarks.engine.benchmark import STUDY_FILE, benchmarks
from wardround.benchmarks.engine.candidate_text import parse_candidate
from wardround.benchmarks.engine.report_section import paper_table
from wardround.core.errors import WardroundError
from wardround.pipeline import run_study
from wardround.reporting import read_run, report

RANDOM = [{"name": "floor", "provider": "random"}]


@pytest.fixture(scope="module")
def table3(tmp_path_factory: pytest.TempPathFactory) -> BenchResult:
    folder = tmp_path_factory.mktemp("clinbench")
    candidates = [parse_candidate(text) for text in (STRONG, WEAK)]
    cases = clinbench_cases(folder / "cases")
    return bench("clinbench/table3", cases=cases, candidates=candidates, runs=folder / "runs", note=lambda text: None)


def rows(html: str) -> list[tuple[bool, str, list[str]]]:
    """Every row of the paper's table: whether it is published, its name, and the texts of its cells."""
    found = re.search(r'<section id="paper-table".*?</section>', html, re.DOTALL)
    assert found is not None
    table_rows = []
    for row in re.findall(r"<tr.*?</tr>", found[0].partition("<tbody>")[2], re.DOTALL):
        name, *cells = (re.sub(r"<.*?>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL))
        table_rows.append(('class="published"' in row, name, [cell.strip() for cell in cells]))
    return table_rows


def test_it_is_registered_and_stands_in_the_report(table3: BenchResult) -> None:
    assert "bench" in {entry.name for entry in entry_points(group="wardround.sections")}
    assert table3.folder is not None
    table_rows = rows((table3.folder / "report.html").read_text(encoding="utf-8"))
    with (benchmarks()["clinbench"].folder / "published" / "table3.csv").open(encoding="utf-8", newline="") as file:
        paper = list(csv.DictReader(file))
    model = list(paper[0])[1]  # the first column groups them
    assert [(name.removesuffix(" published"), cells[-2]) for published, name, cells in table_rows if published] == [
        (line[model], f"{float(line['Avg']):.1f}") for line in paper
    ]
    (table,) = table3.tables
    own = [(name, cells[-2]) for published, name, cells in table_rows if not published and cells]  # not the headings
    assert own == [
        (row.labels[0], "{:.1f} [{:.1f}, {:.1f}]".format(*(100 * (v or 0) for v in (cell.value, cell.low, cell.high))))
        for row in table.rows
        for cell in [row.cells[-2]]
    ]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("temperature = 0.6", "temperature = 0.0", "sampling of this run: not as in the paper"),
        ('    "text",', '    "multimodal",', "conditions of this run: not as in the paper"),
        ('    "choice",', '    "mcq",', "questions of this run: not as in the paper"),
    ],
)
def test_published_rows_stay_away_where_the_protocol_differs(
    table3: BenchResult, tmp_path: Path, before: str, after: str, said: str
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


def copy_run(folder: Path, target: Path, *more: str) -> Path:
    for file in ("manifest.json", "measures.csv", "comparisons.csv", "marks.parquet", "study.toml", *more):
        (target / file).write_bytes((folder / file).read_bytes())
    return target


def forget_named_study(folder: Path) -> None:
    """Makes the manifest that of a run by an earlier version."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    del manifest["named_study"]
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def test_the_manifest_names_the_study_and_is_enough_to_report_it(table3: BenchResult, tmp_path: Path) -> None:
    assert table3.folder is not None
    copy_run(table3.folder, tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["named_study"] == {"name": "clinbench/table3"}
    section = paper_table(read_run(tmp_path))
    assert section is not None
    assert section.title == "clinbench/table3"


def test_a_run_of_an_earlier_version_is_reported_by_the_comment_in_its_study_file(
    table3: BenchResult, tmp_path: Path
) -> None:
    assert table3.folder is not None
    copy_run(table3.folder, tmp_path, STUDY_FILE)
    now = paper_table(read_run(tmp_path))
    forget_named_study(tmp_path)
    assert paper_table(read_run(tmp_path)) == now


def test_a_run_that_bench_did_not_make_has_no_section(table3: BenchResult, tmp_path: Path) -> None:
    assert table3.folder is not None
    forget_named_study(copy_run(table3.folder, tmp_path))
    assert paper_table(read_run(tmp_path)) is None


def test_the_name_survives_another_start_of_the_run(tmp_path: Path) -> None:
    cases = clinbench_cases(tmp_path / "cases", 6)
    result = bench("clinbench/table3", cases=cases, candidates=RANDOM, runs=tmp_path / "runs", note=str)
    assert result.folder is not None
    run_study(result.folder / "study.toml", runs=tmp_path / "runs", quiet=True, note=str)
    manifest = json.loads((result.folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["named_study"] == {"name": "clinbench/table3"}


def test_a_study_is_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Table 5 has a section function: the report and bench show the same drawing."""
    drawn: list[str] = []
    draw = sections.table5

    def count(*arguments: Any) -> Any:
        drawn.append("table5")
        return draw(*arguments)

    monkeypatch.setattr(sections, "table5", count)
    cases = clinbench_cases(tmp_path / "cases", 24)
    result = bench("clinbench/table5", cases=cases, candidates=RANDOM, runs=tmp_path / "runs", note=str)
    assert drawn == ["table5"]
    assert result.folder is not None
    assert f"<h3>{result.tables[1].title}</h3>" in (result.folder / "report.html").read_text(encoding="utf-8")
    assert (result.folder / "table-2.csv") in result.files


def test_an_error_of_a_section_function_is_raised_and_the_report_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> Any:
        raise WardroundError("no ink")

    monkeypatch.setattr(sections, "table5", fail)
    cases = clinbench_cases(tmp_path / "cases", 24)
    with pytest.raises(WardroundError, match="no ink"):
        bench("clinbench/table5", cases=cases, candidates=RANDOM, runs=tmp_path / "runs", note=str)
    assert "no ink" in (tmp_path / "runs" / "clinbench-table5" / "report.html").read_text(encoding="utf-8")
