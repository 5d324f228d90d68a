"""`wardround bench` and `wardround published` as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

from bench_cases import STRONG, WEAK, cure_cases
from typer.testing import CliRunner, Result

from wardround.benchmarks.engine.named_study import named_studies
from wardround.benchmarks.engine.published import published_names
from wardround.cli.main import app


def wardround(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments])


def test_published_lists_every_table() -> None:
    listed = wardround("published").stdout
    assert [line.split()[0] for line in listed.splitlines()] == published_names()
    tables = json.loads(wardround("published", "--json").stdout)["tables"]
    assert [each["table"] for each in tables] == published_names()
    assert {each["kind"] for each in tables} == {"printed", "digitised", "estimated"}


def test_published_prints_a_table_with_notes_at_its_figures() -> None:
    text = wardround("published", "clinbench/table3").stdout
    row = next(line for line in text.splitlines() if "Deepseek-V3.1" in line)
    assert "44.9  45.5" in row
    claude = [line for line in text.splitlines() if "Claude-Opus-4-20250514" in line][-1]
    assert claude.endswith("46.3 [2]")
    assert "[2] The unweighted mean is 42.8" in text


def test_published_as_json_has_numbers_and_notes() -> None:
    document = json.loads(wardround("published", "cure/fig2", "--json").stdout)
    assert document["data"][0] == {
        "paradigm": "PR",
        "coverage": 92.1,
        "evidence_based_correct": 64.5,
        "evidence_misled": None,
        "knowledge_based_correct": 2.1,
        "hallucination": None,
    }
    assert [note["row"] for note in document["notes"]] == [None, "PR", "PR"]


def test_an_unknown_table_suggests_close_names() -> None:
    error = wardround("published", "cure/table9").exception
    assert str(error).startswith("there is no published table 'cure/table9'; did you mean cure/table")


def test_bench_list_says_what_each_needs_and_whether_it_runs() -> None:
    studies = json.loads(wardround("bench", "list", "--json").stdout)["studies"]
    assert [each["study"] for each in studies] == list(named_studies())
    for each in studies:
        assert each["runs"] == (each["why_not"] is None)
    text = wardround("bench", "list").stdout
    assert all(name in text for name in named_studies())


def test_bench_prints_the_table_and_json_holds_the_same(tmp_path: Path) -> None:
    cases = cure_cases(tmp_path / "cases", 12)
    arguments = ("bench", "cure/base", "--cases", cases, "--runs", tmp_path / "runs")
    result = wardround(*arguments, "--candidate", STRONG, "--candidate", WEAK)
    assert result.exit_code == 0, result.output
    assert "History and images" in result.stdout
    document = json.loads(wardround(*arguments, "--candidate", STRONG, "--candidate", WEAK, "--json").stdout)
    (table,) = document["tables"]
    first = table["rows"][0]["cells"][0]
    assert f"{100 * first['value']:.1f}" in result.stdout
    assert [Path(file).name for file in document["files"]] == ["table.csv", "table.tex", "table.md"]
    assert document["status"] == "complete"


def test_bench_with_a_file_of_candidates(tmp_path: Path) -> None:
    file = tmp_path / "candidates.toml"
    file.write_text('[[candidates]]\nname = "floor"\nprovider = "random"\n')
    cases = cure_cases(tmp_path / "cases", 10)
    result = wardround("bench", "cure/base", "--cases", cases, "--candidates", file, "--runs", tmp_path / "runs")
    assert result.exit_code == 0, result.output
    assert "floor" in result.stdout


def test_bench_without_cases_says_what_is_missing() -> None:
    assert str(wardround("bench", "cure/base").exception) == "cure/base needs a case set: --cases DIR"
