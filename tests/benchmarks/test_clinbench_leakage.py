"""clinbench/table8: what is planted in a respondent's memory is told, and nothing where nothing is."""

from __future__ import annotations

import json

import polars as pl
import pytest
import tomli_w
from exam_study import write_cases, write_study
from leaked_cases import leaked_case, leaked_set

from wardround.benchmarks.engine.bench import bench
from wardround.measuring.comparing.leakage_contrasts import leakage_contrasts
from wardround.pipeline import run_study
from wardround.reporting.run_files import read_run

CUTOFF = "2024-06-01"


def marks_of(study):
    ended = run_study(study, runs=study.parent / "runs", quiet=True, note=lambda line: None)
    return pl.read_parquet(ended.folder / "marks.parquet")


def respondent(memory, **planted):
    candidate = {"name": memory, "provider": "simulated", "cutoff": CUTOFF}
    return candidate | {"extra_body": {"memory": memory, "accuracy": 0.6, **planted}}


@pytest.fixture(scope="module")
def benched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leakage")
    candidates = [respondent(memory) for memory in ("none", "gist", "verbatim")]
    candidates.append({"name": "chance", "provider": "random"})
    cases = write_cases(folder / "cases", leaked_set(36))
    return bench("clinbench/table8", cases=cases, candidates=candidates, runs=folder / "runs", note=lambda line: None)


def rows(benched, candidate):
    return {row.labels[1]: row.cells for row in benched.tables[1].rows if row.labels[0] == candidate}


def said(benched, candidate):
    return " ".join(note for note in benched.tables[1].notes if note.startswith(f"{candidate}: "))


def test_leakage_is_claimed_for_the_reciting_candidate_only(benched):
    assert benched.status == "complete"
    section = said(benched, "verbatim")
    masked = ("Bits per byte, nothing to copy: own words' lead", "ROUGE-L of words not in the stem: own words' lead")
    for sign in (*masked, "EDS of words not in the stem: own words' lead", "Options' own"):
        assert sign in section
    for candidate in ("gist", "none"):
        assert said(benched, candidate).startswith(f"{candidate}: no sign of leakage in 5 comparisons")


def test_a_paraphraser_prefers_its_own_reference_which_does_not_show_leakage(benched):
    cells = rows(benched, "gist")["Bits per byte: own text, another case's"]
    assert cells[2].low > 0.5
    assert cells[3].text == "no"


def test_figures_are_the_planted_ones(benched):
    known = rows(benched, "verbatim")
    assert known["Bits per byte: own words, other words"][0].value == pytest.approx(0.1, abs=0.01)
    assert known["Bits per byte: own words, other words"][1].value == pytest.approx(1.2, abs=0.1)
    assert known["Bits per byte: own text, another case's"][1].value == pytest.approx(2.0, abs=0.15)
    assert known["Second half, EDS: own text, another case's"][0].value == 1
    order = next(cells for name, cells in known.items() if name.startswith("Options' own"))
    assert order[0].value == 1
    (table, _) = benched.tables
    ppl, bits, rouge, eds, _, _ = next(row.cells for row in table.rows if row.labels == ("verbatim",))
    assert bits.value == pytest.approx(0.1, abs=0.01)
    assert (rouge.value, eds.value) == (1, 1)
    assert ppl.value == pytest.approx(2 ** (0.1 * 4), abs=0.05)


def test_probes_do_not_count_in_accuracy_or_other_measures(benched):
    measures = pl.read_csv(benched.folder / "measures.csv", infer_schema_length=None)
    of_answers = measures.filter(pl.col("candidate") == "verbatim", pl.col("slice") == "{}")
    assert of_answers.filter(pl.col("measure") == "accuracy")["n"].item() == 36
    assert not set(of_answers["measure"]) & {"ppl", "bits_per_byte", "rouge_l", "eds"}
    elsewhere = measures.filter(pl.col("slice").str.contains('"probe":"reference"'), pl.col("n") > 0)
    assert set(elsewhere["measure"]) == {"ppl", "bits_per_byte"}
    marks = pl.read_parquet(benched.folder / "marks.parquet")
    assert marks.filter(pl.col("condition").str.contains("probe"))["outcome"].null_count() == 36 * 3 * 20
    assert json.loads((benched.folder / "manifest.json").read_text())["chance"] == pytest.approx(0.2)


def test_for_a_candidate_without_texts_the_missing_requirements_are_listed(benched):
    assert "nothing can be said about leakage" in said(benched, "chance")
    assert "a cutoff of the candidate" in said(benched, "chance")
    inapplicable = json.loads((benched.folder / "manifest.json").read_text())["inapplicable"]
    assert inapplicable == {"the candidate writes no texts, so that no probe of leakage can be put to it": 36 * 20}


def test_the_report_shows_the_contrasts_and_the_verdict(benched):
    page = (benched.folder / "report.html").read_text()
    assert "What could be leakage, compared with what could not" in page
    assert "verbatim: signs of leakage" in page


def test_the_wording_note_names_the_files_that_were_used(benched):
    (note,) = [note for note in benched.tables[0].notes if note.startswith("Wording")]
    assert note == (
        "Wording: wardround's own, after the paper's structure (clinbench/choice); "
        "wardround's own (paper/probe-half, paper/probe-options, paper/probe-rationale and paper/probe-reference)."
    )


def test_a_second_bench_asks_nothing_again(benched):
    heard = []
    settings = {"cases": benched.folder.parent.parent / "cases", "runs": benched.folder.parent, "note": heard.append}
    candidates = [respondent(memory) for memory in ("none", "gist", "verbatim")]
    again = bench("clinbench/table8", candidates=[*candidates, {"name": "chance", "provider": "random"}], **settings)
    assert heard[0].endswith("; 0 new")
    assert [row.cells for row in again.tables[1].rows] == [row.cells for row in benched.tables[1].rows]


def answered(tmp_path, old, new, cases=60):
    """The contrasts of a respondent that is right on old cases and on new ones with these probabilities."""
    records = [leaked_case(number, tags=["old" if number % 2 else "new"]) for number in range(cases)]
    write_cases(tmp_path / "cases", records)
    planted = {"accuracy": new, "by": [{"when": {"tag": "old"}, "accuracy": old}]}
    candidate = {"name": "dated", "provider": "simulated", "extra_body": planted}
    study = tmp_path / "study.toml"
    study.write_text(tomli_w.dumps({"name": "dated", "cases": "cases", "candidates": [candidate]}))
    return leakage_contrasts(marks_of(study), {}, CUTOFF, 0)


def test_a_fall_after_the_cutoff_is_significant(tmp_path):
    (contrast,) = answered(tmp_path, 0.95, 0.4)
    assert contrast.name.startswith("Accuracy")
    assert contrast.beyond
    assert contrast.low > 0.2


def test_equal_accuracy_before_and_after_the_cutoff_is_not_significant(tmp_path):
    (contrast,) = answered(tmp_path, 0.7, 0.7)
    assert not contrast.beyond
    assert contrast.low < 0 < contrast.high


def test_dates_that_are_neither_before_nor_after_are_left_out(tmp_path):
    dates = [None, "2024", "2024-06", "2024-06-01", "2023", "2025", "2023-01-01", "2024-06-02"]
    cases = [leaked_case(number, origin={"published": date}) for number, date in enumerate(dates)]
    write_cases(tmp_path / "cases", cases)
    (contrast,) = leakage_contrasts(marks_of(write_study(tmp_path, candidate=respondent("none"))), {}, CUTOFF, 0)
    assert (contrast.n, contrast.clusters, contrast.low) == (4, 2, None)


def test_a_set_without_rationales_notes_that_the_gold_is_used(tmp_path):
    cases = leaked_set(10)
    for case in cases:
        del case["questions"][0]["rationale"], case["questions"][0]["paraphrase"]
    benched = bench(
        "clinbench/table8",
        cases=write_cases(tmp_path / "cases", cases),
        candidates=[respondent("gist")],
        runs=tmp_path / "runs",
        note=lambda line: None,
    )
    notes = benched.tables[1].notes
    assert any(
        note.startswith("10 of 10 questions have no published rationale; a sentence with the gold") for note in notes
    )
    assert "not compared: Bits per byte, nothing to copy: own words' lead" in said(benched, "gist")
    assert read_run(benched.folder).is_complete
