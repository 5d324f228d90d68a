"""The text of a paper holds the figures of the run's tables, and claims no difference that its test does not show."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from exam_study import wardround, write_cases


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two simulated candidates, far apart, and one that is as good as the stronger."""
    folder = tmp_path_factory.mktemp("paper")
    question = {"id": "mcq", "kind": "choice", "prompt": "Which?", "options": ["a", "b", "c", "d"], "gold": 1}
    cases = [{"id": f"case-{n}", "history": f"Patient {n}.", "questions": [question]} for n in range(60)]
    write_cases(folder / "cases", cases)
    candidates = [
        f'[[candidates]]\nname = "{name}"\nprovider = "simulated"\nextra_body = {{ accuracy = {accuracy} }}\n'
        for name, accuracy in (("strong", 0.95), ("weak", 0.4), ("equal", 0.951))
    ]
    top = 'name = "paper"\ncases = "cases"\ntrials = 2\n'
    (folder / "study.toml").write_text("\n".join([top, *candidates]))
    assert wardround("run", "study.toml", cwd=folder).returncode == 0
    assert wardround("methods", "runs/paper", cwd=folder).returncode == 0
    return folder / "runs" / "paper"


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_every_score_and_its_interval_stand_in_the_text(run_folder):
    text = (run_folder / "methods.md").read_text()
    for row in rows(run_folder / "measures.csv"):
        if row["measure"] == "accuracy" and row["slice"] == "{}":
            low, high = 100 * float(row["low"]), 100 * float(row["high"])
            assert f"{row['candidate']} {100 * float(row['value']):.1f}% (95% CI {low:.1f} to {high:.1f}" in text


def test_a_difference_is_claimed_only_if_its_adjusted_p_shows_it(run_folder):
    text = (run_folder / "methods.md").read_text()
    verdicts = {}
    for row in rows(run_folder / "comparisons.csv"):
        (sentence,) = re.findall(rf"{row['a']} minus {row['b']} in accuracy: [^)]*\)\.", text)
        assert f"{100 * float(row['value']):+.1f} points" in sentence
        is_shown = "no difference shown" not in sentence
        assert is_shown == (float(row["p_adjusted"]) < 0.05)
        verdicts[frozenset((row["a"], row["b"]))] = is_shown
    assert verdicts[frozenset(("strong", "weak"))]
    assert not verdicts[frozenset(("equal", "strong"))]


def test_every_work_that_the_text_cites_has_its_entry_and_no_other_has(run_folder):
    cited = set(re.findall(r"\[@([\w-]+)\]", (run_folder / "methods.md").read_text()))
    listed = re.findall(r"(?m)^@\w+\{([\w-]+),", (run_folder / "methods.bib").read_text())
    assert len(listed) == len(set(listed))
    assert cited == set(listed)


def test_the_checklists_and_the_limitations_follow(run_folder):
    text = (run_folder / "methods.md").read_text()
    headings = re.findall(r"(?m)^## (.+)$", text)
    assert headings[:3] == ["Methods", "Results", "Limitations"]
    assert [heading.partition(":")[0] for heading in headings[3:]] == ["TRIPOD-LLM", "STARD-AI"]
    assert "simulated respondents" in text


@pytest.fixture(scope="module")
def starter_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half of the cases are for training, patients have two cases each, and open questions have no judge."""
    folder = tmp_path_factory.mktemp("starter")
    choice = {"id": "mcq", "kind": "choice", "prompt": "Which?", "options": ["a", "b", "c", "d"], "gold": 1}
    open_question = {"id": "open", "kind": "open", "prompt": "What?", "gold": "gout"}
    cases = [
        {
            "id": f"case-{n}",
            "cluster": f"patient-{n // 2}",
            "split": "train" if n % 4 < 2 else "test",
            "history": f"Patient {n}.",
            "questions": [choice, open_question],
        }
        for n in range(40)
    ]
    write_cases(folder / "cases", cases)
    (folder / "cases" / "manifest.json").write_text(
        json.dumps(
            {"name": "Gout_100", "license": "cc-by-4.0", "url": "https://example.org/a_b", "hub": "lab/gout@abc"}
        )
    )
    (folder / "study.toml").write_text(
        'name = "paper"\ncases = "cases"\ntrials = 3\n'
        '[conditions]\nconfidence = "votes"\nstem = ["full", "options-only"]\n'
        '[[candidates]]\nname = "one"\nprovider = "simulated"\nextra_body = { accuracy = 0.7 }\n'
    )
    assert wardround("run", "study.toml", cwd=folder).returncode == 0
    assert wardround("methods", "runs/paper", cwd=folder).returncode == 0
    return folder / "runs" / "paper"


def test_the_cases_are_those_that_were_asked_and_open_answers_without_a_judge_are_told(starter_run):
    text = (starter_run / "methods.md").read_text()
    assert "on 20 cases in 10 clusters with 40 questions (20 choice and 20 open)" in text
    assert "which has 40 cases with 80 questions; not all of it was asked (the case is for training" in text
    assert "Open answers were not scored." in text
    assert "hit@1: ." not in text


def test_each_condition_and_the_confidence_have_their_figures_with_intervals(starter_run):
    text = (starter_run / "methods.md").read_text()
    measures = {(row["measure"], row["slice"]): row for row in rows(starter_run / "measures.csv")}
    row = measures["accuracy", '{"stem":"options-only"}']
    low, high = 100 * float(row["low"]), 100 * float(row["high"])
    assert f"| options-only | {100 * float(row['value']):.1f} ({low:.1f} to {high:.1f}) |" in text
    shift = measures["calibration_shift", "{}"]
    assert f"above 0 is overconfidence): one {100 * float(shift['value']):.1f} points (95% CI " in text
    assert "could not be read: one 0.0% (95% CI 0.0 to" in text


def test_the_case_set_is_cited_from_the_manifest_beside_it(starter_run):
    entries = (starter_run / "methods.bib").read_text()
    assert "[@case-set]" in (starter_run / "methods.md").read_text()
    assert r"title = {{Gout\_100}}" in entries
    assert "note = {commit abc, licence cc-by-4.0}" in entries
    assert "url = {https://example.org/a_b}" in entries


def test_a_folder_that_is_no_run_is_one_line(tmp_path):
    result = wardround("methods", "nothing", cwd=tmp_path)
    assert result.returncode == 1
    assert len(result.stderr.strip().splitlines()) == 1
