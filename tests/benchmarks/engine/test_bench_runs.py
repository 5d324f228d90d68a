"""Named studies, run end to end on simulated candidates; every printed cell is compared with measures.csv."""

from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from bench_cases import STAGES, STRONG, WEAK, clinbench_cases, cure_cases, xpcr_cases
from PIL import Image

from wardround.benchmarks.engine.bench import BenchResult, bench
from wardround.benchmarks.engine.candidate_text import parse_candidate
from wardround.core.errors import WardroundError
from wardround.pipeline import run_study
from wardround.reporting.figures.figure_files import NEEDED
from wardround.reporting.tables.terminal import as_text


def run(name: str, cases: Path, folder: Path, *more: str, **options: Any) -> BenchResult:
    candidates = [parse_candidate(text) for text in (STRONG, WEAK, *more)]
    options.setdefault("note", lambda text: None)
    return bench(name, cases=cases, candidates=candidates, runs=folder / "runs", **options)


def measures(folder: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    """measures.csv by measure, candidate and slice, read without wardround."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    with (folder / "measures.csv").open() as file:
        for line in csv.DictReader(file):
            found.setdefault((line["measure"], line["candidate"], line["slice"]), line)
    return found


def in_slice(**values: str) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"))


def printed(found: BenchResult, candidate: str, column: int) -> tuple[str, str]:
    """Value and interval of a cell, cut out of the printed text by the place of its column."""
    (table,) = found.tables
    cell = next(row for row in table.rows if row.labels[0] == candidate and not row.published).cells[column]
    text = as_text(table, width=10_000)
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{candidate} "))
    values = lines[at].split("  ")
    values = [each.strip() for each in values if each.strip()]
    intervals = [each.strip() for each in lines[at + 1].replace("]", "]\0").split("\0") if each.strip()]
    assert cell.value is not None
    return values[len(table.labels) + column], intervals[column]


def shown(line: dict[str, str], decimals: int = 1) -> tuple[str, str]:
    """A line of measures.csv as a table prints it."""
    value, low, high = (f"{100 * float(line[part]):.{decimals}f}" for part in ("value", "low", "high"))
    return value, f"[{low}, {high}]"


@pytest.fixture(scope="module")
def table2(tmp_path_factory: pytest.TempPathFactory) -> BenchResult:
    folder = tmp_path_factory.mktemp("cure")
    return run("cure/table2", cure_cases(folder / "cases"), folder, "blind=random,sees=false", published=True)


def test_cure_inputs_cell_by_cell(table2: BenchResult) -> None:
    assert table2.folder is not None
    lines = measures(table2.folder)
    inputs = ("history", "history+images", "history+findings", "history+images+findings")
    column = 0
    for shown_inputs in inputs:
        for measure in ("hit@1", "hit@3", "accuracy"):
            for candidate in ("strong", "weak"):
                line = lines[measure, candidate, in_slice(inputs=shown_inputs)]
                assert printed(table2, candidate, column) == shown(line)
            column += 1
    for candidate in ("strong", "weak"):
        assert printed(table2, candidate, column) == shown(lines["unparsed", candidate, "{}"])


def test_a_blind_candidate_is_not_asked_with_images(table2: BenchResult) -> None:
    (table,) = table2.tables
    blind = next(row for row in table.rows if row.labels == ("blind",))
    said = ["not asked" if cell.value is None else "asked" for cell in blind.cells]
    assert said == ["asked"] * 3 + ["not asked"] * 3 + ["asked"] * 3 + ["not asked"] * 3 + ["asked"]


def test_the_judge_of_judged_figures_is_named(table2: BenchResult) -> None:
    (table,) = table2.tables
    assert any("hit@1 and hit@3: marked by lexical" in note and "not validated" in note for note in table.notes)


def test_published_rows_are_marked_and_left_out_where_another_judge_marked(table2: BenchResult) -> None:
    (table,) = table2.tables
    rows = [row for row in table.rows if row.published]
    assert len(rows) == 16
    assert rows[0].printed_labels == ("GPT-5.2 (published)",)
    values = [cell.value for cell in rows[0].cells]
    choice = [0.87, 0.874, 0.9, 0.91]
    assert values == [each for mcq in choice for each in (None, None, pytest.approx(mcq))] + [None]
    assert any(note.startswith("No published figures under Hit@1, Hit@3: ") for note in table.notes)


def test_files_hold_the_same_figures(table2: BenchResult) -> None:
    assert table2.folder is not None
    lines = measures(table2.folder)
    with (table2.folder / "table.csv").open() as file:
        rows = {(row["source"], row["Candidate"]): row for row in csv.DictReader(file)}
    assert len(rows) == 3 + 16
    line, row = lines["hit@3", "weak", in_slice(inputs="history+findings")], rows["run", "weak"]
    for part in ("low", "high", "n", "clusters", "unparsed"):
        assert float(row[f"With findings Hit@3 {part}"]) == float(line[part])
    assert float(row["With findings Hit@3"]) == float(line["value"])
    assert rows["published", "GPT-5.2"]["With both MCQ"] == "0.91"
    value, interval = shown(line)
    latex = (table2.folder / "table.tex").read_text()
    markdown = (table2.folder / "table.md").read_text()
    texts = latex.splitlines()
    places = [place for place, text in enumerate(texts) if text.startswith("weak &")]  # one in each part of the page
    values, intervals = (
        [cell for place in places for cell in texts[place + below].removesuffix(r" \\").split(" & ")[1:]]
        for below in (0, 1)
    )
    assert (values[7], intervals[7]) == (value, f"{{\\scriptsize {interval}}}")
    assert len(values) == len(intervals) == 13
    cells = next(text for text in markdown.splitlines() if text.startswith("| weak ")).split(" | ")
    assert cells[8] == f"{value} {interval}".replace("[", "\\[").replace("]", "\\]")


def test_the_run_is_a_run_like_any_other(table2: BenchResult) -> None:
    assert table2.folder is not None
    study = tomllib.loads((table2.folder / "study.toml").read_text())
    assert (table2.folder / "study.toml").read_bytes() == (table2.folder / "bench.toml").read_bytes()
    assert study["name"] == "cure-table2"
    assert [each["name"] for each in study["candidates"]] == ["strong", "weak", "blind"]
    heard: list[str] = []
    before = (table2.folder / "measures.csv").read_bytes()
    ended = run_study(table2.folder / "study.toml", runs=table2.folder.parent, note=heard.append)
    assert ended.exit_code == 0
    assert any("; 0 new" in each for each in heard)
    assert (table2.folder / "measures.csv").read_bytes() == before


@pytest.mark.slow
def test_xpcr_stages_are_asked_as_chains_and_drawn(tmp_path: Path) -> None:
    found = run("xpcr/stages", xpcr_cases(tmp_path / "cases"), tmp_path, published=True)
    assert found.folder is not None
    lines = measures(found.folder)
    for column, stage in enumerate(STAGES):
        for candidate in ("strong", "weak"):
            line = lines["accuracy", candidate, in_slice(stage=stage)]
            assert printed(found, candidate, column) == shown(line, decimals=2)
    assert [path.name for path in found.files[-2:]] == ["figure.svg", "figure.png"]
    svg = found.files[-2].read_text()
    for text in ("strong", "weak", "published", "Accuracy (%)", "IQA", "CD"):
        assert f">{text}</text>" in svg
    with Image.open(found.files[-1]) as image:
        assert image.format == "PNG"
        assert image.width > 400


def test_xpcr_table2_prints_what_is_measured_and_says_what_is_not(tmp_path: Path) -> None:
    found = run("xpcr/table2", xpcr_cases(tmp_path / "cases", 12), tmp_path, published=True)
    table = found.tables[0]
    assert found.folder is not None
    lines = measures(found.folder)
    columns = [(column.over, column.heading) for column in table.columns]
    wanted = {
        ("Stage-wise accuracy", "SWA"): ("swa", in_slice(stage="mean")),
        ("Accuracy by level", "ESA"): ("esa", in_slice(grade="mean")),
        ("", "CCR"): ("ccr", "{}"),
        ("ECE", "plug-in"): ("ece_stated", "{}"),
        ("", "UAS"): ("uas_stated", "{}"),
    }
    for column, (measure, slice) in wanted.items():
        place = columns.index(column)
        cells = {row.labels[0]: row.cells[place] for row in table.rows if not row.published}
        for candidate in ("strong", "weak"):
            line = lines.get((measure, candidate, slice))
            assert cells[candidate].value == (float(line["value"]) if line else None)
            assert line or cells[candidate].text == "not measured"
        published = [row.cells[place].value for row in table.rows if row.published]
        assert (measure in ("ece_stated", "uas_stated")) == all(value is None for value in published)


def test_clinbench_specialties_have_the_papers_headings_and_order(tmp_path: Path) -> None:
    found = run("clinbench/table3", clinbench_cases(tmp_path / "cases"), tmp_path, published=True)
    (table,) = found.tables
    assert [column.heading for column in table.columns] == ["GH", "Surg", "Radiology", "Avg", "Unparsed"]
    assert found.folder is not None
    lines = measures(found.folder)
    specialties = ("Gastroenterology and Hematology", "Surgery", "Radiology")
    for column, specialty in enumerate(specialties):
        assert printed(found, "weak", column) == shown(lines["accuracy", "weak", in_slice(specialty=specialty)])
    assert printed(found, "weak", 3) == shown(lines["accuracy", "weak", "{}"])
    best = next(row for row in table.rows if row.labels[0] == "GPT-5-0807")
    assert [cell.value for cell in best.cells] == [
        pytest.approx(0.521),
        pytest.approx(0.535),
        None,
        pytest.approx(0.515),
        None,
    ]


def test_clinbench_text_against_images_with_the_third_cell(tmp_path: Path) -> None:
    found = run("clinbench/telling", clinbench_cases(tmp_path / "cases", 24), tmp_path, trials=1)
    assert found.folder is not None
    lines = measures(found.folder)
    cells = (("text", "as-is"), ("multimodal", "as-is"), ("multimodal", "none"))
    for column, (telling, images) in enumerate(cells):
        line = lines["accuracy", "strong", in_slice(telling=telling, images=images)]
        assert line["n"] == "24"
        assert printed(found, "strong", column) == shown(line)


def test_a_figure_without_the_extra_is_one_line_and_the_table_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    heard: list[str] = []
    candidates = [parse_candidate(STRONG)]
    found = bench(
        "xpcr/stages",
        cases=xpcr_cases(tmp_path / "c", 10),
        candidates=candidates,
        runs=tmp_path / "r",
        note=heard.append,
    )
    assert NEEDED in heard
    assert [path.name for path in found.files] == ["table.csv", "table.tex", "table.md"]


@pytest.mark.parametrize(
    ("name", "candidates", "complaint"),
    [
        (
            "cure/table1",
            [STRONG],
            "cure/table1 needs literature: --index INDEX",
        ),
        ("cure/base", [], "cure/base needs a candidate"),
        ("cure/base", ["x=simulated,colour=red"], "candidates[0].colour: unknown key"),
        ("cure/base", [STRONG, STRONG], "two candidates are named 'strong'"),
    ],
)
def test_a_mistake_is_refused_before_anything_is_written(
    tmp_path: Path, name: str, candidates: list[str], complaint: str
) -> None:
    cases = cure_cases(tmp_path / "cases", 2)
    with pytest.raises(WardroundError) as error:
        bench(name, cases=cases, candidates=[parse_candidate(each) for each in candidates], runs=tmp_path / "runs")
    assert complaint in str(error.value)
    assert not (tmp_path / "runs").exists()


def test_a_study_of_which_nothing_can_be_asked_says_why(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="the case set has nothing that it can ask: no case has a telling 'text'"):
        run("clinbench/table3", cure_cases(tmp_path / "cases", 8), tmp_path)


def test_people_alone_make_a_study(tmp_path: Path) -> None:
    cases, file = clinbench_cases(tmp_path / "cases", 12), tmp_path / "experts.csv"
    records = [json.loads(line) for line in (cases / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    lines = [f"ann,expert,{case['id']},{q['id']},{'ABCD'[q['gold']]}" for case in records for q in case["questions"]]
    file.write_text("\n".join(["person,role,case,question,option", *lines]))
    people = {"name": "human/expert", "provider": "people", "model": str(file)}
    found = bench("clinbench/table3", cases=cases, candidates=[people], runs=tmp_path / "runs", note=str)
    assert found.tables[0].rows[0].cells[0].value == 1.0


def test_what_a_case_set_lacks_is_said_and_the_rest_is_run(tmp_path: Path) -> None:
    said: list[str] = []
    found = run("xpcr/cross", cure_cases(tmp_path / "cases", 8), tmp_path, note=said.append)
    lacks = "nothing has the task correspondence or integration or selection"
    assert f"xpcr/cross asks for more than the case set has: {lacks}" in said
    assert found.tables


def test_another_study_in_the_same_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    cases = cure_cases(tmp_path / "cases", 10)
    found = run("cure/base", cases, tmp_path)
    assert found.folder is not None
    before = (found.folder / "study.toml").read_bytes()
    with pytest.raises(WardroundError, match=r"another version of this study; give it another folder by --runs"):
        run("cure/base", cases, tmp_path, trials=3)
    assert (found.folder / "study.toml").read_bytes() == before
