"""The example of docs/rubrics.md gives the figures that the page names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
from exam_study import wardround

PAGE = Path(__file__).parents[2] / "docs" / "rubrics.md"


def test_the_example_gives_the_figures_of_the_page(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    case = json.loads(re.findall(r"```json\n(.*?)```", page, re.S)[0])
    study = next(block for block in re.findall(r"```toml\n(.*?)```", page, re.S) if block.startswith("name"))
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "cases.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    (tmp_path / "study.toml").write_text(study, encoding="utf-8")

    ended = wardround("run", "study.toml", cwd=tmp_path)

    assert ended.returncode == 0, ended.stderr
    measures = pl.read_csv(tmp_path / "runs" / "rubrics" / "measures.csv").filter(slice="{}")
    figures = {(row["measure"], row["candidate"]): row["value"] for row in measures.to_dicts()}
    assert figures["rubric_score", "careful"] == 1.0
    assert figures["rubric_score", "careless"] == 0.0
    assert figures["rubric_score_unclipped", "careless"] == -0.8
    assert "-0.8 for `careless`" in page
