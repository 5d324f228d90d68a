"""Drops along X-PCR's chain and from one modality to several, and `--carry`, against plain counting."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from bench_cases import write
from exam_server import ExamServer, text_of
from test_xpcr import PERFECT, STEADY, cell, interval, planted, run, titled
from xpcr_eyes import STAGES, eyes

from wardround.benchmarks.engine.bench import BenchResult
from wardround.core.errors import WardroundError

LOSING = planted("losing", [{"when": {"stage": "SG"}, "accuracy": 0.3}], accuracy=0.9)
BLIND = planted("blind", accuracy=0.4) | {"sees": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("xpcr-drops")


@pytest.fixture(scope="module")
def chains(folder: Path) -> Path:
    return eyes(folder / "chains", 60)


@pytest.fixture(scope="module")
def table2(folder: Path, chains: Path) -> BenchResult:
    return run("xpcr/table2", chains, folder, [LOSING, STEADY, BLIND], published=True)


def shares_right(benched: BenchResult) -> dict[tuple[str, str], float]:
    """The share right of each candidate and stage, by plain counting in marks.parquet."""
    answers: dict[tuple[str, str], list[bool]] = {}
    for mark in pl.read_parquet(Path(benched.folder or "") / "marks.parquet").to_dicts():
        answers.setdefault((mark["candidate"], mark["stage"]), []).append(mark["outcome"] == "right")
    return {key: sum(right) / len(right) for key, right in answers.items()}


def test_drops_are_differences_of_stage_accuracies(table2: BenchResult) -> None:
    table, shares = titled(table2, "Accuracy along the chain, and its drops"), shares_right(table2)
    for name in ("losing", "steady"):
        for earlier, later in pairwise(STAGES):
            drop = cell(table, (name,), f"{earlier} to {later}", "Drop (points)")
            assert drop.value == pytest.approx(shares[name, earlier] - shares[name, later])
            low, high = interval(drop)
            assert low < drop.value < high
    assert interval(cell(table, ("losing",), "DD to SG", "Drop (points)"))[0] > 0.4
    low, high = interval(cell(table, ("steady",), "DD to SG", "Drop (points)"))
    assert low < 0 < high


def test_the_mean_over_candidates_is_unweighted_and_of_those_that_see(table2: BenchResult) -> None:
    table, shares = titled(table2, "Accuracy along the chain, and its drops"), shares_right(table2)
    mean = {stage: (shares["losing", stage] + shares["steady", stage]) / 2 for stage in STAGES}
    row = ("mean over candidates",)
    for stage in STAGES:
        assert cell(table, row, stage, "Stage-wise accuracy").value == pytest.approx(mean[stage])
    drop = cell(table, row, "DD to SG", "Drop (points)")
    assert drop.value == pytest.approx(mean["DD"] - mean["SG"])
    assert interval(drop)[0] > 0.1


def test_the_published_mean_is_that_of_the_paper_s_prose(table2: BenchResult) -> None:
    table = titled(table2, "Accuracy along the chain, and its drops")
    row = ("mean over 21 models",)
    assert cell(table, row, "IQA", "Stage-wise accuracy").value == pytest.approx(0.8095, abs=5e-5)
    assert cell(table, row, "CD", "Stage-wise accuracy").value == pytest.approx(0.4037, abs=5e-5)
    assert cell(table, row, "DD to SG", "Drop (points)").value == pytest.approx(0.1532, abs=5e-5)


def test_carry_gold_is_a_run_of_its_own_without_the_paper_s_rows(folder: Path, chains: Path) -> None:
    leaning = planted("leaning", accuracy=0.85, after_wrong=0.2)
    own = run("xpcr/table2", chains, folder / "carry", [leaning])
    gold = run("xpcr/table2", chains, folder / "carry", [leaning], carry="gold", published=True)
    assert gold.folder is not None
    assert gold.folder.name == "xpcr-table2-carry-gold"
    assert any("(`--carry own`)" in note for note in own.tables[0].notes)
    assert any("correct earlier answers" in note for note in gold.tables[0].notes)
    over = "Stage-wise accuracy"
    assert cell(gold.tables[0], ("leaning",), "SWA", over).value > cell(own.tables[0], ("leaning",), "SWA", over).value  # type: ignore[operator]
    for benched in (own, gold):  # one without --published, one of another protocol
        assert "Physicians, as published" not in [table.title for table in benched.tables]
        assert not any(row.published for table in benched.tables for row in table.rows)
        assert not any(note.startswith("Published row") for table in benched.tables for note in table.notes)
    assert "Physicians, as published" not in (gold.folder / "report.html").read_text(encoding="utf-8")


def test_carry_is_refused_where_it_changes_nothing(folder: Path, chains: Path) -> None:
    with pytest.raises(WardroundError, match="asks with every value of carry"):
        run("xpcr/propagation", chains, folder, [PERFECT], carry="gold")
    with pytest.raises(WardroundError, match=r"--carry wrong: expected one of own, gold$"):
        run("xpcr/table2", chains, folder, [PERFECT], carry="wrong")


def test_the_drop_from_one_modality_to_several_is_found_where_planted(folder: Path) -> None:
    groups = (("CFP", "OCT"), ("CFP", "OCT", "FFA"), ("CFP", "OCT", "FFA", "ICGA"), ("CFP",))
    cases = eyes(folder / "modalities", 96, groups=groups, tasks=True, one_image=True)
    by = [{"when": {"task": "integration"}, "accuracy": 0.4}]
    benched = run("xpcr/cross", cases, folder, [planted("scattered", by, accuracy=0.95), PERFECT])
    table = titled(benched, "From one modality to several")
    for count in ("2", "3", "4", "2 or more"):
        paired = cell(table, ("scattered", "diagnosis", count), "same eyes", "Drop (points)")
        low, high = interval(paired)
        assert low < 0.95 - 0.4 < high
        assert cell(table, ("scattered", "diagnosis", count), "Eyes with both").value == (
            72 if count == "2 or more" else 24
        )
        assert cell(table, ("perfect", "all", count), "all questions", "Drop (points)").value == 0.0
    one, several = (
        cell(table, ("scattered", "all", "2 or more"), name, "Accuracy with").value
        for name in ("one modality", "several")
    )
    assert one is not None
    assert several is not None
    drop = cell(table, ("scattered", "all", "2 or more"), "all questions", "Drop (points)")
    assert drop.value == pytest.approx(one - several)
    assert {file.name for file in benched.files} >= {"modality-drops.svg", "modality-drops.png"}


def test_a_differential_is_marked_by_the_judge_and_its_evidence_looked_up(folder: Path) -> None:
    """Of twelve eyes with labelled drusen: all first diagnoses are right, and the named finding is in six replies."""
    cases = [
        {
            "id": f"eye-{number}",
            "history": f"Blurred vision, eye {number}.",
            "questions": [
                {
                    "id": "differential-1",
                    "kind": "open",
                    "skill": "differential",
                    "prompt": "Rank the diagnoses.",
                    "gold": "age-related macular degeneration",
                    "accept": ["AMD"],
                    "lesions": ["drusen"],
                }
            ],
        }
        for number in range(12)
    ]
    write(folder / "open", cases)

    def reply(body: dict, index: int) -> str:
        assert "NAME - evidence: FINDINGS" in text_of(body)
        number = int(text_of(body).split("vision, eye ")[1].split(".")[0])
        evidence = "soft drusen at the macula" if number % 2 else "a pale disc"
        return f"1. AMD - evidence: {evidence}\n2. glaucoma - evidence: a large cup"

    with ExamServer(reply) as server:
        candidate = {"name": "server", "provider": "openai", "base_url": server.url, "model": "m", "concurrency": 1}
        benched = run("xpcr/differential", folder / "open", folder / "open-runs", [candidate])
    assert cell(benched.tables[0], ("server",), "Hit@1").value == 1.0
    table = titled(benched, "Evidence named in the differential")
    assert cell(table, ("server",), "all answers", "Names a labelled finding").value == 0.5


def test_the_statistics_figure_has_stages_modalities_and_diseases(folder: Path) -> None:
    benched = run("xpcr/statistics", eyes(folder / "counted", 12, tasks=True), folder / "statistics", [])
    assert {file.name for file in benched.files} >= {"statistics.svg", "statistics.png"}
    text = next(file for file in benched.files if file.suffix == ".svg").read_text()
    assert all(name in text for name in ("Questions by stage", "Questions by modality", *STAGES, "OCT"))
    assert any(table.title == "Questions by stage" for table in benched.tables)
