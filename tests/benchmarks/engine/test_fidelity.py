"""fidelity.toml of each paper: every file, test and study named there exists, and docs/fidelity.md is made from it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wardround.benchmarks.engine.benchmark import BUILT_IN, benchmark_at, benchmarks
from wardround.benchmarks.engine.fidelity import FidelityElement, fidelity_markdown, fidelity_text, read_fidelity
from wardround.benchmarks.engine.named_study import studies_of
from wardround.cli.main import app
from wardround.core.errors import BadInput

ROOT = Path(__file__).parents[3]
DOC = ROOT / "docs" / "fidelity.md"
WHOLE = """[[elements]]
section = "3.1"
element = "Accuracy | share right."
studies = ["table1"]
status = "whole"
where = ["src/x.py"]
test = "tests/test_x.py::test_x"
"""
DIFFERS = """[[elements]]
section = "App. B"
element = "The prompt."
status = "differs"
where = ["wardround prompts show"]
difference = "Worded by us."
"""
STUDIES = """[studies.table1]
title = "T"
paper = "Table 1"
needs = ["choice questions"]
columns = [{ heading = "MCQ", measure = "accuracy" }]
put = { questions = ["choice"] }
"""


def elements(name: str) -> list[FidelityElement]:
    paper = read_fidelity(benchmarks()[name])
    assert paper is not None, f"{name} has no fidelity.toml"
    return paper.elements


@cache
def text_of(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_file_and_command_that_is_named_exists(name: str) -> None:
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    commands |= {str(group.name) for group in app.registered_groups}
    for element in elements(name):
        for place in element.where:
            if place.startswith("wardround "):
                assert place.split()[1] in commands, place
            else:
                assert (ROOT / place.partition("::")[0]).exists(), place


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_test_that_is_named_exists(name: str) -> None:
    named = [element.test for element in elements(name) if element.test is not None]
    assert [test for test in named if not has_test(*test.split("::", 1))] == []


def has_test(file: str, function: str) -> bool:
    plain = re.escape(function.rpartition("::")[2].partition("[")[0])
    return (ROOT / file).is_file() and re.search(rf"^\s*(async )?def {plain}\(", text_of(file), re.M) is not None


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_named_study_has_an_element(name: str) -> None:
    covered = {study for element in elements(name) for study in element.studies}
    assert {study.key for study in studies_of(benchmarks()[name]).values()} - covered == set()


def test_the_page_of_the_docs_is_current() -> None:
    made_by = "wardround bench list --fidelity --markdown > docs/fidelity.md"
    assert DOC.read_text(encoding="utf-8") == fidelity_markdown(), made_by


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "studies.toml").write_text(STUDIES, encoding="utf-8")
    return tmp_path


def test_elements_are_listed_under_their_studies(folder: Path) -> None:
    (folder / "fidelity.toml").write_text(WHOLE + DIFFERS, encoding="utf-8")
    benchmark = benchmark_at(folder)
    paper = read_fidelity(benchmark)
    assert paper is not None
    assert dict(paper.counts) == {"whole": 1, "differs": 1}
    name = benchmark.name
    assert fidelity_text(studies_of(benchmark)) == (
        f"{name}: 2 elements: 1 whole, 1 differs, 0 absent\n\n"
        "all studies\n  differs  App. B: The prompt. Worded by us.\n\n"
        f"{name}/table1: T\n  whole    3.1: Accuracy | share right."
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (WHOLE.replace("test = ", "# "), "needs `where` and a `test`"),
        (DIFFERS.replace("difference = ", "# "), "needs a `difference`"),
        (WHOLE.replace('"table1"', '"table9"'), "there is no study 'table9'"),
        (WHOLE.replace('"whole"', '"partly"'), "status"),
    ],
)
def test_a_mistake_is_one_line(folder: Path, text: str, problem: str) -> None:
    (folder / "fidelity.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=re.escape(problem)):
        read_fidelity(benchmark_at(folder))


def test_bench_list_prints_it(folder: Path) -> None:
    (folder / "fidelity.toml").write_text(WHOLE + DIFFERS, encoding="utf-8")
    printed = CliRunner().invoke(app, ["bench", f"{folder}/list", "--fidelity"]).output
    assert "whole    3.1: Accuracy" in printed
    recorded = CliRunner().invoke(app, ["bench", f"{folder}/list", "--fidelity", "--json"]).output
    assert '"difference": "Worded by us."' in recorded
