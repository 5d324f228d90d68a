"""The text of a paper holds the figures of the run's tables, and claims no difference that its test does not show."""

from __future__ import annotations

import csv
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


def test_a_folder_that_is_no_run_is_one_line(tmp_path):
    result = wardround("methods", "nothing", cwd=tmp_path)
    assert result.returncode == 1
    assert len(result.stderr.strip().splitlines()) == 1
