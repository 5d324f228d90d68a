"""docs/reference/files.md names every column of a run's tables, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from exam_study import wardround, write_cases

from wardround.marking.marks import MARKS_SCHEMA
from wardround.running.used_answers import DOCUMENT_SCHEMA, EVIDENCE_SCHEMA

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "files.md"


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    question = {"id": "mcq", "kind": "choice", "prompt": "Which?", "options": ["a", "b"], "gold": 1}
    write_cases(folder / "cases", [{"id": f"case-{n}", "history": "Ill.", "questions": [question]} for n in range(9)])
    candidates = [f'[[candidates]]\nname = "{name}"\nprovider = "{name}"\n' for name in ("random", "position")]
    families = '[comparisons]\nall = { measure = "accuracy", between = "candidate", reference = "random" }\n'
    (folder / "study.toml").write_text("\n".join(['name = "exam"\ncases = "cases"\n', *candidates, families]))
    assert wardround("run", "study.toml", cwd=folder).returncode == 0
    return folder / "runs" / "exam"


def columns_in_section(title: str) -> set[str]:
    """The names in the first column of a section's table."""
    section = PAGE.read_text(encoding="utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"(?m)^\| (`.+?) \|", section)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize("name", ["marks.parquet", "used.parquet", "measures.csv", "comparisons.csv"])
def test_the_columns_of_a_run_are_those_of_the_page(run_folder: Path, name: str) -> None:
    file = run_folder / name
    table = pl.read_csv(file) if name.endswith(".csv") else pl.read_parquet(file)
    assert columns_in_section(name) == set(table.columns)


def test_the_columns_of_the_schemas_are_those_of_the_page() -> None:
    assert columns_in_section("marks.parquet") == set(MARKS_SCHEMA)
    assert columns_in_section("evidence.parquet and documents.parquet") == set(EVIDENCE_SCHEMA)
    (sentence,) = re.findall(r"documents\.parquet has (.+)\.", PAGE.read_text(encoding="utf-8"))
    assert set(re.findall(r"`(\w+)`", sentence)) == set(DOCUMENT_SCHEMA)
