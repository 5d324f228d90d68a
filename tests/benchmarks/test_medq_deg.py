"""MedQ-Deg's tables and figures on planted candidates: the curves come back, and effects only where they are."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from bench_cases import cure_cases, xpcr_cases
from medq_deg_cases import medq_deg_cases
from PIL import Image
from scipy.stats import kendalltau

from wardround.asking.applicable import DEGRADED_UNSEEN
from wardround.benchmarks.engine.bench import BenchResult, bench
from wardround.benchmarks.medq_deg.figures.dose import find_cliff
from wardround.benchmarks.medq_deg.figures.ranks import kendall, ranks, tau_cell
from wardround.benchmarks.medq_deg.figures.scores import Scores
from wardround.core.ask import ImagePart
from wardround.core.errors import WardroundError
from wardround.core.study import Study
from wardround.degrade.folder import degrade_files
from wardround.degrade.severities import SHIPPED_TABLE
from wardround.pipeline import mark_run, run_study
from wardround.reporting.checklists.run_facts import FACTS
from wardround.reporting.run_files import read_run
from wardround.reporting.sections.image_quality import severity_note
from wardround.reporting.tables.table import Cell, Table
from wardround.running.images import ImageEncoder


def planted(name: str, by: list[dict[str, Any]] | None = None, **truth: Any) -> dict[str, Any]:
    return {"name": name, "provider": "simulated", "extra_body": {"seed": len(name), **truth, "by": by or []}}


def at(severity: str, **truth: Any) -> dict[str, Any]:
    return {"when": {"severity": severity}, **truth}


def run(name: str, cases: Path, folder: Path, candidates: list[dict[str, Any]], **more: Any) -> BenchResult:
    return bench(name, cases=cases, candidates=candidates, runs=folder / "runs", note=lambda text: None, **more)


def cell(table: Table, row: str, heading: str, over: str = "") -> Cell:
    place = next(n for n, each in enumerate(table.columns) if (each.heading, each.over) == (heading, over))
    return next(each for each in table.rows if each.labels[0] == row).cells[place]


# right at L0; at L1 right on CT and X-ray only; never right at L2: and always sure
SURE = planted(
    "sure",
    [at("L1", accuracy=1.0), {"when": {"severity": "L1", "modality": "MRI"}, "accuracy": 0.0}, at("L2", accuracy=0.0)],
    accuracy=1.0,
    sharpness=1.0,
)
OVERCONFIDENT = planted(
    "overconfident",
    [at("L1", accuracy=0.7), at("L2", accuracy=0.3, sharpness=0.95)],
    accuracy=0.9,
    sharpness=0.8,
)
HUMBLE = planted(
    "humble",
    [at("L1", accuracy=0.8, sharpness=0.8), at("L2", accuracy=0.6, sharpness=0.4)],
    accuracy=0.95,
    sharpness=0.95,
)
STEADY = planted("steady", accuracy=0.7, sharpness=0.8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("medq-deg")


@pytest.fixture(scope="module")
def cases(folder: Path) -> Path:
    return medq_deg_cases(folder / "cases", 36)


@pytest.fixture(scope="module")
def fig4(folder: Path, cases: Path) -> BenchResult:
    return run("medq-deg/fig4", cases, folder, [SURE, OVERCONFIDENT, HUMBLE, STEADY])


def test_a_deterministic_respondent_gives_its_curves_back_exactly(fig4: BenchResult) -> None:
    table = fig4.tables[0]
    for level, accuracy in (("L0", 1.0), ("L1", 2 / 3), ("L2", 0.0)):
        assert cell(table, "sure", "accuracy", level).value == pytest.approx(accuracy, abs=1e-9)
        assert cell(table, "sure", "confidence", level).value == pytest.approx(1.0, abs=1e-9)
        assert cell(table, "sure", "shift", level).value == pytest.approx(1.0 - accuracy, abs=1e-9)


def test_a_stochastic_respondent_is_within_its_intervals(fig4: BenchResult) -> None:
    for name, level, accuracy, sharpness in [
        ("overconfident", "L0", 0.9, 0.8),
        ("overconfident", "L2", 0.3, 0.95),
        ("humble", "L2", 0.6, 0.4),
        ("steady", "L1", 0.7, 0.8),
    ]:
        found = cell(fig4.tables[0], name, "accuracy", level)
        truth = accuracy * sharpness + (1 - accuracy) * (1 - sharpness) / 3
        assert found.low is not None
        assert found.high is not None
        slack = 0.03  # 95% intervals of several figures
        assert found.low - slack <= truth <= found.high + slack


def test_the_dunning_kruger_effect_is_found_where_planted_and_nowhere_else(fig4: BenchResult) -> None:
    within = fig4.tables[2]
    share = {row.labels[0]: row.cells[0].value for row in within.rows}
    assert share["sure"] == 1.0
    assert share["overconfident"] is not None
    assert share["overconfident"] > 0.95
    assert share["humble"] is not None
    assert share["humble"] < 0.05
    assert share["steady"] is not None
    assert share["steady"] < 0.9
    for name in ("overconfident", "humble"):
        rise = cell(within, name, "Shift rises by")
        assert rise.low is not None
        assert rise.high is not None
        assert (rise.low > 0) == (name == "overconfident")


def test_the_figure_has_its_files(fig4: BenchResult) -> None:
    assert {file.name for file in fig4.files} >= {"table.csv", "table.tex", "table.md"}


@pytest.mark.parametrize("stored", [pytest.param(False, marks=pytest.mark.slow), True])
def test_changes_are_from_each_questions_own_twin(tmp_path: Path, stored: bool) -> None:
    found = run("medq-deg/table2", medq_deg_cases(tmp_path / "cases", stored=stored), tmp_path, [OVERCONFIDENT, STEADY])
    assert found.folder is not None
    score: dict[tuple[str, str, str, int], float] = {}
    about: dict[tuple[str, str], tuple[str | None, str]] = {}
    for mark in pl.read_parquet(found.folder / "marks.parquet").iter_rows(named=True):
        score[mark["candidate"], mark["case"], mark["question"], mark["trial"]] = float(mark["outcome"] == "right")
        about[mark["case"], mark["question"]] = (mark["of"], mark["capability"])
    for name in ("overconfident", "steady"):
        changes, right = defaultdict(list), defaultdict(list)
        for (candidate, case, question, trial), value in score.items():
            of, capability = about[case, question]
            if candidate == name and of is not None:
                changes[capability].append(value - score[candidate, case, of, trial])
                right[capability].append(value)
        for capability, short in (("Clinical Understanding", "CU"), ("Diagnosis Reasoning", "Diag")):
            assert cell(found.tables[0], name, "accuracy", short).value == pytest.approx(np.mean(right[capability]))
            assert cell(found.tables[0], name, "change", short).value == pytest.approx(np.mean(changes[capability]))
        overall = [np.mean(each) for each in changes.values()]
        assert cell(found.tables[0], name, "change", "Avg").value == pytest.approx(np.mean(overall))


@pytest.mark.parametrize(
    "study", ["table3", "fig3", *(pytest.param(study, marks=pytest.mark.slow) for study in ("table6", "fig7", "fig8"))]
)
def test_every_other_table_is_measured_in_every_cell(folder: Path, cases: Path, study: str) -> None:
    found = run(f"medq-deg/{study}", cases, folder, [OVERCONFIDENT, STEADY])
    table, *_ = found.tables
    assert len(table.columns) > 3
    for row in table.rows:
        for column, figure in zip(table.columns, row.cells, strict=True):
            assert figure.value is not None, f"{study}: {column.over} {column.heading}: {figure.text}"


@pytest.mark.slow
def test_ranks_and_their_agreement(folder: Path) -> None:
    names = ["best-of-all", "good", "so-so-so", "worst"]
    candidates = [planted(name, accuracy=0.97 - 0.3 * place) for place, name in enumerate(names)]
    cases = medq_deg_cases(folder / "real", 24, real=True, stored=True)
    found = run("medq-deg/fig5b", cases, folder, candidates)
    assert [row.labels for row in found.tables[1].rows][:2] == [
        ("Simulated, mild", "itself"),
        ("Simulated, mild", "Simulated, severe"),
    ]
    assert all(row.cells[0].value is not None and row.cells[0].value > 0.6 for row in found.tables[1].rows)


class _RecordingEncoder(ImageEncoder):
    """Keeps which images were encoded: whether drawn on, and whether stored degraded."""

    parts: ClassVar[list[tuple[bool, bool]]] = []

    async def encode(self, part: ImagePart) -> Any:
        is_drawn = any(name == "degrade" for name, _, _ in part.recipe)
        self.parts.append((is_drawn, bool(part.degradations)))
        return await super().encode(part)


@pytest.mark.parametrize("study", ["fig5b", "table6"])
def test_assigned_degradations_are_drawn_beside_real_ones(tmp_path: Path, study: str, monkeypatch) -> None:
    """Six cases, each with a clean question and four assigned twins, and six really degraded images."""
    monkeypatch.setattr("wardround.running.study_run.ImageEncoder", _RecordingEncoder)
    monkeypatch.setattr(_RecordingEncoder, "parts", [])
    cases = medq_deg_cases(tmp_path / "cases", 6, real=True)
    result = run(f"medq-deg/{study}", cases, tmp_path, [planted("good", accuracy=0.9)], trials=1)
    assert Counter(_RecordingEncoder.parts) == {(False, False): 6, (True, False): 24, (False, True): 6}
    assert result.folder is not None
    marks = pl.read_parquet(result.folder / "marks.parquet")
    assert Counter(marks["severity"]) == {"L0": 6, "L1": 12, "L2": 12, "mild": 3, "severe": 3}
    note = "Severity profile of the degraded images: medq-deg-estimated, version 4."
    assert all(note in table.notes for table in result.tables)  # each has files of its own
    assert note in (result.folder / "table.md").read_text(encoding="utf-8")


def test_tau_is_kendalls_and_halves_share_no_case() -> None:
    random = np.random.default_rng(2)
    for _ in range(50):
        a, b = random.integers(0, 6, (2, 7)).astype(float)
        np.testing.assert_allclose(kendall(a, b), kendalltau(a, b).statistic, atol=1e-12)
    # every candidate alike: what both severities share is the luck of the clusters, and that must not count
    luck = random.random((12, 1, 60)) < 0.5
    same = Scores(
        [f"c{n}" for n in range(12)], ["L1", "L2"], np.repeat(luck, 2, axis=1).astype(float), np.ones((12, 2, 60))
    )
    assert kendalltau(*ranks(same).T).statistic == pytest.approx(1.0)
    found = tau_cell(same, 0, 1, seed=0)
    assert found.value is not None
    assert abs(found.value) < 0.35
    assert found.low is not None
    assert found.low < 0


def dose_scores(curve: list[float], clusters: int, seed: int) -> Scores:
    right = (np.random.default_rng(seed).random((1, len(curve), clusters)) < np.array(curve)[:, None]).astype(float)
    return Scores(["a"], [f"{0.25 * n:g}" for n in range(len(curve))], right, np.ones_like(right))


@pytest.mark.slow
def test_a_cliff_is_found_where_it_was_planted_and_an_even_decline_has_none() -> None:
    sudden = find_cliff(dose_scores([0.9, 0.9, 0.88, 0.86, 0.35, 0.33, 0.3, 0.3, 0.3], 200, 0), 0, seed=0)
    assert sudden is not None
    assert sudden.is_significant
    assert sudden.step == ("0.75", "1")
    assert sudden.agreement > 0.95
    assert sudden.fall == pytest.approx(0.5, abs=0.15)
    for seed in range(5):
        even = find_cliff(dose_scores([0.9 - 0.06 * n for n in range(9)], 200, seed), 0, seed=0)
        flat = find_cliff(dose_scores([0.6] * 9, 200, seed), 0, seed=0)
        assert even is not None
        assert flat is not None
        assert not even.is_significant
        assert not flat.is_significant


@pytest.mark.slow
def test_a_dose_response_runs_on_any_cases_and_needs_a_type(folder: Path, cases: Path) -> None:
    steep = planted(
        "steep", [at(f"{dose:g}", accuracy=0.1) for dose in (1.25, 1.5, 1.75, 2)], accuracy=0.95, sharpness=1.0
    )
    found = run("medq-deg/dose-response", cases, folder, [steep], type="gaussian-noise", trials=2)
    assert cell(found.tables[1], "steep", "Cliff").text == "between 1 and 1.25"
    with pytest.raises(WardroundError, match="needs a type of degradation"):
        run("medq-deg/dose-response", cases, folder, [steep])


@pytest.mark.slow
@pytest.mark.parametrize(("benchmark", "cases_of"), [("cure", cure_cases), ("xpcr", xpcr_cases)])
def test_the_same_crossing_on_cases_of_other_benchmarks(tmp_path: Path, benchmark: str, cases_of: Any) -> None:
    there = cases_of(tmp_path / benchmark, 12)
    found = run("medq-deg/dose-response", there, tmp_path, [STEADY], type="gaussian_blur", trials=1)
    asked = [cell(found.tables[0], "steady", "accuracy", dose) for dose in ("L0", "0.25", "2")]
    assert all(figure.value is not None for figure in asked)
    assert len({figure.n for figure in asked}) == 1


def test_example_sheets_of_each_modality(folder: Path, cases: Path) -> None:
    found = run("medq-deg/fig9", cases, folder, [])
    assert [file.name for file in found.files] == ["ct.png", "mri.png", "x-ray.png"]
    counts = [row.cells[1].value for row in found.tables[0].rows]
    assert counts == [12, 12, 9]
    with Image.open(found.files[0]) as sheet:
        assert sheet.width > 300
        assert sheet.height > 12 * 30


@pytest.mark.slow
def test_the_map_tells_real_from_simulated_only_where_they_differ(tmp_path: Path) -> None:
    differing = run("medq-deg/fig5a", medq_deg_cases(tmp_path / "real", 24, real=True, stored=True), tmp_path, [])
    (table,) = differing.tables
    auc = cell(table, "all", "AUC")
    assert auc.value is not None
    assert auc.value > 0.7  # noise was added to the simulated ones only
    assert cell(table, "CT", "AUC").text == "too few cases"
    lines = (tmp_path / "runs" / "medq-deg-fig5a" / "map.csv").read_text().splitlines()
    assert len(lines) == 1 + 24 * 4 + 24
    with pytest.raises(WardroundError, match="there are simulated images only"):
        run("medq-deg/fig5a", medq_deg_cases(tmp_path / "simulated", 6), tmp_path, [])
    with pytest.raises(WardroundError, match=r"pip install|cannot be loaded"):
        run("medq-deg/fig5a", tmp_path / "real", tmp_path, [], encoder=str(tmp_path / "no-such-model"))


def test_a_run_that_asked_a_blind_candidate_degraded_images_is_marked_without_them(tmp_path: Path) -> None:
    """As an earlier wardround did: the answers stay in the store, but no figure about images counts them."""
    folder = run("medq-deg/table6", medq_deg_cases(tmp_path / "cases", 6), tmp_path, [STEADY], trials=1).folder
    assert folder is not None
    levels = set(pl.read_parquet(folder / "marks.parquet")["severity"])
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["candidates"][0]["sees"] = False
    (folder / "manifest.json").write_text(json.dumps(manifest))
    mark_run(folder, note=lambda text: None)
    marks = pl.read_parquet(folder / "marks.parquet")
    assert levels == {"L0", "L1", "L2"}
    assert (set(marks["severity"]), len(marks)) == ({"L0"}, 6)
    assert "steady (text only)" in (folder / "report.html").read_text()


def test_table_3_of_one_category_is_that_category(tmp_path: Path) -> None:
    """Nothing is measured by a category that all degraded questions have; its column is the whole, and so is Avg."""
    cases = medq_deg_cases(tmp_path / "cases", 9)
    lines = [json.loads(line) for line in (cases / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    for record in lines:
        record["questions"] = [record["questions"][0]] + [
            {**question, "degradations": [f"gaussian_noise@{question['id'][-2:]}"]}
            for question in record["questions"][1:3]
        ]
    (cases / "cases.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    table = run("medq-deg/table3", cases, tmp_path, [SURE], trials=1).tables[0]
    whole, change = (cell(table, "sure", heading, "Noise") for heading in ("accuracy", "change"))
    assert whole.value == cell(table, "sure", "accuracy", "Avg").value == pytest.approx(1 / 3)
    assert change.value == cell(table, "sure", "change", "Avg").value == pytest.approx(-2 / 3)
    assert change.low is not None, "it is paired"


@pytest.mark.slow
def test_the_report_says_who_loses_and_who_cannot_see(folder: Path, cases: Path) -> None:
    blind = {"name": "blind", "provider": "random", "sees": False}
    found = run("medq-deg/table6", cases, folder / "said", [SURE, STEADY, blind])
    assert found.folder is not None
    page = (found.folder / "report.html").read_text(encoding="utf-8")
    section = page.partition('id="image-quality"')[2].partition("</section>")[0]
    assert "sure loses 100.0 points of accuracy at L2." in section
    assert "steady: no change beyond chance at L2" in section
    assert "blind does not see images" in section
    (blind_row,) = (row for row in found.tables[0].rows if row.labels == ("blind",))
    assert blind_row.printed_labels == ("blind (text only)",)
    texts = [column.cell_text(cell) for column, cell in zip(found.tables[0].columns, blind_row.cells, strict=True)]
    not_asked = [False, *[True] * 4, False, True, True, False, True, True, False]  # of L0 two readings and a count
    assert [text == "not asked" for text in texts] == not_asked, "it is asked clean questions only"
    manifest = json.loads((found.folder / "manifest.json").read_text())
    assert manifest["inapplicable"][DEGRADED_UNSEEN] == 36 * 4
    assert (
        pl.read_parquet(found.folder / "marks.parquet")
        .filter(pl.col("candidate") == "blind", pl.col("severity") != "L0")
        .is_empty()
    )


@pytest.mark.slow
def test_votes_can_be_expected_from_log_probabilities(folder: Path, cases: Path) -> None:
    found = run("medq-deg/fig4", cases, folder, [SURE, STEADY], logprobs=True)
    assert found.folder is not None
    assert found.folder.name == "medq-deg-fig4-logprobs"
    for level, accuracy in (("L0", 1.0), ("L1", 2 / 3), ("L2", 0.0)):
        assert cell(found.tables[0], "sure", "accuracy", level).value == pytest.approx(accuracy, abs=1e-6)
        assert cell(found.tables[0], "sure", "confidence", level).value == pytest.approx(1.0, abs=1e-6)
    assert pl.read_parquet(found.folder / "used.parquet").height < 36 * 5 * 2 * 10 / 5, (
        "one request stands for ten votes"
    )


@pytest.mark.parametrize("study", ["fig5b", "table6"])
def test_images_stored_by_degrade_are_marked_with_the_profile_that_they_were_made_with(
    tmp_path: Path, study: str
) -> None:
    """Before, marking these answers failed: their severities have no hash that could be compared."""
    stored = tmp_path / "stored"
    mine = tmp_path / "mine.toml"
    table = SHIPPED_TABLE.read_text(encoding="utf-8").replace("[medq-deg-estimated", "[ours")
    mine.write_text(table.replace("version = 4", "version = 17"), encoding="utf-8")
    degrade_files(medq_deg_cases(tmp_path / "cases", 6, real=True), stored, profile=f"{mine}:ours", workers=1)
    result = run(f"medq-deg/{study}", stored, tmp_path, [planted("good", accuracy=0.9)], trials=1)
    assert result.folder is not None
    marks = pl.read_parquet(result.folder / "marks.parquet")
    assert marks.filter(pl.col("severity") != "L0").height > 20
    assert "Severity profile of the degraded images: ours, version 17." in result.tables[0].notes
    assert "severity table `ours`" in FACTS["preparation"](read_run(result.folder))
    mark_run(result.folder)


@pytest.mark.parametrize(
    ("degradation", "note"),
    [
        (["none", "stored"], "images: medq-deg-estimated, version 4."),
        (["none", "assigned"], "images: medq-deg-estimated, version 4."),
        (
            ["none", "stored", "gaussian_blur@L1"],
            "images: clinical-1, version 4; of those that were stored degraded: medq-deg-estimated, version 4.",
        ),
    ],
)
def test_a_study_names_the_profiles_of_drawn_and_of_stored_images(tmp_path: Path, degradation: list[str], note: str):
    stored = tmp_path / "stored"
    degrade_files(medq_deg_cases(tmp_path / "cases", 3), stored, workers=1)
    study = Study(
        name="both",
        cases=str(stored),
        candidates=[planted("good", accuracy=0.9)],
        conditions={"degradation": degradation},
    )
    found = run_study(study, runs=tmp_path / "runs", note=lambda text: None)
    assert severity_note(read_run(found.folder)) == f"Severity profile of the degraded {note}"
