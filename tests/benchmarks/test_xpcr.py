"""X-PCR's tables and figures on planted candidates: what is planted is found, and nothing where nothing is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from xpcr_eyes import STAGES, eyes

from wardround.benchmarks.engine.bench import BenchResult, bench
from wardround.benchmarks.xpcr.figures.consistency import AskedQuestion, check_chain
from wardround.building.sources.ophthalmic.schema import read_tables
from wardround.reporting.tables.table import Cell, Table


def planted(name: str, by: list[dict[str, Any]] | None = None, **truth: Any) -> dict[str, Any]:
    return {"name": name, "provider": "simulated", "extra_body": {"seed": len(name), **truth, "by": by or []}}


def run(name: str, cases: Path, folder: Path, candidates: list[dict[str, Any]], **more: Any) -> BenchResult:
    return bench(name, cases=cases, candidates=candidates, runs=folder / "runs", note=lambda text: None, **more)


def cell(table: Table, row: tuple[str, ...], heading: str, over: str = "") -> Cell:
    place = next(n for n, each in enumerate(table.columns) if (each.heading, each.over) == (heading, over))
    return next(each for each in table.rows if each.labels == row).cells[place]


def titled(benched: BenchResult, title: str) -> Table:
    return next(table for table in benched.tables if table.title == title)


def interval(found: Cell) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


LEANING = planted("leaning", accuracy=0.85, after_wrong=0.2)  # an error upstream spreads
STEADY = planted("steady", accuracy=0.75)  # each stage by itself, whatever is carried
PERFECT = planted("perfect", accuracy=1.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("xpcr")


@pytest.fixture(scope="module")
def chains(folder: Path) -> Path:
    return eyes(folder / "chains", 84)


@pytest.fixture(scope="module")
def propagation(folder: Path, chains: Path) -> BenchResult:
    return run("xpcr/propagation", chains, folder, [LEANING, STEADY, PERFECT])


def test_an_upstream_error_has_an_effect_where_planted_and_none_elsewhere(propagation: BenchResult) -> None:
    table = titled(propagation, "Effect of an upstream error")
    low, high = interval(cell(table, ("leaning", "all"), "Effect"))
    assert low < 0.85 - 0.2 < high
    assert cell(table, ("leaning", "all"), "p adjusted").value == pytest.approx(0.0, abs=1e-3)
    for stage in ("all", *STAGES[1:]):
        assert cell(table, ("steady", stage), "Effect").value == 0.0  # the same item is drawn alike whatever is carried
    right, own, wrong = (
        cell(table, ("leaning", "all"), name, "Accuracy with this carried").value for name in ("right", "own", "wrong")
    )
    assert right is not None
    assert own is not None
    assert wrong is not None
    assert right > own > wrong  # own lies between


def test_the_paper_s_own_table_has_every_stage_under_every_carry(propagation: BenchResult) -> None:
    table, effects = propagation.tables[0], titled(propagation, "Effect of an upstream error")
    for stage in STAGES[1:]:
        for carried in ("own", "right", "wrong", "nothing"):
            beside = cell(effects, ("leaning", stage), carried, "Accuracy with this carried")
            assert cell(table, ("leaning",), carried, stage).value == pytest.approx(beside.value)
    assert cell(table, ("perfect",), "own", "IQA").value == 1.0


def test_the_association_notes_that_it_is_not_causal(propagation: BenchResult) -> None:
    table = titled(propagation, "Association between errors")
    assert interval(cell(table, ("leaning", "all"), "Difference"))[0] > 0.4
    low, high = interval(cell(table, ("steady", "all"), "Difference"))
    assert low < 0 < high
    assert any("association, not an effect" in note for note in table.notes)


def test_chains_break_where_they_should(propagation: BenchResult) -> None:
    table = titled(propagation, "Where chains break")
    for name in ("leaning", "steady", "perfect"):
        shares = [cell(table, (name,), stage, "Breaks first at").value or 0.0 for stage in (*STAGES, "never")]
        assert sum(shares) == pytest.approx(1.0)
    assert cell(table, ("perfect",), "never", "Breaks first at").value == 1.0
    for stage in STAGES:
        low, high = interval(cell(table, ("steady",), stage, "Of those that get there, break at"))
        assert low - 0.1 < 0.25 < high + 0.1  # 95% intervals of six figures, of ever fewer chains


def test_complete_chains_are_more_than_independence_gives_only_with_dependence(propagation: BenchResult) -> None:
    table = titled(propagation, "Chains and their stages")
    assert interval(cell(table, ("leaning",), "difference", "Complete chains"))[0] > 0.05
    low, high = interval(cell(table, ("steady",), "difference", "Complete chains"))
    assert low < 0 < high
    on_all, on_chains = (
        cell(table, ("steady",), heading, "Mean over stages").value
        for heading in ("all questions", "questions of chains")
    )
    assert on_all == on_chains


def test_consistency_with_the_own_diagnosis_is_measured(propagation: BenchResult) -> None:
    table = titled(propagation, "Longitudinal consistency")
    over, allowed = "Follows from its own diagnosis", "Both, where the options allow it"
    assert cell(table, ("perfect",), "both", over).value == 1.0
    steady = cell(table, ("steady",), "both", over).value
    assert steady is not None
    assert steady < 0.7
    assert cell(table, ("steady",), "that allow it", "Chains").value < cell(table, ("steady",), "all", "Chains").value  # type: ignore[operator]
    assert cell(table, ("perfect",), "all", allowed).value == 1.0


def test_a_chain_is_checked_against_the_schema_as_by_hand() -> None:
    disease = read_tables().schema_.diseases["diabetic retinopathy"]
    mild, _, _, proliferative = disease.grades.values()
    review, laser = disease.management["1"][0], disease.management["4"][0]

    def verdict(grade: str | None, decision: str | None) -> tuple[bool | None, bool | None, bool]:
        options = [mild, proliferative, review, laser, "prayer"]
        return check_chain(disease, [AskedQuestion(grade, options)], [AskedQuestion(decision, options)])

    assert verdict(mild, review) == (True, True, True)
    assert verdict(mild, laser) == (True, False, True)  # of the disease, but not at that grade
    assert verdict(proliferative, laser) == (True, True, True)
    assert verdict("early", laser) == (False, True, True)  # no grade of the disease: any of its management
    assert verdict(mild, "prayer") == (True, False, True)
    assert verdict(None, None) == (False, False, True)
    for first in ("grade 1", "grade 1 of 4 (mildest)"):  # by rank, as sets are and were built
        assert verdict(first, review) == (True, True, True)
        assert verdict(first, laser) == (True, False, True)
    assert verdict("grade 3 (or higher)", laser) == (True, True, True)
    assert verdict("grade 3 (or higher)", review) == (True, False, True)
    assert verdict("grade 5", laser) == (False, True, True)  # the disease has four
    assert verdict("grade 2 of 3", laser) == (False, True, True)
    assert check_chain(None, [AskedQuestion(mild, [mild])], None) == (False, None, False)
    assert check_chain(disease, None, [AskedQuestion(review, [review])]) == (None, True, True)
    assert check_chain(disease, [AskedQuestion("early", ["early", "late"])], None) == (
        False,
        None,
        False,
    )  # nothing to follow with


def test_the_flow_of_chains_is_drawn(propagation: BenchResult) -> None:
    svg, png = (next(file for file in propagation.files if file.name == f"flow.{end}") for end in ("svg", "png"))
    drawing = svg.read_text()
    assert all(name in drawing for name in ("leaning, 84 chains", "steady, 84 chains", "perfect, 84 chains", *STAGES))
    with Image.open(png) as drawn:
        assert drawn.width > 800
        colours = {colour for _, colour in drawn.convert("RGB").getcolors(1 << 24) or []}
    assert {(0x2B, 0x6C, 0xB0), (0xD6, 0x9E, 0x2E), (0xB8, 0x32, 0x32)} <= colours


@pytest.mark.slow
def test_self_consistency_is_that_of_the_planted_votes(folder: Path, chains: Path) -> None:
    volatile = planted("volatile", accuracy=0.9, sharpness=0.6)
    found = run("xpcr/consistency", chains, folder, [volatile, PERFECT], trials=3)
    table = titled(found, "Self-consistency")
    over = "Pairs of trials with the same option"
    low, high = interval(cell(table, ("volatile",), "IQA", over))
    assert low < 0.6**2 + 3 * (0.4 / 3) ** 2 < high  # the first stage is asked alike in every trial
    assert cell(table, ("perfect",), "all", over).value == 1.0


@pytest.fixture(scope="module")
def table2(folder: Path, chains: Path) -> BenchResult:
    return run("xpcr/table2", chains, folder, [STEADY, PERFECT], published=True)


def test_table_2_has_physicians_beside_it_and_no_foreign_uas(table2: BenchResult) -> None:
    first, people = table2.tables[0], table2.tables[-1]
    assert {row.labels[0] for row in first.rows if row.published} >= {"GPT-5", "Residents", "Specialists"}
    assert cell(first, ("Specialists",), "CCR").value == pytest.approx(0.6248)
    assert cell(first, ("Specialists",), "UAS").value is None
    assert [row.labels[0] for row in people.rows] == ["Residents", "Attendings", "Specialists"]
    assert cell(people, ("Attendings",), "CD", "Stage-wise accuracy").value == pytest.approx(0.6706)
    assert "UAS" not in {column.heading for column in people.columns}
    assert not any(note.startswith("Wording") for note in people.notes), "nobody of this run is in it"


def test_published_rows_of_table_2_stand_under_names_not_keys(table2: BenchResult) -> None:
    groups = dict.fromkeys(row.group for row in table2.tables[0].rows if row.published)
    assert list(groups) == ["Commercial", "Open-source, large", "Open-source, small", "Medical-specific", "Physicians"]
    assert not any("prompts are ours" in note for note in table2.tables[0].notes), "the wording note says it"


def test_chains_that_lack_stages_stand_without_the_papers_figures(folder: Path, chains: Path) -> None:
    """Every third chain lacks its severity: CCR is printed, with what it is over, and no published CCR below it."""
    shorter = folder / "shorter"
    shutil.copytree(chains, shorter)
    lines = [json.loads(line) for line in (chains / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    for record in lines[::3]:
        record["questions"] = [question for question in record["questions"] if question["stage"] != "SG"]
        record["questions"][-1]["given"] = ["dd"]
    (shorter / "cases.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    table = run("xpcr/table2", shorter, folder / "shorter-runs", [PERFECT], published=True).tables[0]
    assert cell(table, ("perfect",), "CCR").value == 1.0
    assert cell(table, ("GPT-5",), "CCR").value is None
    assert cell(table, ("GPT-5",), "SWA", "Stage-wise accuracy").value is not None, "every stage has questions"
    lacking = f"{len(lines[::3])} of {len(lines)} chains lack SG"
    assert f"CCR is over the stages there are: {lacking}." in table.notes
    assert f"No published figures under CCR: {lacking}." in table.notes


def test_table_2_is_over_one_set_of_questions(folder: Path) -> None:
    """Questions across modalities count in no column, so that ESA, ECE and UAS are of the stages that SWA is of."""
    crossed = eyes(folder / "with-tasks", 24, tasks=True)
    table = run("xpcr/table2", crossed, folder / "crossed-runs", [PERFECT]).tables[0]
    own = next(row for row in table.rows if row.labels == ("perfect",))
    numbers = dict(zip([(column.over, column.heading) for column in table.columns], own.cells, strict=True))
    levels = [numbers["Accuracy by level", level].n for level in "RAS"]
    assert sum(filter(None, levels)) == 24 * 6
    assert numbers["ECE", "plug-in"].n == 24 * 6


CALIBRATED = planted(
    "calibrated",
    [{"when": {"grade": "R"}, "accuracy": 0.95, "confidence": 0.95}],
    accuracy=0.55,
    confidence=0.55,
)
OVERCONFIDENT = planted("overconfident", accuracy=0.55, confidence=0.95)


def test_a_calibrated_and_an_overconfident_candidate_are_told_apart(folder: Path, chains: Path) -> None:
    found = run("xpcr/calibration", chains, folder, [CALIBRATED, OVERCONFIDENT])
    first, kinds = found.tables
    low, high = interval(cell(first, ("overconfident",), "debiased", "ECE"))
    assert low < 0.4 < high
    assert (cell(first, ("calibrated",), "debiased", "ECE").value or 0.0) < 0.05
    assert cell(kinds, ("overconfident",), "sure", "Of wrong ones").value == 1.0
    assert {file.name for file in found.files} >= {"reliability.svg", "reliability.png"}
    drawing = next(file for file in found.files if file.name == "reliability.svg").read_text()
    assert "overconfident" in drawing


def test_the_four_quadrants_use_the_threshold_of_uas(folder: Path, chains: Path) -> None:
    """Importance 1 and 3, scaled by their mean to 0.5 and 1.5: confident from 0.5 and from 0.5 / 0.9 = 0.556 on."""
    weighted = folder / "weighted"
    shutil.copytree(chains, weighted)
    lines = [json.loads(line) for line in (chains / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    for number, record in enumerate(lines):
        for question in record["questions"]:
            question["importance"] = 3.0 if number % 2 else 1.0
    (weighted / "cases.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    sure, unsure = (planted(f"says {said}", accuracy=0.6, confidence=said) for said in (0.56, 0.55))
    kinds = titled(
        run("xpcr/calibration", weighted, folder / "weighted-runs", [sure, unsure]), "Right or wrong, sure or not"
    )

    def share_sure(name: str) -> float:
        return sum(
            cell(kinds, (name,), kind, "Share of answers").value or 0 for kind in ("right and sure", "wrong and sure")
        )

    assert share_sure("says 0.56") == pytest.approx(1.0)
    assert share_sure("says 0.55") == pytest.approx(0.5)  # sure on the eyes of importance 1 alone


def test_a_modality_that_helps_one_that_hurts_and_one_that_does_nothing(folder: Path) -> None:
    cases = eyes(folder / "modalities", 64, groups=(("CFP", "OCT", "FFA"), ("CFP", "OCT")))
    by = [{"when": {"without": "CFP"}, "accuracy": 0.4}, {"when": {"without": "OCT"}, "accuracy": 0.9}]
    sighted = planted("sighted", by, accuracy=0.7)
    even = planted("even", accuracy=0.7)
    found = run("xpcr/ablation", cases, folder, [sighted, even])
    table = titled(found, "What each modality contributes, by group")
    for modality, change, says in (("CFP", 0.3, "helps"), ("OCT", -0.2, "hurts"), ("FFA", 0.0, "cannot tell")):
        mcs = cell(table, ("sighted", "all groups", modality), "MCS")
        low, high = interval(mcs)
        assert low <= change <= high
        assert cell(table, ("sighted", "all groups", modality), "It says").text == says
        assert cell(table, ("even", "all groups", modality), "MCS").value == 0.0
        assert cell(table, ("even", "all groups", modality), "It says").text == "cannot tell"
        assert cell(found.tables[0], ("sighted",), f"without {modality}", "MCS").value == pytest.approx(mcs.value)
    groups = {row.labels[1] for row in table.rows}
    assert groups == {"CFP + OCT", "CFP + OCT + FFA", "all groups"}
    assert {file.name for file in found.files} >= {"contributions.svg", "contributions.png"}


@pytest.mark.slow
def test_too_small_groups_get_no_conclusion(tmp_path: Path) -> None:
    cases = eyes(
        tmp_path / "few", 20, groups=(("CFP", "OCT"), ("CFP",), ("CFP",), ("CFP", "ICGA"), ("CFP",)), tasks=True
    )
    found = run("xpcr/ablation", cases, tmp_path, [planted("few", accuracy=0.7)])
    table = titled(found, "What each modality contributes, by group")
    row = ("few", "CFP + OCT", "OCT")
    assert cell(table, row, "Cases").value == 4
    assert cell(table, row, "It says").text == "too few cases to say anything"
    assert cell(table, row, "MCS").low is None
    assert cell(table, ("few", "all groups", "CFP"), "It says").text == "cannot tell, few cases"


@pytest.mark.slow
def test_accuracy_is_split_by_task_and_number_of_modalities(folder: Path) -> None:
    cases = eyes(folder / "tasks", 60, tasks=True)
    by = [{"when": {"modality": "FFA"}, "accuracy": 0.2}, {"when": {"task": "selection"}, "accuracy": 0.0}]
    found = run("xpcr/cross", cases, folder, [planted("crossing", by, accuracy=1.0), PERFECT])
    first, table = found.tables[:2]
    assert cell(first, ("crossing",), "Selection").value == pytest.approx(0.5, abs=0.5)
    for heading, truth in (("1 modality", 1.0), ("2 modalities", 1.0)):
        assert cell(table, ("crossing", "correspondence"), heading, "Accuracy by modalities shown").value in (
            truth,
            None,
        )
    low, high = interval(cell(table, ("crossing", "correspondence"), "3 modalities", "Accuracy by modalities shown"))
    assert low < 0.2 < high
    assert cell(table, ("perfect", "all"), "3 modalities", "Accuracy by modalities shown").value == 1.0
    assert cell(table, ("crossing", "all"), "1 modality", "Answers").value == 20 * 6


@pytest.mark.slow
def test_the_levels_figure_is_drawn(folder: Path, chains: Path) -> None:
    by = [{"when": {"grade": "S"}, "accuracy": 0.5}]
    found = run("xpcr/difficulty", chains, folder, [planted("graded", by, accuracy=0.9), PERFECT])
    low, high = interval(cell(found.tables[0], ("graded",), "S"))
    assert low < 0.5 < high
    assert cell(found.tables[0], ("perfect",), "R - S").value == 0.0
    assert {file.name for file in found.files} >= {"figure.svg", "figure.png"}
