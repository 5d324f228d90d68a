"""A bench run by the paper's own rule, with our strict reading beside it; marked again, and whose wording was used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import Any

import polars as pl
import pytest
from bench_cases import clinbench_cases
from medq_deg_cases import medq_deg_cases
from typer.testing import CliRunner

import wardround as wr
from wardround.benchmarks.engine.bench import BenchResult, bench
from wardround.cli.main import app
from wardround.core.errors import WardroundError
from wardround.pipeline import run_study
from wardround.reporting.tables.table import Cell, Table
from wardround.reporting.wording import wording_note

MANY = 9  # cases, each with a clean question and four degraded twins
ANSWERS = 5 * MANY


def always_right(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "provider": "simulated", "extra_body": {"accuracy": 1.0, "sharpness": 1.0, **more}}


# "The answer is B." begins with T for the paper's rule, which is no option
CANDIDATES = [always_right("terse"), always_right("talker", phrasing="sentence")]


def medq_deg(folder: Path, **more: Any) -> BenchResult:
    cases = folder / "cases"
    if not cases.exists():
        medq_deg_cases(cases, MANY)
    options = {"cases": cases, "candidates": CANDIDATES, "runs": folder / "runs", "trials": 1, "note": str}
    return bench("medq-deg/table6", **(options | more))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("marked")


@pytest.fixture(scope="module")
def table6(workspace: Path) -> BenchResult:
    return medq_deg(workspace)


def cell(table: Table, candidate: str, heading: str, over: str = "") -> Cell:
    place = next(n for n, column in enumerate(table.columns) if (column.heading, column.over) == (heading, over))
    return next(row for row in table.rows if row.labels[0] == candidate).cells[place]


def test_the_paper_s_rule_marks_and_the_strict_reading_stands_beside_it(table6: BenchResult) -> None:
    """terse replies with a letter, talker with a sentence; both are always right, and none of 45 answers is unread."""
    (table, *_) = table6.tables
    for heading in ("L0", "L1", "L2"):
        assert cell(table, "terse", heading).value == cell(table, "terse", heading, "Read strictly").value == 1.0
        assert cell(table, "talker", heading).value == 0.0
        assert cell(table, "talker", heading, "Read strictly").value == 1.0
    assert cell(table, "terse", "Answers", "Read differently").value == 0
    assert cell(table, "talker", "Answers", "Read differently").value == ANSWERS
    assert (
        "Choices are read by the rule that the paper states (`medq-deg-paper`); the strict parser reads "
        f"{ANSWERS} of {2 * ANSWERS} answers differently." in table.notes
    )
    assert table6.folder is not None
    marks = pl.read_parquet(table6.folder / "marks.parquet")
    assert set(marks["parser"]) == {"medq-deg-paper-1"}
    assert (marks["strict_option"] == marks["gold"]).all()
    assert marks.filter(pl.col("candidate") == "talker")["option"].is_null().all()


def test_the_measures_of_the_strict_reading_are_written_only_beside_another(
    table6: BenchResult, tmp_path: Path
) -> None:
    assert table6.folder is not None
    measures = wr.load_run(table6.folder).measures
    differ = measures.filter((pl.col("measure") == "parsers_differ") & (pl.col("slice") == "{}"))
    assert dict(differ.select("candidate", "value").iter_rows()) == {"terse": 0.0, "talker": 1.0}
    strict = medq_deg(tmp_path, parser="strict")
    assert strict.folder is not None
    names = set(wr.load_run(strict.folder).measures["measure"])
    assert not names & {"accuracy_strict", "parsers_differ"}
    assert not any(column.over.startswith("Read") for column in strict.tables[0].columns)
    assert (
        "Choices are read by `strict`, not by the paper's rule (`medq-deg-paper`): the paper's columns have the strict "
        "reading." in strict.tables[0].notes
    )


@pytest.mark.parametrize(
    ("study", "parser", "rule"),
    [
        ("medq-deg/table6", "clinbench-paper", "`clinbench-paper`, which is not the rule of this paper"),
        ("clinbench/table3", "medq-deg-paper", "`medq-deg-paper`, which is not the rule of this paper"),
        ("clinbench/table3", "clinbench-paper", "`clinbench-paper`: only as the paper's prompt demands them"),
        ("clinbench/table3", "strict", ""),
    ],
)
def test_only_the_paper_s_own_rule_is_called_so(tmp_path: Path, study: str, parser: str, rule: str) -> None:
    make = medq_deg_cases if study.startswith("medq") else clinbench_cases
    make(tmp_path / "cases", 3)
    options: dict[str, Any] = {"cases": tmp_path / "cases", "runs": tmp_path / "runs", "trials": 1, "note": str}
    table = bench(study, candidates=CANDIDATES[:1], parser=parser, published=True, **options).tables[0]
    notes = [note for note in table.notes if note.startswith("Choices are read")]
    assert [note.startswith(f"Choices are read by {rule}") for note in notes] == ([True] if rule else [])
    assert not any("the rule that the paper states" in note for note in table.notes)


def accuracy(folder: Path) -> dict[str, float]:
    lines = wr.load_run(folder).measures.filter((pl.col("measure") == "accuracy") & (pl.col("slice") == "{}"))
    return dict(lines.select("candidate", "value").iter_rows())


def test_mark_redraws_the_tables_and_the_next_bench_keeps_its_choice(workspace: Path, table6: BenchResult) -> None:
    folder = table6.folder
    assert folder is not None
    by_paper = (folder / "table.md").read_text(encoding="utf-8")
    assert "Read strictly" in by_paper

    wr.mark(folder, parser="strict", note=str)
    by_strict = (folder / "table.md").read_text(encoding="utf-8")
    assert accuracy(folder) == {"terse": 1.0, "talker": 1.0}
    assert "Read strictly" not in by_strict
    assert "100.00" in by_strict
    assert "Read strictly" not in (folder / "report.html").read_text(encoding="utf-8")

    again = medq_deg(workspace)
    assert accuracy(folder) == {"terse": 1.0, "talker": 1.0}
    assert (folder / "table.md").read_text(encoding="utf-8") == by_strict
    assert cell(again.tables[0], "talker", "L0").value == 1.0

    wr.mark(folder, note=str)  # as the study says
    assert accuracy(folder) == {"terse": 1.0, "talker": 0.0}
    assert (folder / "table.md").read_text(encoding="utf-8") == by_paper


def assert_files_come_back(drawn: BenchResult, *redraws: Callable[[], object]) -> None:
    texts = {file: file.read_bytes() for file in drawn.files if file.suffix in (".csv", ".md")}
    assert texts
    for redraw in redraws:
        for file in drawn.files:
            file.unlink()
        redraw()
        assert [file for file in drawn.files if not file.exists()] == []
        assert {file: file.read_bytes() for file in texts} == texts


def test_run_and_report_write_lost_tables_again(workspace: Path, table6: BenchResult) -> None:
    folder, runs = table6.folder, workspace / "runs"
    assert folder is not None
    assert_files_come_back(
        table6,
        lambda: wr.run(folder / "bench.toml", runs=runs, quiet=True, note=str),
        lambda: wr.report(folder),
    )


def test_the_commands_write_lost_figures_again(workspace: Path, table6: BenchResult) -> None:
    """fig3 asks what table6 asks, so its answers are stored."""
    runs, command = workspace / "runs", CliRunner()
    fig3 = bench("medq-deg/fig3", cases=workspace / "cases", candidates=CANDIDATES[:1], runs=runs, trials=1, note=str)
    assert any(file.suffix == ".svg" for file in fig3.files)
    assert_files_come_back(
        fig3,
        lambda: command.invoke(app, ["run", f"{fig3.folder}/bench.toml", "--runs", str(runs), "--amend"]),
        lambda: command.invoke(app, ["report", str(fig3.folder)]),
    )


def test_a_parser_that_is_named_to_bench_wins_over_what_mark_chose(tmp_path: Path) -> None:
    folder = medq_deg(tmp_path).folder
    assert folder is not None
    wr.mark(folder, parser="strict", note=str)
    medq_deg(tmp_path, parser="medq-deg-paper")
    assert accuracy(folder) == {"terse": 1.0, "talker": 0.0}
    with pytest.raises(WardroundError, match="unknown parser mode 'lenient'; there are strict, medq-deg-paper"):
        medq_deg(tmp_path, parser="lenient")
    for act in (lambda: medq_deg(tmp_path, parser=""), lambda: wr.mark(folder, parser="", note=str)):
        with pytest.raises(WardroundError, match="unknown parser mode ''"):
            act()


def test_check_reads_replies_by_the_parser_of_the_study(table6: BenchResult, tmp_path: Path) -> None:
    assert table6.folder is not None
    entries = wr.check(table6.folder / "bench.toml", runs=tmp_path / "runs", note=str).summary["candidates"]
    terse, talker = (entry["replies"] for entry in entries)
    assert terse["read"] == terse["answers"] > 0
    assert talker["read"] == 0 < talker["answers"]


def test_mark_draws_published_rows_again_if_bench_did(tmp_path: Path) -> None:
    folder = medq_deg(tmp_path, published=True, trials=3).folder
    assert folder is not None
    before = (folder / "table.md").read_text(encoding="utf-8")
    assert "(published)" in before
    wr.mark(folder, note=str)
    assert (folder / "table.md").read_text(encoding="utf-8") == before


def test_every_file_says_whose_wording_was_used(table6: BenchResult) -> None:
    note = "Wording: wardround's own, after the paper's structure (medq-deg/choice)."
    assert table6.folder is not None
    assert note in table6.tables[0].notes
    for file in ("table.md", "table.tex"):
        assert note in (table6.folder / file).read_text(encoding="utf-8").replace("\n", " ")
    assert note.replace("'", "&#39;") in (table6.folder / "report.html").read_text(encoding="utf-8")


def test_files_of_a_folder_are_used_named_and_bound(tmp_path: Path) -> None:
    prompts = tmp_path / "printed"
    prompts.mkdir()
    (prompts / "choice.txt").write_text("T: {Question}\nOptions: {Options}\n\nThe answer is [Option].\n")
    (prompts / "choice-images.txt").write_text("M: {Question}\nImages: {Images}\nOptions: {Options}\n")
    cases = clinbench_cases(tmp_path / "cases", 6)
    options = {"cases": cases, "candidates": [always_right("a")], "runs": tmp_path / "runs", "trials": 1, "note": str}
    text = bench("clinbench/table3", prompts=prompts, **options)
    assert text.folder is not None
    manifest = json.loads((text.folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["prompt_sources"] == {"clinbench/choice": str(prompts)}
    (note,) = [note for note in text.tables[0].notes if note.startswith("Wording")]
    assert note.startswith(f"Wording: files of {prompts} (clinbench/choice; hash ")
    (prompts / "choice.txt").write_text("Changed: {Question}\n{Options}\n")
    with pytest.raises(WardroundError, match="differs from when it was run"):
        wr.mark(text.folder, note=str)


def test_a_lost_folder_of_prompts_is_a_change_that_can_be_accepted(tmp_path: Path) -> None:
    prompts = tmp_path / "printed"
    prompts.mkdir()
    (prompts / "choice.txt").write_text("{Question}\n{Options}\n")
    folder = medq_deg(tmp_path, prompts=prompts).folder
    assert folder is not None
    before = {name: (folder / name).read_bytes() for name in ("measures.csv", "marks.parquet", "table.md")}
    rmtree(prompts)
    lost = rf"changed: prompt medq-deg/choice, the folder of prompts {prompts} \(not there\)\. .*--accept-changed-cases"
    with pytest.raises(WardroundError, match=lost):
        wr.mark(folder, note=str)
    wr.report(folder)  # shows no case
    wr.mark(folder, accept_changed_cases=True, note=str)
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert "(not there)" in wr.load_run(folder).manifest["changed_inputs"]["summary"]


def test_prompt_files_that_nothing_uses_are_refused_or_named(tmp_path: Path) -> None:
    prompts, notes = tmp_path / "printed", list[str]()
    (prompts / "medq-degg").mkdir(parents=True)
    (prompts / "open.txt").write_text("{Question}\n")
    (prompts / "medq-degg" / "choice.txt").write_text("{Question}\n{Options}\n")
    refusal = "no prompt of this study uses open.txt, medq-degg/choice.txt; it could use medq-deg/choice.txt"
    with pytest.raises(WardroundError, match=refusal):
        medq_deg(tmp_path, prompts=prompts)
    (prompts / "choice.txt").write_text("{Question}\n{Options}\n")
    medq_deg(tmp_path, prompts=prompts, note=notes.append)
    assert f"warning: {prompts}: no prompt of this study uses open.txt, medq-degg/choice.txt" in notes


def test_a_packed_run_has_the_files_of_its_folder(tmp_path: Path) -> None:
    prompts = tmp_path / "printed"
    prompts.mkdir()
    (prompts / "choice.txt").write_text("{Question}\n{Options}\n")
    clinbench_cases(tmp_path / "cases", 4)
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "packed"\ncases = "cases"\nquestions = "choice"\nprompts = "printed"\n'
        '[conditions]\ntelling = "text"\n[[candidates]]\nname = "a"\nprovider = "random"\n'
    )
    ended = run_study(study, runs=tmp_path / "runs", pack=True, quiet=True, note=str)
    before = (ended.folder / "measures.csv").read_bytes()
    rmtree(prompts)
    study.unlink()
    wr.mark(ended.folder, note=str)
    assert (ended.folder / "measures.csv").read_bytes() == before
    assert wr.load_run(ended.folder).manifest["prompt_sources"] == {"paper/choice": "printed"}


def test_the_wording_of_earlier_runs_is_known_by_its_hash() -> None:
    from wardround.asking.prompts import Prompts, hash_prompt

    ours = {"prompts": {"paper/choice": hash_prompt(Prompts().read("paper", "choice"))}}
    assert wording_note(ours) == "Wording: wardround's own (paper/choice)."
    assert wording_note({"prompts": {"paper/choice": "0f"}}).startswith("Wording: another than wardround's own now")
    assert wording_note({}) == ""
