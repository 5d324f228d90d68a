"""Every average, change, share and sum that the papers print, computed again; those that disagree are listed here.

A printed figure agrees if some unrounded figures that print as shown could give it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from wardround.benchmarks.engine.published import PublishedTable, load_published

STAGES = ("IQA", "AL", "LC", "DD", "SG", "CD")
CAPABILITIES = ("CU", "IP", "AR", "BS", "Diag", "Treat")
CATEGORIES = ("Intensity", "Noise", "RB", "Artifacts", "Motion")
SPECIALTIES = ("GH", "Surg", "Neuro", "Oph/ENT", "DI", "Resp", "Dent", "OG", "Ortho", "Cardio", "Ped")
SLACK = 1e-9


def off_mean(table: PublishedTable, average: str, parts: Sequence[str], unit: float) -> list[str]:
    """Rows whose average is not the unweighted mean of its parts. Both sides are rounded to `unit`."""
    found = []
    for row in table.labels:
        values = [value for part in parts if (value := table.value(row, part)) is not None]
        printed = table.value(row, average)
        assert printed is not None
        if abs(sum(values) / len(values) - printed) > unit + SLACK:
            found.append(row)
    return found


def off_difference(table: PublishedTable, delta: str, of: str, minus: str, unit: float) -> list[str]:
    """Rows whose change is not the difference of two other columns. All three are rounded to `unit`."""
    found = []
    for row in table.labels:
        a, b, printed = (table.value(row, column) for column in (of, minus, delta))
        assert a is not None
        assert b is not None
        assert printed is not None
        if abs(a - b - printed) > 1.5 * unit + SLACK:
            found.append(row)
    return found


@pytest.mark.parametrize(("average", "parts"), [("SWA", STAGES), ("ESA", ("ESA_R", "ESA_A", "ESA_S"))])
def test_xpcr_averages_are_unweighted(average: str, parts: Sequence[str]) -> None:
    table = load_published("xpcr/table2")
    assert len(table.labels) == 24
    assert off_mean(table, average, parts, 0.01) == []


def test_xpcr_complete_chains_come_from_3355() -> None:
    table = load_published("xpcr/table2")
    rates = [float(cells["CCR"]) for cells in table.cells if cells["group"] != "Physicians"]
    assert len(rates) == 21
    fitting = [
        n for n in range(200, 6621) if all(abs(100 * round(r * n / 100) / n - r) <= 0.005 + SLACK for r in rates)
    ]
    assert fitting == [3355]


@pytest.mark.parametrize(("row", "independent"), [("GPT-5", 17.4), ("Gemini-2.5-Pro", 8.9), ("InternVL-32B", 9.8)])
def test_xpcr_independent_stages(row: str, independent: float) -> None:
    table = load_published("xpcr/table2")
    product = np.prod([table.value(row, stage) for stage in STAGES], dtype=float) / 100**5
    assert round(product, 1) == independent
    assert any(f"{independent}%" in note.note for note in table.notes if note.row == row)


def test_xpcr_most_models_complete_fewer_chains_than_independent_stages_would() -> None:
    table = load_published("xpcr/table2")
    more = []
    for row in table.labels:
        rate = table.value(row, "CCR")
        assert rate is not None
        if rate > np.prod([table.value(row, stage) for stage in STAGES], dtype=float) / 100**5:
            more.append(row)
    assert more == ["GPT-5", "Qwen2.5-VL-72B", "Residents", "Attendings", "Specialists"]


def test_xpcr_accuracy_does_not_fall_at_every_stage_of_every_model() -> None:
    table = load_published("xpcr/table2")
    rising = Counter[str]()
    for cells in table.cells:
        accuracies = [float(cells[stage]) for stage in STAGES]
        rises = [STAGES[place + 1] for place, (a, b) in enumerate(pairwise(accuracies)) if b > a]
        rising.update([*rises, *(["models"] if rises else [])])
        assert not (rises and cells["group"] == "Physicians")
    assert rising == {"models": 14, "DD": 6, "LC": 5, "CD": 4, "AL": 1}


def test_xpcr_means_over_models_are_those_of_the_text() -> None:
    table = load_published("xpcr/table2")
    models = [cells["model"] for cells in table.cells if cells["group"] != "Physicians"]
    means = [round(float(np.mean([table.value(row, stage) for row in models])), 2) for stage in STAGES]
    assert means == [80.95, 70.70, 66.59, 62.20, 46.88, 40.37]
    assert round(means[4] - means[3], 2) == -15.32
    specialists, best = table.value("Specialists", "CCR"), table.value("GPT-5", "CCR")
    assert specialists is not None
    assert best is not None
    assert round(specialists - best, 2) == 38.01  # the prose has 38.52


def test_xpcr_questions_sum_to_less_than_the_total() -> None:
    for name in ("stages", "diseases", "modalities"):
        assert sum(load_published(f"xpcr/{name}").values("qa_pairs")) == 176_188 == 177_868 - 1_680
    assert sum(load_published("xpcr/modalities").values("images")) == 26_415
    for name in ("stages", "diseases"):
        table = load_published(f"xpcr/{name}")
        levels = zip(*(table.values(f"pct_{level}") for level in "RAS"), strict=True)
        assert {sum(each) for each in levels} == {100}


@pytest.mark.parametrize(("name", "parts"), [("table2", CAPABILITIES), ("table3", CATEGORIES)])
@pytest.mark.parametrize("suffix", ["", "_delta"])
def test_medq_deg_row_averages_are_unweighted(name: str, parts: Sequence[str], suffix: str) -> None:
    table = load_published(f"medq-deg/{name}")
    assert len(table.labels) == 44
    assert off_mean(table, f"Avg{suffix}", [f"{part}{suffix}" for part in parts], 0.1) == []


@pytest.mark.parametrize(("name", "parts"), [("table2", CAPABILITIES), ("table3", CATEGORIES)])
def test_medq_deg_group_averages_are_means_of_their_models(name: str, parts: Sequence[str]) -> None:
    table = load_published(f"medq-deg/{name}")
    models = {group: [] for group in dict.fromkeys(cells["group"] for cells in table.cells)}
    summed = {}
    for cells in table.cells:
        if cells["model"].startswith("Avg."):
            summed[cells["group"]] = cells["model"]
        else:
            models[cells["group"]].append(cells["model"])
    models["All models"] = [model for rows in models.values() for model in rows]
    assert [len(rows) for rows in models.values()] == [9, 21, 10, 40]
    for group, rows in models.items():
        for column in ("Avg", *parts):
            for suffix in ("", "_delta"):
                mean = np.mean([table.value(row, f"{column}{suffix}") for row in rows])
                assert mean == pytest.approx(table.value(summed[group], f"{column}{suffix}"), abs=0.1 + SLACK)


@pytest.mark.parametrize("level", ["L1", "L2"])
def test_medq_deg_changes_are_differences(level: str) -> None:
    table = load_published("medq-deg/table6")
    assert len(table.labels) == 40
    assert off_difference(table, f"{level}-L0", level, "L0", 0.01) == []


@pytest.mark.parametrize("level", ["L0", "L1", "L2"])
def test_medq_deg_digitised_figure_hangs_together(level: str) -> None:
    table, printed = load_published("medq-deg/fig4"), load_published("medq-deg/table6")
    for row in table.labels:
        accuracy, confidence, shift = (table.value(row, f"{level}_{part}") for part in ("acc", "conf", "shift"))
        assert accuracy is not None
        if confidence is not None:
            assert confidence - accuracy == pytest.approx(shift, abs=0.0015)
        if row in printed.labels:
            assert 100 * accuracy == pytest.approx(printed.value(row, level), abs=1.3)
    assert [row for row in table.labels if row not in printed.labels] == ["InternVL2.5-MPO(8B)"]


def test_medq_deg_intra_model_effect_holds_wherever_both_ends_are_visible() -> None:
    table = load_published("medq-deg/fig4")
    seen = [row for row in table.labels if None not in (table.value(row, "L0_shift"), table.value(row, "L2_shift"))]
    assert len(seen) == 18
    assert all(table.value(row, "L0_acc") > table.value(row, "L2_acc") for row in seen)
    assert all(table.value(row, "L0_shift") <= table.value(row, "L2_shift") for row in seen)
    both = [row for row in seen if table.value(row, "L1_shift") is not None]
    falling = [row for row in both if table.value(row, "L1_shift") < table.value(row, "L0_shift")]
    assert falling == ["InternVL2.5(26B)"]


def off_shares(table: PublishedTable, share: str, whole: dict[str, float] | float, group: str) -> list[str]:
    """Rows whose share in percent is not their count of the whole (of their group)."""
    found = []
    for cells in table.cells:
        of = whole[cells[group]] if isinstance(whole, dict) else whole
        if abs(100 * float(cells["count"]) / of - float(cells[share])) > 0.005 + SLACK:
            found.append(cells[table.info.rows])
    return found


def sums(table: PublishedTable, group: str) -> dict[str, float]:
    totals: dict[str, float] = {}
    for cells in table.cells:
        totals[cells[group]] = totals.get(cells[group], 0) + float(cells["count"])
    return totals


def test_medq_deg_skills_do_not_add_up() -> None:
    table = load_published("medq-deg/table4")
    assert sum(table.values("count")) == 21_587
    by_group = sums(table, "mid_level")
    assert by_group["Anatomical Recognition"] == 7_215
    anatomical = [cells["skill"] for cells in table.cells if cells["mid_level"] == "Anatomical Recognition"]
    assert off_shares(table, "pct_mid", by_group, "mid_level") == anatomical
    fitting = [
        n
        for n in range(6_000, 7_300)
        if not off_shares(table, "pct_mid", by_group | {"Anatomical Recognition": n}, "mid_level")
    ]
    assert fitting == [6_216]
    assert 21_587 - 7_215 + 6_216 == 20_588
    assert sum(float(cells["pct_mid"]) for cells in table.cells if cells["skill"] in anatomical) > 116
    assert off_shares(table, "pct_total", 20_588, "mid_level") == ["Skeletal System"]


def test_medq_deg_degradations_add_up() -> None:
    table = load_published("medq-deg/table5")
    assert sum(table.values("count")) == 20_588 == 24_894 - 4_306
    assert len(table.labels) == 18
    printed = {"Artifacts": 5322, "Motion": 2992, "Intensity": 1846, "Noise": 3796, "Resolution and Blur": 6632}
    assert sums(table, "category") == printed
    assert off_shares(table, "pct_category", sums(table, "category"), "category") == []
    assert off_shares(table, "pct_total", 20_588, "category") == []


def test_clinbench_averages_that_are_the_unweighted_mean() -> None:
    text, images = load_published("clinbench/table3"), load_published("clinbench/table4")
    off = off_mean(text, "Avg", SPECIALTIES, 0.1)
    agreeing = ["Llama-3.1-8B-Instruct", "HuatuogPT-o1-70B", "Lingshu-32B", "Human Experts"]
    assert [row for row in text.labels if row not in off] == agreeing
    assert len(off) == 26
    assert off_mean(images, "Avg", SPECIALTIES, 0.1) == [
        "Doubao-1.5-Vision-Pro-32k",
        "Gemini-2.0-Flash",
        "Gemini-2.5-Flash",
        "Internvl3-14B-It",
        "Llama-3.2-11B-Vision-It",
        "Qwen2.5-VL-72B-It",
        "Qwen3-VL-235B-A22B",
        "MedGemma-27B-It",
        "HuatuoGPT-Vision-7B",
        "Lingshu-32B",
    ]


@pytest.mark.parametrize("name", ["table3", "table4"])
def test_clinbench_averages_fit_no_weights(name: str) -> None:
    table = load_published(f"clinbench/{name}")
    models = [row for row in table.labels if row != "Human Experts"]
    figures = np.array([[table.value(row, specialty) for specialty in SPECIALTIES] for row in models], float)
    averages = np.array([table.value(row, "Avg") for row in models], float)
    above, below = averages + 0.1 + SLACK, 0.1 + SLACK - averages  # rounded figures and rounded averages
    weights = linprog(
        np.zeros(len(SPECIALTIES)),
        A_ub=np.vstack([figures, -figures]),
        b_ub=np.concatenate([above, below]),
        A_eq=np.ones((1, len(SPECIALTIES))),
        b_eq=[1],
        bounds=(0, 1),
    )
    assert weights.status == 2  # infeasible


def test_clinbench_human_averages() -> None:
    for name, average in (("table3", 50.6), ("table4", 51.6)):
        table = load_published(f"clinbench/{name}")
        answered = [value for part in SPECIALTIES if (value := table.value("Human Experts", part)) is not None]
        assert len(answered) == 10
        assert round(sum(answered) / 10, 1) == average == table.value("Human Experts", "Avg")
        assert all(value % 2 == 0 for value in answered)  # of 50 questions each


def test_clinbench_largest_distance_and_models_above_45() -> None:
    table = load_published("clinbench/table3")
    means = {
        row: np.mean([table.value(row, s) for s in SPECIALTIES if table.value(row, s) is not None])
        for row in table.labels
    }
    far = max(table.labels, key=lambda row: abs(means[row] - table.value(row, "Avg")))
    assert (far, round(float(means[far]), 1)) == ("Claude-Opus-4-20250514", 42.8)
    above = {
        row: table.value(row, "Avg") for row in table.labels if row != "Human Experts" and table.value(row, "Avg") > 45
    }
    assert above == {
        "Claude-Opus-4-20250514": 46.3,
        "GPT-5-0807": 51.5,
        "Gemini-2.5-pro-Thinking": 52.6,
        "o4-mini-2025-04-16": 45.4,
    }


def test_clinbench_non_rare_is_the_overall_average() -> None:
    rare, text = load_published("clinbench/table5"), load_published("clinbench/table3")
    named = {"GPT-5": "GPT-5-0807", "GPT-4o": "GPT-4o-2024-11-20", "Huatuogpt-o1-7B": "HuatuogPT-o1-7B"}
    for row in rare.labels:
        assert rare.value(row, "nonrare_acc") == text.value(named.get(row, row), "Avg")
    assert off_difference(rare, "rare_delta", "rare_acc", "nonrare_acc", 0.1) == []


def test_clinbench_error_classes_against_the_errors_of_table_3() -> None:
    errors, text = load_published("clinbench/table9"), load_published("clinbench/table3")
    named = {"GPT-5": "GPT-5-0807", "Huatuogpt-o1-70B": "HuatuogPT-o1-70B"}
    classes = errors.columns[1:]
    found = {}
    for row in errors.labels:
        average = text.value(named.get(row, row), "Avg")
        assert average is not None
        found[row] = (sum(errors.value(row, name) or 0 for name in classes), round(2014 * (100 - average) / 100))
    assert found == {
        "Deepseek-V3.1": (1122, 1122),
        "GPT-5": (977, 977),
        "Huatuogpt-o1-70B": (1235, 1225),
        "Baichuan-M2-32B": (1284, 1259),
    }
    assert errors.value("Huatuogpt-o1-70B", "priority_judgment_error") == 308  # the prose has 318
    assert errors.value("Huatuogpt-o1-70B", "temporal_sequence_confusion") == 182  # the prose has 172


def test_clinbench_specificity_is_not_what_the_formula_gives() -> None:
    sensitivities, text = load_published("clinbench/table10-11"), load_published("clinbench/table3")
    named = {
        "GPT-5": "GPT-5-0807",
        "Gemini 2.5 Pro": "Gemini-2.5-pro-Thinking",
        "HuatuoGPT-o1-70B": "HuatuogPT-o1-70B",
        "GPT-4o": "GPT-4o-2024-11-20",
    }
    as_accuracy = []
    for row in (label for label in sensitivities.labels if not label.endswith("with images")):
        accuracy, specificity = text.value(named.get(row, row), "Avg"), sensitivities.value(row, "specificity")
        assert accuracy is not None
        assert specificity is not None
        stated = 100 - (100 - accuracy) / (8.4 - 1)
        assert stated > 90 > specificity
        assert sensitivities.value(row, "sensitivity") != pytest.approx(accuracy, abs=1)
        if abs(specificity - accuracy) < 0.1:
            as_accuracy.append(row)
    assert as_accuracy == ["Deepseek-V3.1", "GPT-5", "GPT-4o"]


def test_cure_figures_are_of_500_cases_but_for_the_agent() -> None:
    def off(name: str) -> set[str]:
        table = load_published(f"cure/{name}")
        return {
            column
            for column in table.columns[1:]
            if any(abs(5 * value - round(5 * value)) > 1e-6 for value in table.values(column) if value is not None)
        }

    assert off("table1") == {"ar_hit1", "ar_hit3", "ar_mcq"}
    assert off("table2") == set()


def test_cure_agent_figures_are_of_499_cases_but_for_one_model() -> None:
    table = load_published("cure/table1")

    def fits(row: str, n: int) -> bool:
        figures = [table.value(row, f"ar_{measure}") for measure in ("hit1", "hit3", "mcq")]
        return all(abs(100 * round(figure * n / 100) / n - figure) <= 0.05 + SLACK for figure in figures)

    assert [row for row in table.labels if not fits(row, 499)] == ["Qwen3-VL-235B-A22B-Inst"]
    assert [n for n in range(480, 501) if fits("Qwen3-VL-235B-A22B-Inst", n)] == [486, 490, 496]


def test_cure_base_is_the_history_with_images() -> None:
    first, second = load_published("cure/table1"), load_published("cure/table2")
    for measure in ("hit1", "hit3", "mcq"):
        assert first.values(f"base_{measure}") == second.values(f"image_{measure}")
    best = max(first.labels, key=lambda row: first.value(row, "pr_hit1") or 0)
    assert (best, first.value(best, "pr_hit1")) == ("Gemma-3-12b-it", 79.2)  # the abstract has 73.4 as the most


def test_cure_outcomes_are_two_by_two() -> None:
    outcomes, table = load_published("cure/fig2"), load_published("cure/table1")
    names = ("evidence_based_correct", "evidence_misled", "knowledge_based_correct", "hallucination")
    for row in ("RAG", "AR"):
        assert sum(outcomes.value(row, name) or 0 for name in names) == pytest.approx(100, abs=1e-6)
    for row in ("PR", "RAG", "AR"):
        right = (outcomes.value(row, names[0]) or 0) + (outcomes.value(row, names[2]) or 0)
        mean = np.mean([value for value in table.values(f"{row.lower()}_hit1") if value is not None])
        assert right == pytest.approx(mean, abs=0.4)
    assert outcomes.value("PR", "evidence_misled") is None
