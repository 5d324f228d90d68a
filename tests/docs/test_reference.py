"""docs/reference/ says what the code says."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
from exam_study import wardround

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from write_reference import FOLDER, MEANINGS, reference_pages, study_keys_page  # noqa: E402


@pytest.mark.parametrize("name", ["commands.md", "study-keys.md"])
def test_the_reference_is_up_to_date(name: str) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")

    assert written == reference_pages()[name], "docs/reference is out of date: run python tools/write_reference.py"


def test_every_command_that_help_lists_is_in_the_reference(tmp_path: Path) -> None:
    page = (FOLDER / "commands.md").read_text(encoding="utf-8")
    box = wardround("--help", cwd=tmp_path, COLUMNS="200").stdout.partition("Commands")[2]

    names = [line.split()[1] for line in box.splitlines() if line.startswith("│ ") and line[2] != " "]

    assert len(names) > 20
    assert [name for name in names if f"\n## `wardround {name}`\n" not in page] == []


def test_a_key_without_a_meaning_is_refused() -> None:
    meanings = tomllib.loads(MEANINGS.read_text(encoding="utf-8"))
    del meanings["budget"]["money"]

    with pytest.raises(SystemExit, match=r"\[budget\] and the code differ in money"):
        study_keys_page(meanings)
