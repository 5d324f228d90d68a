"""A benchmark of one's own: a folder of TOML, given by its path or by a plug-in."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from bench_cases import STRONG, WEAK, clinbench_cases
from typer.testing import CliRunner, Result

from wardround import plugins
from wardround.benchmarks.engine.bench import bench
from wardround.benchmarks.engine.benchmark import benchmark_at, benchmarks
from wardround.benchmarks.engine.candidate_text import parse_candidate
from wardround.benchmarks.engine.named_study import find_group, find_study, named_studies, studies_of
from wardround.benchmarks.engine.published import load_published
from wardround.cli.main import app
from wardround.core.errors import BadInput, WardroundError
from wardround.reporting import report

STUDIES = """
[studies.table1]
title = "Accuracy on our wards"
paper = "Table 1"
needs = ["cases told in text"]
published = "table1"

[studies.table1.put]
questions = ["choice"]
conditions = { telling = ["text"] }

[[studies.table1.columns]]
heading = "All"
measure = "accuracy"
published = "all"

[studies.counts]
title = "The cases"
paper = "Table 2"
needs = ["any case set"]
facts = ["cases", "questions"]
"""
NOTES = """
source = "Our Hospital, 2026"

[tables.table1]
title = "Accuracy"
rows = "model"
unit = "percent"

[[notes]]
table = "table1"
row = "Registrar"
column = "all"
note = "On 40 cases."
"""
SECTION = """
from wardround.reporting.tables.table import Cell, Column, Table, TableRow


def drawn(run, folder, note):
    note("drawn by our own function")
    (folder / "own.txt").write_text("ours")
    table = Table("Ours", ("Candidate",), [Column("One", unit="count")], [TableRow(("any",), [Cell(1)])])
    return [table], [folder / "own.txt"]
"""
DRAWN = """
[studies.drawn]
title = "Drawn by us"
paper = "Beyond the paper"
needs = ["cases told in text"]
drawn_from = "run"
put = { questions = ["choice"], conditions = { telling = ["text"] } }
columns = [{ heading = "All", measure = "accuracy" }]
"""


@pytest.fixture
def ward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """./our-ward in the working directory, without any Python."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "our-ward"
    (folder / "published").mkdir(parents=True)
    (folder / "README.md").write_text("# Our ward\n")
    (folder / "studies.toml").write_text(STUDIES)
    (folder / "published" / "notes.toml").write_text(NOTES)
    (folder / "published" / "table1.csv").write_text("model,all\nRegistrar,62.5\n")
    clinbench_cases(tmp_path / "cases", 20)
    return folder


def wardround(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def read_all(name: str) -> None:
    """Reads the published table and the studies."""
    load_published(name)
    find_study(name)


def test_a_folder_of_toml_is_run_by_its_path(ward: Path) -> None:
    asked = ("bench", "./our-ward/table1", "--cases", "cases", "--candidate", STRONG, "--candidate", WEAK)
    result = wardround(*asked, "--published", "--json")
    assert result.exit_code == 0, result.output
    (table,) = json.loads(result.stdout)["tables"]
    assert table["title"] == "our-ward/table1: Accuracy on our wards"
    assert [row["labels"] for row in table["rows"]] == [["strong"], ["weak"], ["Registrar"]]
    assert table["rows"][2]["cells"][0]["value"] == 0.625
    assert Path("runs/our-ward-table1/table.csv").is_file()


def test_its_report_can_be_made_again_from_elsewhere(ward: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = bench("./our-ward/table1", cases=Path("cases"), candidates=[parse_candidate(WEAK)], note=str)
    assert result.folder is not None
    run = result.folder.absolute()
    assert json.loads((run / "manifest.json").read_text())["named_study"] == {
        "name": "our-ward/table1",
        "folder": str(ward),
    }
    before = (run / "report.html").read_text(encoding="utf-8")
    monkeypatch.chdir(ward.parent.parent)
    assert "Registrar" in before
    assert report(run).read_text(encoding="utf-8") == before


@pytest.mark.parametrize("name", ["./our-ward", "./our-ward/list", "our-ward/../our-ward/list"])
def test_its_studies_are_listed(ward: Path, name: str) -> None:
    path = name if name.startswith(".") else str(Path(name).absolute())
    listed = json.loads(wardround("bench", path, "--json").stdout)["studies"]
    assert [study["study"] for study in listed] == ["our-ward/table1", "our-ward/counts"]
    assert listed[0]["published"] == "our-ward/table1"


def test_all_of_its_studies_are_run_and_no_others(ward: Path) -> None:
    result = wardround("bench", "./our-ward/all", "--cases", "cases", "--candidate", WEAK, "--json")
    studies = json.loads(result.stdout)["studies"]
    assert [study["study"] for study in studies] == ["our-ward/table1", "our-ward/counts"]


def test_one_benchmark_that_is_built_in_can_be_listed_alone() -> None:
    group = find_group("cure/list")
    assert group is not None
    assert set(group.studies) == {name for name in named_studies() if name.startswith("cure/")}


def test_its_published_table_is_printed_by_its_path(ward: Path) -> None:
    text = wardround("published", "./our-ward/table1").stdout
    assert "62.5 [1]" in text
    assert "[1] On 40 cases." in text
    assert load_published("./our-ward/table1").source == "Our Hospital, 2026"


def test_a_path_without_its_dot_is_suggested(ward: Path) -> None:
    with pytest.raises(WardroundError, match=r"no study 'our-ward/table1'; did you mean \./our-ward/table1"):
        find_study("our-ward/table1")


def test_a_study_that_is_not_in_the_folder_suggests_close_ones(ward: Path) -> None:
    with pytest.raises(WardroundError, match=r"no study 'our-ward/tabel1'; did you mean our-ward/table1"):
        find_study("./our-ward/tabel1")


def test_a_function_of_its_sections_py_draws(ward: Path) -> None:
    (ward / "sections.py").write_text(SECTION)
    (ward / "studies.toml").write_text(STUDIES + DRAWN)
    messages: list[str] = []
    result = bench("./our-ward/drawn", cases=Path("cases"), candidates=[parse_candidate(WEAK)], note=messages.append)
    assert [table.title for table in result.tables] == ["our-ward/drawn: Drawn by us", "Ours"]
    assert messages.count("drawn by our own function") == 1
    assert result.files[-1].read_text() == "ours"


@pytest.mark.parametrize(
    ("file", "before", "after", "complaint"),
    [
        ("studies.toml", "[studies.table1]", "[studies.table1", "studies.toml: is not TOML: "),
        ("studies.toml", 'paper = "Table 1"\n', "", "studies.toml: studies.table1.paper: is required"),
        ("studies.toml", "title = ", "titel = ", "studies.toml: studies.table1.title: is required"),
        (
            "studies.toml",
            'measure = "accuracy"',
            'measure = "acuracy"',
            "studies.toml: studies.table1.columns[0].measure: unknown measure 'acuracy'; did you mean 'accuracy'?",
        ),
        (
            "studies.toml",
            'published = "table1"',
            'published = "table9"',
            "studies.toml: studies.table1.published: published/notes.toml describes no table 'table9'",
        ),
        (
            "studies.toml",
            'telling = ["text"]',
            'telling = ["spoken"]',
            "studies.toml: studies.table1.put.conditions: telling = 'spoken': expected one of own, text, multimodal",
        ),
        ("studies.toml", "studies.counts", "studies.list", "studies.toml: studies.list: is not a name for a study"),
        ("published/notes.toml", 'unit = "percent"', "", "notes.toml: tables.table1.unit: is required"),
        ("published/notes.toml", 'rows = "model"', 'rows = "who"', "notes.toml: tables.table1.rows: table1.csv has no"),
        ("published/table1.csv", None, None, "table1.csv: cannot be read: "),
        ("studies.toml", None, None, "our-ward: is not a benchmark: it has no studies.toml"),
    ],
)
def test_a_mistake_is_one_line_with_the_file_and_the_key(
    ward: Path, file: str, before: str | None, after: str | None, complaint: str
) -> None:
    text = (ward / file).read_text()
    if before is None or after is None:
        (ward / file).unlink()
    else:
        assert before in text
        (ward / file).write_text(text.replace(before, after))
    with pytest.raises(BadInput) as error:
        read_all("./our-ward/table1")
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        (None, "studies.toml: studies.drawn.drawn_from: needs sections.py in the same folder"),
        ("", "sections.py: has no function drawn(), which studies.toml asks for in studies.drawn.drawn_from"),
        ("1 / 0", "sections.py: could not be loaded: ZeroDivisionError: division by zero"),
    ],
)
def test_a_missing_section_function_is_one_line(ward: Path, code: str | None, complaint: str) -> None:
    (ward / "studies.toml").write_text(STUDIES + DRAWN)
    if code is not None:
        (ward / "sections.py").write_text(code)
    with pytest.raises(BadInput, match=r"sections\.py") as error:
        find_study("./our-ward/drawn").benchmark.section_function("drawn")
    assert complaint in str(error.value)


@pytest.fixture
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(plugins, "_from_files", {})


@pytest.mark.usefixtures("no_plugins")
def test_a_folder_that_a_plug_in_registers_is_listed_by_its_name(ward: Path) -> None:
    plugins.benchmark("our-ward", ward)
    assert list(benchmarks())[-1] == "our-ward"
    assert "our-ward/table1" in named_studies()
    assert find_study("our-ward/table1").to_manifest() == {"name": "our-ward/table1"}
    assert load_published("our-ward/table1").value("Registrar", "all") == 62.5


@pytest.mark.usefixtures("no_plugins")
def test_a_package_can_be_a_benchmark_and_its_sections_are_its_module(
    ward: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ward.parent / "ward_package").mkdir()
    for name, text in (("__init__.py", ""), ("sections.py", SECTION), ("studies.toml", DRAWN)):
        (ward.parent / "ward_package" / name).write_text(text)
    monkeypatch.syspath_prepend(ward.parent)
    import ward_package  # type: ignore[import-not-found]

    plugins.register("benchmarks", "package", ward_package)
    study = find_study("package/drawn")
    assert study.benchmark.section_function("drawn") is sys.modules["ward_package.sections"].drawn


@pytest.mark.usefixtures("no_plugins")
@pytest.mark.parametrize(
    ("name", "target", "complaint"),
    [
        ("cure", Path("our-ward"), "benchmark 'cure' has the name of a built-in benchmark"),
        ("other", 7, "benchmark 'other' is 7; expected a folder's path or a package"),
        ("other", Path("nowhere"), "nowhere: is not a benchmark: it has no studies.toml"),
    ],
)
def test_a_plug_in_that_is_no_benchmark_is_one_line(ward: Path, name: str, target: object, complaint: str) -> None:
    plugins.register("benchmarks", name, target)
    with pytest.raises(WardroundError) as error:
        benchmarks()
    assert complaint in str(error.value)
    assert find_study("cure/table1").name == "cure/table1"  # built-in ones stay usable


def test_capitals_and_underscores_of_a_folder_are_normalized_in_its_name(ward: Path) -> None:
    renamed = ward.rename(ward.with_name("Our_Ward"))
    assert list(studies_of(benchmark_at(renamed))) == ["our-ward/table1", "our-ward/counts"]
    assert find_study("./Our_Ward/table1").name == "our-ward/table1"
