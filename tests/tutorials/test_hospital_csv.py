"""The tutorial of a hospital's CSV: its commands, run as written, end with an audited set and a report."""

from __future__ import annotations

import json
from pathlib import Path

from covid_table import write_covid_table
from exam_study import wardround
from tutorial_blocks import tutorial_commands, tutorial_files

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "hospital-csv.md"


def test_three_commands_make_an_audited_set_and_a_report_of_300_rows(tmp_path):
    table = write_covid_table(tmp_path)
    assert len(table.read_text().splitlines()) == 301
    for name, text in tutorial_files(PAGE).items():
        (tmp_path / name).write_text(text)

    commands = tutorial_commands(PAGE)
    results = [wardround(*arguments, cwd=tmp_path) for arguments, _ in commands]

    assert [arguments[:2] for arguments, _ in commands] == [
        ["build", "table"],
        ["run", "study.toml"],
        ["report", "runs/hospital"],
    ]
    for (_, shown), result in zip(commands, results, strict=True):
        assert result.returncode == 0, result.stderr
        assert shown.strip() in result.stdout
    cases = [json.loads(line) for line in (tmp_path / "cases/cases.jsonl").read_text().splitlines()]
    assert len(cases) == 280  # 300 rows less 12 Unknown and 8 todo
    assert sum(len(case["questions"]) == 2 for case in cases) == 280 - 24  # CT has one diagnosis only
    assert (tmp_path / "cases/audit/audit.html").is_file()
    assert json.loads((tmp_path / "cases/audit/audit.json").read_text())["cases"]
    assert "COVID-19 pneumonia" not in " ".join(case["history"] for case in cases)
    report = (tmp_path / "runs/hospital/report.html").read_text()
    assert all(name in report for name in ("random", "position", "longest", "overlap"))
