"""CURE's studies on planted candidates and a library in which everything is known."""

from __future__ import annotations

import base64
import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cure_library import article, case, case_set, disease, index, nearby, sign
from planted_library import PLAN, SHARES, planted_case, planted_index
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import TfidfVectorizer

from wardround.benchmarks.cure.figures.faithfulness import AnswerSums, _correlation
from wardround.benchmarks.cure.figures.outcomes import _points as outcome_parts
from wardround.benchmarks.cure.figures.text_similarity import STOP_WORDS
from wardround.benchmarks.engine.bench import BenchResult, bench
from wardround.benchmarks.engine.drawing import draw
from wardround.benchmarks.engine.literature import literature_notes, literature_settings, named_searches
from wardround.benchmarks.engine.named_study import find_study, named_studies
from wardround.core.errors import WardroundError
from wardround.measuring.engine.correlation import spearman
from wardround.pipeline import run_study
from wardround.reporting.run_files import read_run
from wardround.reporting.tables.table import Cell, Table

MANY = 40
IMAGES, FINDINGS = "history+images", "history+findings"


def planted(name: str, by: list[dict[str, Any]], **truth: Any) -> dict[str, Any]:
    return {"name": name, "provider": "simulated", "extra_body": {"seed": len(name), **truth, "by": by}}


def right_if(holds: bool, **when: str) -> dict[str, Any]:
    return {"when": when, "hit1": float(holds)}


def run(
    name: str, cases: Path, folder: Path, candidates: list[dict[str, Any]], library: Path, **more: Any
) -> BenchResult:
    settings = {"cases": cases, "candidates": candidates, "runs": folder / "runs", "index": str(library), **more}
    return bench(f"cure/{name}", note=lambda text: None, **settings)


def cell(table: Table, labels: tuple[str, ...], heading: str, over: str = "") -> Cell:
    place = next(n for n, each in enumerate(table.columns) if (each.heading, each.over) == (heading, over))
    return next(each for each in table.rows if each.labels[: len(labels)] == labels).cells[place]


def titled(found: BenchResult, title: str) -> Table:
    return next(table for table in found.tables if title in table.title)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cure")


ELSEWHERE = article(70_002, "A look-alike", "All patients were found to have plumbum colic after their biopsies.")


@pytest.fixture(scope="module")
def library(folder: Path) -> Path:
    return index(folder / "library", MANY, more=[ELSEWHERE])


@pytest.fixture(scope="module")
def plain(folder: Path) -> Path:
    return case_set(folder / "plain", [case(number) for number in range(MANY)])


# (as it is, with findings, with references) -> how many cases, and of how many the references hold the diagnosis
COUNTS = [(6, 4), (9, 9), (5, 2), (3, 3), (2, 2), (1, 1), (4, 0), (10, 9)]
OUTCOMES = dict(zip(product((False, True), repeat=3), COUNTS, strict=True))


@pytest.fixture(scope="module")
def why(folder: Path, library: Path) -> BenchResult:
    cases, rows = [], []
    for outcome, (many, covered) in OUTCOMES.items():
        tag = "".join("fr"[each] for each in outcome)
        for shown, holds in zip(((IMAGES, "rag"), (FINDINGS, "rag"), (IMAGES, "reference")), outcome, strict=True):
            rows.append(right_if(holds, tag=tag, inputs=shown[0], evidence=shown[1]))
        rows.append(right_if(outcome[2], tag=tag, inputs=FINDINGS, evidence="reference"))
        for place in range(many):
            cites = {} if place < covered else {"references": [{"pmid": "70002"}]}
            cases.append(case(len(cases), tags=[tag, f"seen{len(cases) % 4}"], **cites))
    # without evidence: right from images in one case of four, from findings in two of four, one of them the same
    for tag, images, findings in (("seen0", True, True), ("seen1", False, True), ("seen2", False, False)):
        rows += [
            right_if(images, tag=tag, inputs=IMAGES, evidence="none"),
            right_if(findings, tag=tag, inputs=FINDINGS, evidence="none"),
        ]
    cases = case_set(folder / "why", cases)
    return run("why", cases, folder, [planted("exact", rows, hit1=0.0), planted("chance", [], hit1=0.5)], library)


def test_the_table_of_cases_has_the_planted_counts(why: BenchResult) -> None:
    table = titled(why, "Cases by what would have corrected them")
    for outcome, (many, covered) in OUTCOMES.items():
        labels = ("exact", *(("wrong", "right")[each] for each in outcome))
        assert cell(table, labels, "Cases").value == many
        assert cell(table, labels, "References hold the diagnosis").value == covered
        assert cell(table, labels, "Share").value == pytest.approx(many / 40)
    says = {row.labels[1:]: row.cells[-1].text for row in table.rows if row.labels[0] == "exact"}
    assert says["wrong", "right", "wrong"].endswith("seeing")
    assert says["wrong", "wrong", "right"].endswith("finding")


def test_the_planted_effects_of_seeing_finding_and_using_are_recovered(why: BenchResult) -> None:
    three = titled(why, "Seeing, finding, using")
    as_it_is = sum(many for outcome, (many, _) in OUTCOMES.items() if outcome[0]) / 40
    found = sum(many for outcome, (many, _) in OUTCOMES.items() if outcome[2]) / 40
    seen = sum(many for outcome, (many, _) in OUTCOMES.items() if outcome[1]) / 40
    covered = sum(covered for _, covered in OUTCOMES.values())
    wrong = sum(covered for outcome, (_, covered) in OUTCOMES.items() if not outcome[2])
    assert cell(three, ("exact",), "Seeing").value == pytest.approx(2 / 4 - 1 / 4)
    assert cell(three, ("exact",), "Finding").value == pytest.approx(found - as_it_is)
    assert cell(three, ("exact",), "Using").value == pytest.approx(wrong / covered)
    for heading in ("Seeing", "Finding", "Using"):
        each = cell(three, ("exact",), heading)
        assert each.low is not None
        assert each.high is not None
        assert each.low < (each.value or 0) < each.high
    detail = titled(why, "Seeing and finding")
    with_rag = cell(detail, ("exact", "Seeing, with RAG"), "Difference")
    assert with_rag.value == pytest.approx(seen - as_it_is)
    finding = ("exact", "Finding, from images")
    gained = sum(many for outcome, (many, _) in OUTCOMES.items() if outcome[2] and not outcome[0])
    lost = sum(many for outcome, (many, _) in OUTCOMES.items() if outcome[0] and not outcome[2])
    assert cell(detail, finding, "given", "Right only with").value == gained
    assert cell(detail, finding, "own", "Right only with").value == lost
    assert cell(detail, ("exact", "Seeing, without evidence"), "given", "Right only with").value == 10
    p, adjusted = (cell(detail, finding, name).value or 0 for name in ("p", "p adjusted"))
    assert p <= adjusted
    assert any("do not add up" in note for note in three.notes)


def test_a_candidate_that_is_right_by_chance_shows_no_contrast(why: BenchResult) -> None:
    """An item is drawn with the same number under all conditions: nothing differs."""
    detail = titled(why, "Seeing and finding")
    own = [row for row in detail.rows if row.labels[0] == "chance"]
    assert len(own) == 4
    assert {(row.cells[2].value, row.cells[3].value) for row in own} == {(0.0, 1.0)}


def test_the_report_holds_the_tables_and_the_figure(why: BenchResult) -> None:
    assert why.folder is not None
    html = (why.folder / "report.html").read_text(encoding="utf-8")
    for table in why.tables[1:]:
        assert f"<h3>{table.title}</h3>" in html
    figures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    assert len(figures) == 1
    assert ">Finding</text>" in base64.b64decode(figures[0]).decode()
    names = {file.name for file in why.files}
    assert {"table.csv", "table-2.csv", "table-5.tex", "table-5.md", "why.svg"} <= names


@pytest.mark.slow
def test_the_planted_noise_curve_is_recovered(folder: Path, library: Path) -> None:
    """Case k of five is right as long as no more than its number of irrelevant abstracts are mixed in."""
    least = (0, 1, 3, 5, 10, 20)
    rows = [
        right_if(number <= upto, tag=f"upto{upto}", evidence=f"reference+{number}" if number else "reference")
        for upto in least
        for number in least
    ]
    cases = case_set(folder / "noisy", [case(number, tags=[f"upto{least[number % 6]}"]) for number in range(36)])
    found = run("noise", cases, folder, [planted("frail", rows, hit1=0.0)], library)
    turned = titled(found, "Answers that noise turned")
    for place, number in enumerate(least):
        share = (6 - place) / 6
        assert cell(found.tables[0], ("frail",), "Hit@1", str(number)).value == pytest.approx(share)
        assert cell(found.tables[0], ("frail",), "Grounded", str(number)).value == pytest.approx(share)
        if number:
            assert cell(turned, ("frail", str(number)), "Lost", "Of those right with references alone").value == (
                pytest.approx(1 - share)
            )
    assert found.folder is not None
    counts = pl.read_parquet(found.folder / "evidence.parquet").select(
        pl.col("condition").str.json_path_match("$.evidence"), pl.col("documents").list.len()
    )
    assert {value: set(own["documents"]) for (value,), own in counts.group_by("condition")} == {
        f"reference+{number}" if number else "reference": {1 + number} for number in least
    }
    changes = pl.read_csv(found.folder / "comparisons.csv").filter(pl.col("family") == "right")
    assert dict(changes.select("a", "value").iter_rows())["reference+5"] == pytest.approx(-3 / 6)


@pytest.fixture(scope="module")
def fig3(folder: Path, library: Path) -> BenchResult:
    """Ten cases of each stratum; those right with RAG have the very words of their references in the history."""
    rows, cases = [], []
    for pr, rag in product((True, False), repeat=2):
        tag = f"pr{pr}rag{rag}".lower()
        rows += [right_if(pr, tag=tag, evidence="reference"), right_if(rag, tag=tag, evidence="rag")]
        for _ in range(10):
            number = len(cases)
            close = f" Patients with {disease(number)} do well when treated." if rag else ""
            cases.append(case(number, tags=[tag], history=f"A patient with {sign(number)}.{close}"))
    return run("fig3", case_set(folder / "strata", cases), folder, [planted("exact", rows, hit1=0.0)], library)


def test_strata_have_the_planted_cases_and_similarities(fig3: BenchResult) -> None:
    assert fig3.folder is not None
    tfidf = titled(fig3, "TF-IDF cosine")
    documents = {
        name: f"{title}\n{text}"
        for name, _, title, text in pl.read_parquet(fig3.folder / "documents.parquet").iter_rows()
    }
    shown = {
        (row["case"], json.loads(row["condition"])["evidence"]): "\n".join(documents[id] for id in row["documents"])
        for row in pl.read_parquet(fig3.folder / "evidence.parquet").iter_rows(named=True)
    }
    cases = [json.loads(line) for line in (fig3.folder.parent.parent / "strata/cases.jsonl").read_text().splitlines()]
    words = TfidfVectorizer(stop_words=sorted(STOP_WORDS)).fit([*documents.values(), *(c["history"] for c in cases)])
    oracle = TfidfVectorizer(stop_words=sorted(STOP_WORDS), vocabulary=words.vocabulary_).fit(documents.values())

    def cosine(a: str, b: str) -> float:
        one, other = oracle.transform([a, b]).toarray()
        return float(one @ other)

    for place, (pr, rag) in enumerate(product((True, False), repeat=2)):
        own = cases[10 * place : 10 * place + 10]
        labels = ("exact", "right" if pr else "wrong", "right" if rag else "wrong")
        expected = {
            "Retrieved and cited": [cosine(shown[c["id"], "rag"], shown[c["id"], "reference"]) for c in own],
            "Retrieved and history": [cosine(shown[c["id"], "rag"], c["history"]) for c in own],
            "History and cited": [cosine(c["history"], shown[c["id"], "reference"]) for c in own],
        }
        assert cell(tfidf, labels, "Answers").value == 10
        for heading, values in expected.items():
            found = cell(tfidf, labels, heading)
            assert found.value == pytest.approx(sum(values) / 10, abs=1e-7)
            assert (found.n, found.clusters) == (10, 10)
            assert max(values) - min(values) < 1e-12
            assert (found.low, found.high) == (None, None)  # cases that are all alike do not show how they vary
    near = cell(tfidf, ("exact", "right", "right"), "Retrieved and cited").value or 0
    far = cell(tfidf, ("exact", "right", "wrong"), "Retrieved and cited").value or 0
    assert near > far + 0.1
    assert [table.title.split(" by ")[0] for table in fig3.tables[1:]] == ["TF-IDF cosine", "Jaccard", "ROUGE-L"]
    assert {file.name for file in fig3.files} >= {"alignment.svg", "table-4.csv"}


HEADINGS = {
    "coverage": "Coverage",
    "evidence_based_correct": "Evidence-based correct",
    "evidence_misled": "Evidence-misled",
    "knowledge_based_correct": "Knowledge-based correct",
    "hallucination": "Hallucination",
    "grounded": "Grounded",
}


def test_the_planted_outcomes_of_evidence_are_recovered(folder: Path) -> None:
    """Of one who believes what it reads: synonyms, denials and other diagnoses are among its documents."""
    library = planted_index(folder / "planted")
    image = [{"path": "scan.png", "modality": "CT"}]
    cases = case_set(folder / "believed", [planted_case(number, images=image) for number in range(len(PLAN))])
    knows = [{"when": {"tag": "knows"}, "knows": 1.0}]
    believers = [planted("believer", knows, believes="evidence"), planted("doubter", [], hit1=0.0)]
    believers.append(planted("blind", [], hit1=0.9) | {"sees": False})
    found = run("fig2", cases, folder, believers, library)
    assert {file.suffix for file in found.files} == {".csv", ".tex", ".md", ".svg", ".png"}
    # the plan is for a search that shows one article
    assert found.folder is not None
    study = folder / "one.toml"
    text = (found.folder / "bench.toml").read_text().replace('name = "cure-fig2"', 'name = "one"')
    study.write_text(text.replace("[literature]", "[literature]\nk = 1\nagent = { hits = 1 }"))
    one = run_study(study, runs=folder / "runs", quiet=True, note=lambda text: None)
    table = draw(find_study("cure/fig2"), read_run(one.folder)).with_published()
    for evidence, shares in SHARES.items():
        for measure, share in shares.items():
            assert cell(table, ("believer", evidence), HEADINGS[measure]).value == pytest.approx(share), measure
    for measure, share in SHARES["reference"].items():
        assert cell(found.tables[0], ("believer", "reference"), HEADINGS[measure]).value == pytest.approx(share)
    for evidence in SHARES:  # the mean over candidates, with an interval of its own
        average = cell(table, ("Avg.", evidence), "Coverage")
        each = [cell(table, (name, evidence), "Coverage").value for name in ("believer", "doubter")]
        assert average.value == pytest.approx(sum(filter(None, each)) / 2)
        assert average.low is not None
        drawn = [part for part in outcome_parts(read_run(one.folder), evidence) if part["candidate"] == "Mean"]
        assert [part["coverage"] for part in drawn] == pytest.approx([100 * (average.value or 0)] * len(drawn))
        misled = next(part for part in drawn if part["outcome"] == "Hallucination")
        printed = cell(table, ("Avg.", evidence), "Hallucination").value
        assert misled["end"] - misled["start"] == pytest.approx(100 * (printed or 0))
    assert any(note.startswith("Support test: sensitivity") for note in table.notes)
    assert any(note.startswith("Published figures are not shown: the paper's") for note in table.notes)


def test_table1_notes_which_choices_are_ours(folder: Path, library: Path, plain: Path) -> None:
    rows = [right_if(True, evidence="reference"), right_if(False, evidence="rag")]
    found = run("table1", plain, folder, [planted("exact", rows, hit1=0.0, accuracy=1.0)], library, published=True)
    (table,) = found.tables
    agent = "With agent retrieval (closed corpus)"
    for over, hit in (("History and images", 0), ("With references", 1), ("With RAG", 0), (agent, 0)):
        assert cell(table, ("exact",), "Hit@1", over).value == hit
        assert cell(table, ("exact",), "MCQ", over).value == 1
    assert cell(table, ("GPT-5.2",), "MCQ", "With references").value == pytest.approx(0.868)
    assert cell(table, ("GPT-5.2",), "MCQ", "With RAG").value is None
    assert cell(table, ("GPT-5.2",), "MCQ", agent).value is None
    notes = " ".join(table.notes)
    assert "Searched by bm25 (our choice); the paper's retrievers are bge-large-en-v1.5 and medcpt." in notes
    assert "the paper searched by bge-large-en-v1.5 and medcpt, this run by bm25" in notes
    assert "the paper's agent was MiroFlow, which searched the live web" in notes
    assert "marked by lexical" in notes


@pytest.mark.slow
def test_retrieval_controls_and_the_ladder_are_measured(folder: Path, library: Path, plain: Path) -> None:
    candidates = [planted("exact", [right_if(True, evidence="reference")], hit1=0.0)]
    retrieval = run("retrieval", plain, folder, candidates, library)
    blind, seeing = ("exact", IMAGES, "rag"), ("exact", "history+images+findings", "rag")
    assert cell(retrieval.tables[0], blind, "@10", "Recall").value == 0.0
    assert cell(retrieval.tables[0], seeing, "@10", "Recall").value == 1.0  # findings name the disease
    assert cell(retrieval.tables[0], seeing, "@10", "Precision").value == pytest.approx(0.1)
    controls = run("controls", plain, folder, candidates, library)
    assert cell(controls.tables[0], ("exact",), "Coverage", "With references").value == 1.0
    assert cell(controls.tables[0], ("exact",), "Coverage", "Diagnosis masked").value == 0.0
    assert cell(controls.tables[0], ("exact",), "Coverage", "Another case's").value == 0.0
    change = cell(controls.tables[0], ("exact",), "shuffled", "Change of Hit@1 from references")
    assert (change.value, change.low) == (-1.0, -1.0)
    ladder = run("ladder", plain, folder, candidates, library)
    assert [row.labels[1] for row in ladder.tables[0].rows] == ["none", "rag@bm25", "reference"]
    assert cell(ladder.tables[0], ("exact", "reference"), "Hit@1", "Diagnosis").value == 1.0
    notes = " ".join(ladder.tables[0].notes)
    assert "Without rag@dense and rag@fused: the index has no vectors." in notes
    assert "Without rag@reranked: no reranker was named" in notes


@pytest.mark.slow
def test_faithfulness_is_drawn_and_correlated(folder: Path, library: Path, plain: Path) -> None:
    candidates = [planted("a" * place, [], hit1=0.2 * place) for place in range(1, 5)]
    found = run("faithfulness", plain, folder, candidates, library)
    correlations = titled(found, "Rank correlations")
    first = correlations.rows[0]
    assert first.labels == ("Grounded with references", "Hit@1 with references")
    assert first.cells[0].value == pytest.approx(1.0)  # all that is right here is grounded
    invented = cell(correlations, ("Grounded with references", "Hallucination with references"), "Spearman")
    assert invented.value == pytest.approx(-1.0)  # and all that is wrong is invented
    assert ("Grounded with agent retrieval", "Hallucination with agent retrieval") in {
        row.labels for row in correlations.rows
    }
    assert "faithfulness.svg" in {file.name for file in found.files}


def test_spearman_is_scipys_and_needs_candidates() -> None:
    import numpy as np

    random = np.random.default_rng(3)
    a, b = random.integers(0, 5, (2, 7, 20)).astype(float)
    for place in range(20):
        assert spearman(a.T, b.T)[place] == pytest.approx(spearmanr(a[:, place], b[:, place]).statistic)
    few = AnswerSums(["x", "y"], {}, {"rag": np.ones((2, 9))})
    assert _correlation(few, ("grounded", "rag"), ("right", "rag"), 0).text == "too few candidates"


def test_the_papers_retrievers_are_used_if_the_index_has_them(library: Path, monkeypatch: Any) -> None:
    from wardround.benchmarks.engine import literature as engine_literature

    class IndexWithAll:
        retrievers = ("bm25", "bge-large-en-v1.5", "medcpt", "wordllama")

        @classmethod
        def open(cls, place: str) -> IndexWithAll:
            return cls()

    monkeypatch.setattr(engine_literature, "Index", IndexWithAll)
    template = named_studies()["cure/table1"].template
    literature = literature_settings(template, "here")
    assert literature["retrievers"] == ["bge-large-en-v1.5", "medcpt"]
    assert literature_notes(template, {"conditions": template.conditions, "literature": literature}) == []
    searches = named_searches(IndexWithAll.retrievers, "medcpt-cross-encoder")
    assert searches["rag@dense"]["retrievers"] == ["bge-large-en-v1.5", "medcpt", "wordllama"]
    assert searches["rag@reranked"]["reranker"] == "medcpt-cross-encoder"
    assert len({search["k"] for search in searches.values()}) == 1


def test_a_missing_index_is_refused_in_one_line_before_anything_is_written(tmp_path: Path, plain: Path) -> None:
    with pytest.raises(WardroundError, match="is not a literature index"):
        run("fig2", plain, tmp_path, [planted("x", [])], tmp_path / "gone")
    assert not (tmp_path / "runs").exists()


def test_a_note_counts_the_development_cases(tmp_path: Path, library: Path) -> None:
    cases = case_set(tmp_path / "cases", [case(n, split="dev" if n < 3 else "test") for n in range(10)])
    heard: list[str] = []
    bench("cure/base", cases=cases, candidates=[planted("x", [])], runs=tmp_path / "runs", note=heard.append)
    assert any("3 cases are for development" in line for line in heard)


def test_the_nearby_abstracts_of_the_planted_library_name_no_disease() -> None:
    """What the planted truths rest on."""
    assert disease(3) not in nearby(3)["abstract"]
    assert len({disease(number) for number in range(240)}) == 240
