"""ClinBench's studies on simulated candidates: each figure finds what is planted, and stays still where nothing is."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from bench_cases import STRONG, WEAK, choice, clinbench_cases, write

from wardround.benchmarks.clinbench.figures.cost import cost
from wardround.benchmarks.clinbench.figures.reliability import worst_of_runs
from wardround.benchmarks.clinbench.figures.separation import true_spread
from wardround.benchmarks.engine.bench import BenchResult, bench
from wardround.benchmarks.engine.candidate_text import parse_candidate
from wardround.benchmarks.engine.published import load_published
from wardround.cases.readers.clinbench import SPECIALTIES
from wardround.core.errors import WardroundError
from wardround.reporting.run_files import read_run
from wardround.reporting.tables.table import Cell, Table

OWN = ("GH", "Resp", "OG", "Cardio", "Ped")  # the specialties whose questions specialists answered


def run(name: str, cases: Path, folder: Path, *candidates: str, **options: Any) -> BenchResult:
    settings = [parse_candidate(text) for text in candidates]
    return bench(name, cases=cases, candidates=settings, runs=folder / "runs", note=lambda text: None, **options)


def cell(table: Table, row: str, heading: str) -> Cell:
    place = next(number for number, column in enumerate(table.columns) if column.heading == heading)
    return next(each for each in table.rows if " ".join(each.labels) == row).cells[place]


def text_cases(folder: Path, many: int, rare: int = 3) -> Path:
    """Told in text only; every third is rare."""
    cases = [
        {
            "id": f"case-{number}",
            "tags": ["rare" if number % rare == 0 else "non-rare"],
            "tellings": {"text": {"history": f"Patient {number}.", "images": []}},
            "questions": [choice("mcq", number)],
        }
        for number in range(many)
    ]
    return write(folder, cases)


def planted(name: str, **parameters: Any) -> str:
    pairs = ",".join(f"extra_body.{key}={json.dumps(value)}" for key, value in parameters.items())
    return f"{name}=simulated,{pairs}"


def test_worst_at_k_falls_for_a_volatile_candidate_and_not_for_a_stable_one(tmp_path: Path) -> None:
    """Both are right in 7 of 10 answers: one always on the same questions, the other on any question by chance."""
    cases = text_cases(tmp_path / "cases", 100)
    stable = planted("stable", accuracy=0.7, sharpness=1.0)
    volatile = planted("volatile", accuracy=0.7, mode="independent")
    found = run("clinbench/fig5-switch", cases, tmp_path, stable, volatile)
    table, every, by_run = found.tables
    for k in (1, 2, 4, 8, 16):
        still, falling = (cell(table, f"{name} off", str(k)) for name in ("stable", "volatile"))
        assert still.value == pytest.approx(cell(table, "stable off", "1").value)  # the counter-plant: it does not fall
        assert falling.low is not None
        assert falling.high is not None
        assert falling.low <= 0.7**k <= falling.high or (k == 16 and falling.value < 0.03)  # type: ignore[operator]
        for name in ("stable off", "volatile off"):
            one, other = cell(every, name, str(k)), cell(table, name, str(k))
            assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    curve = [cell(every, "volatile off", str(k)).value for k in range(1, 17)]
    assert sorted(curve, reverse=True) == curve
    assert cell(every, "stable off", "Kept").value == 1
    assert cell(every, "volatile off", "Kept").high < 0.1  # type: ignore[operator]
    assert {"worst.svg", "worst-by-run.svg"} <= {path.name for path in found.files}
    runs = [cell(by_run, "volatile off", str(k)).value or 0 for k in range(1, 17)]
    worst_of_one, accuracy = cell(by_run, "volatile off", "1"), cell(table, "volatile off", "1")
    assert (worst_of_one.value, worst_of_one.low, worst_of_one.high) == (accuracy.value, accuracy.low, accuracy.high)
    assert runs[0] > runs[-1] > 0.5, "the worst of 16 runs is still near 70%"
    assert cell(by_run, "stable off", "Kept").value == pytest.approx(1)


def test_worst_at_k_is_the_share_of_all_draws_of_k_answers(tmp_path: Path) -> None:
    cases = text_cases(tmp_path / "cases", 30)
    found = run("clinbench/fig5-switch", cases, tmp_path, planted("volatile", accuracy=0.6, mode="independent"))
    marks = pl.read_parquet(found.folder / "marks.parquet").filter(pl.col("condition").str.contains('"reasoning":"on"'))
    right = marks.group_by("case").agg((pl.col("outcome") == "right").sum())["outcome"]
    table = found.tables[1]
    for k in (2, 3, 8):
        by_hand = np.mean([comb(int(c), k) / comb(16, k) for c in right])
        assert cell(table, "volatile on", str(k)).value == pytest.approx(by_hand)


def test_figure_5_compares_a_prompt_that_asks_for_reasoning_with_the_plain_one(tmp_path: Path) -> None:
    cases = text_cases(tmp_path / "cases", 40)
    by_prompt = [{"when": {"prompt": "clinbench-reasoning"}, "accuracy": 0.9}]
    candidate = {"name": "one", "provider": "simulated", "extra_body": {"accuracy": 0.5, "by": by_prompt}}
    found = bench("clinbench/fig5", cases=cases, candidates=[candidate], runs=tmp_path / "runs", note=lambda text: None)
    _, every, _ = found.tables
    assert [row.labels for row in every.rows] == [("one", "clinbench-reasoning"), ("one", "clinbench")]
    for k in ("1", "16"):
        assert cell(every, "one clinbench-reasoning", k).value > cell(every, "one clinbench", k).value  # type: ignore[operator]


def test_worst_at_k_by_run_is_the_mean_of_the_lowest_over_all_choices_of_k_runs() -> None:
    accuracies = np.random.default_rng(2).random((6, 3))
    for k in range(1, 7):
        by_hand = np.mean([accuracies[list(runs)].min(axis=0) for runs in combinations(range(6), k)], axis=0)
        assert worst_of_runs(accuracies)[k - 1] == pytest.approx(by_hand)


def test_a_rare_disease_gap_is_found_and_none_where_there_is_none(tmp_path: Path) -> None:
    cases = text_cases(tmp_path / "cases", 360)
    candidates = [
        {
            "name": "gap",
            "provider": "simulated",
            "extra_body": {"accuracy": 0.7, "by": [{"when": {"tag": "rare"}, "accuracy": 0.4}]},
        },
        {"name": "none", "provider": "simulated", "extra_body": {"accuracy": 0.55}},
    ]
    found = bench(
        "clinbench/table5", cases=cases, candidates=candidates, runs=tmp_path / "runs", note=lambda text: None
    )
    first, second = found.tables
    difference = cell(second, "gap", "Rare - others")
    assert difference.low is not None
    assert difference.high is not None
    assert difference.low <= -0.3 <= difference.high < 0
    nothing = cell(second, "none", "Rare - others")
    assert nothing.low is not None
    assert nothing.high is not None
    assert nothing.low <= 0 <= nothing.high
    for name in ("gap", "none"):
        rare, others, gap_cell = (cell(second, name, heading) for heading in ("Rare", "Others", "Rare - others"))
        delta, with_interval = (cell(table, name, "Rare - overall") for table in (first, second))
        assert delta.value == pytest.approx((rare.value or 0) * 2 / 3 - (others.value or 0) * 2 / 3)
        assert with_interval.value == pytest.approx(delta.value)
        assert with_interval.high - with_interval.low == pytest.approx(2 / 3 * (gap_cell.high - gap_cell.low), rel=0.3)  # type: ignore[operator]
        assert gap_cell.value == pytest.approx((rare.value or 0) - (others.value or 0))
        assert (rare.n, others.n) == (120 * 3, 240 * 3)
        again = cell(first, name, "Rare")
        assert (again.value, again.low, again.high) == pytest.approx((rare.value, rare.low, rare.high)), "one interval"
        overall = cell(first, name, "Overall (the paper's Non-Rare)").value
        assert overall == pytest.approx((rare.value or 0) / 3 + (others.value or 0) * 2 / 3)


@pytest.mark.parametrize("tags", [[["rare"]], [["rare"], []]])
def test_rare_cases_have_their_figure_where_no_other_tag_is_given(tmp_path: Path, tags: list[list[str]]) -> None:
    cases = [
        {
            "id": f"case-{number}",
            "history": "Told.",
            "tags": tags[number % len(tags)],
            "questions": [choice("mcq", number)],
        }
        for number in range(40)
    ]
    found = run("clinbench/table5", write(tmp_path / "cases", cases), tmp_path, planted("one", accuracy=0.6), trials=1)
    first, second = (cell(table, "one", "Rare") for table in found.tables)
    assert (first.value, first.n) == (second.value, 40 // len(tags))


@pytest.mark.slow
def test_the_interval_of_a_gap_is_that_of_drawing_clusters_anew(tmp_path: Path) -> None:
    cases = text_cases(tmp_path / "cases", 120)
    found = run("clinbench/table5", cases, tmp_path, planted("one", accuracy=0.6), trials=1)
    marks = pl.read_parquet(found.folder / "marks.parquet").sort("cluster")
    right = (marks["outcome"] == "right").to_numpy().astype(float)
    rare = marks["tag"].list.contains("rare").to_numpy().astype(float)
    random, drawn = np.random.default_rng(7), []
    for _ in range(4_000):
        weight = np.bincount(random.integers(0, len(right), len(right)), minlength=len(right))
        drawn.append((right * rare) @ weight / (rare @ weight) - (right * (1 - rare)) @ weight / ((1 - rare) @ weight))
    gap = cell(found.tables[1], "one", "Rare - others")
    low, high = np.quantile(drawn, (0.025, 0.975))
    assert (gap.low, gap.high) == (pytest.approx(low, abs=0.015), pytest.approx(high, abs=0.015))


def test_sensitivity_and_specificity_of_both_tellings(tmp_path: Path) -> None:
    found = run("clinbench/table10_11", clinbench_cases(tmp_path / "cases", 24), tmp_path, STRONG, published=True)
    (table,) = found.tables
    assert [row.labels for row in table.rows] == [("strong", "text"), ("strong", "multimodal")]
    with (found.folder / "measures.csv").open() as file:
        accuracy = {
            line["slice"]: float(line["value"]) for line in csv.DictReader(file) if line["measure"] == "accuracy"
        }
    for telling in ("text", "multimodal"):
        sensitivity, specificity = (table.rows[telling == "multimodal"].cells[place].value for place in (0, 1))
        right = accuracy[f'{{"telling":"{telling}"}}']
        assert sensitivity == pytest.approx(right)
        assert specificity == pytest.approx(1 - (1 - right) / 3)  # four options: three to be rejected
    assert "cannot come from the formula" in table.notes[-1]


def test_the_third_cell_separates_what_is_read_from_what_is_seen(tmp_path: Path) -> None:
    """It sees nothing that helps, but loses what the text told; and the other way round."""
    lost = [{"when": {"telling": "multimodal"}, "accuracy": 0.3}]
    seen = [{"when": {"telling": "multimodal", "images": "none"}, "accuracy": 0.3}]
    candidates = [
        {"name": name, "provider": "simulated", "extra_body": {"accuracy": 0.8, "by": by}}
        for name, by in (("reads", lost), ("looks", seen))
    ]
    cases = clinbench_cases(tmp_path / "cases", 90)
    found = bench("clinbench/telling", cases=cases, candidates=candidates, runs=tmp_path / "runs", trials=1, note=str)
    (table,) = found.tables
    looking = {name: cell(table, name, "looking") for name in ("reads", "looks")}
    change = {name: cell(table, name, "with images - text") for name in ("reads", "looks")}
    assert looking["looks"].low > 0.3  # type: ignore[operator]
    assert looking["reads"].value == 0
    assert change["reads"].high < -0.3  # type: ignore[operator]
    assert change["looks"].value == 0


def test_cost_tells_what_the_manifest_counts(tmp_path: Path) -> None:
    cases = clinbench_cases(tmp_path / "cases", 10)
    found = run("clinbench/cost", cases, tmp_path, STRONG, WEAK)
    again = run("clinbench/cost", cases, tmp_path, STRONG, WEAK)  # nothing new: the same figures
    table, repeated = found.tables[1], again.tables[1]
    assert cell(table, "strong", "Answers").value == 30
    assert cell(table, "strong", "Calls").value == 10  # three trials are one call
    seconds = cell(table, "strong", "Seconds").value
    assert seconds is not None
    assert seconds >= 0
    assert cell(repeated, "strong", "Seconds").value == seconds
    assert cell(table, "strong", "USD").value is None
    assert cell(table, "strong", "GPU hours").value is None


def test_gpu_hours_are_the_time_with_a_call_under_way_times_the_gpus(tmp_path: Path) -> None:
    cases = clinbench_cases(tmp_path / "cases", 10)
    found = run("clinbench/cost", cases, tmp_path, f"{STRONG},gpus=8")
    manifest = json.loads((found.folder / "manifest.json").read_text())
    assert manifest["candidates"][0]["busy_seconds"] >= 0
    manifest["candidates"][0]["busy_seconds"] = 900.0  # a quarter of an hour, on eight GPUs
    (found.folder / "manifest.json").write_text(json.dumps(manifest))
    tables, _ = cost(read_run(found.folder), found.folder, str)
    assert cell(tables[0], "strong", "GPU hours").value == pytest.approx(2.0)


def test_cost_counts_what_another_study_bought(tmp_path: Path) -> None:
    cases = clinbench_cases(tmp_path / "cases", 10)
    run("clinbench/table3", cases, tmp_path, STRONG)
    table = run("clinbench/cost", cases, tmp_path, STRONG).tables[1]
    assert cell(table, "strong", "Calls").value == 10
    assert cell(table, "strong", "Seconds").value is None


@pytest.mark.slow
def test_fig1_tells_which_case_sets_separate(tmp_path: Path) -> None:
    """A hard set on which candidates differ, and an easy one on which they are all alike."""
    for name in ("easy", "hard"):
        cases = [
            {"id": f"{name}-{number}", "split": name, "questions": [choice(f"mcq-{name}", number)]}
            for number in range(120)
        ]
        write(tmp_path / "sets" / f"{name} set", cases)
    candidates = [
        {
            "name": f"model-{number}",
            "provider": "simulated",
            "extra_body": {"accuracy": accuracy, "seed": number, "by": [{"when": {"split": "easy"}, "accuracy": 0.9}]},
        }
        for number, accuracy in enumerate((0.2, 0.45, 0.7, 0.95))
    ]
    found = bench("clinbench/fig1", cases=tmp_path / "sets", candidates=candidates, runs=tmp_path / "runs", note=str)
    (table,) = found.tables
    apart = {name: cell(table, f"{name} set", "Pairs told apart") for name in ("easy", "hard")}
    assert (apart["hard"].value, apart["hard"].n) == (1.0, 6)
    assert apart["easy"].value == 0
    assert cell(table, "hard set", "Ranks open").value == 1
    assert cell(table, "easy set", "Ranks open").value == 4
    spread = {name: cell(table, f"{name} set", "True spread (SD)").value for name in ("easy", "hard")}
    assert spread["hard"] == pytest.approx(np.std([0.2, 0.45, 0.7, 0.95], ddof=1), abs=0.05)
    assert spread["easy"] < 0.03  # type: ignore[operator]
    assert {path.name for path in found.files} >= {"table.csv", "figure.svg"}
    with pytest.raises(WardroundError, match="expected a folder of two or more case sets"):
        bench(
            "clinbench/fig1", cases=tmp_path / "sets" / "hard set", candidates=candidates, runs=tmp_path / "r", note=str
        )


def test_the_true_spread_is_free_of_noise() -> None:
    """Ten candidates of SD .1 on 100 cases each: seen SD is larger, the estimate is not."""
    random = np.random.default_rng(3)
    found = []
    for _ in range(200):
        true = random.normal(0.5, 0.1, 10).clip(0.1, 0.9)
        right = random.random((10, 100)) < true[:, None]
        drawn = right[:, random.integers(0, 100, (200, 100))].mean(axis=2)
        found.append(true_spread(np.column_stack([right.mean(axis=1), drawn])) ** 2)
    assert np.sqrt(np.mean(found)) == pytest.approx(0.1, abs=0.012)


@pytest.mark.parametrize(
    ("table", "average", "inside", "outside"), [("table3", 50.6, 80.8, 20.4), ("table4", 51.6, 81.6, 21.6)]
)
def test_the_human_averages_of_the_paper(table: str, average: float, inside: float, outside: float) -> None:
    """50 questions of each of ten specialties: each figure is a multiple of 2%, the average their unweighted mean."""
    published = load_published(f"clinbench/{table}")
    people = {short: published.value("Human Experts", short) for short in SPECIALTIES}
    assert people.pop("DI") is None  # nobody answered these
    values = {short: value for short, value in people.items() if value is not None}
    assert len(values) == 10
    assert all(value % 2 == 0 for value in values.values())
    assert published.value("Human Experts", "Avg") == average == pytest.approx(sum(values.values()) / 10)
    assert sum(values[short] for short in OWN) / 5 == pytest.approx(inside)
    assert sum(value for short, value in values.items() if short not in OWN) / 5 == pytest.approx(outside)
