"""Every command of docs/tutorials/ works, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tutorial_pages import Step, fits, follow, read_steps

from wardround.core.study import load_study

PAGES = Path(__file__).parents[2] / "docs/tutorials"
TRIED_ELSEWHERE = {"hospital-csv.md"}  # it needs a table of a hospital, which its own test makes


NAMES = sorted({file.name for file in PAGES.glob("*.md")} - TRIED_ELSEWHERE)


@pytest.mark.parametrize("name", NAMES)
def test_a_tutorial_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    for step in read_steps((PAGES / name).read_text(encoding="utf-8")):
        printed = follow(step, tmp_path)
        if step.command:
            where = f"docs/tutorials/{name}, line {step.line}: `{step.command}` prints"
            assert fits(step.output, printed), f"{where}\n{printed}\nand the page shows\n{step.output}"


@pytest.mark.parametrize("name", NAMES)
def test_the_study_of_a_tutorial_can_be_read(name: str, tmp_path: Path) -> None:
    """Also of the pages whose commands are not run."""
    for step in read_steps((PAGES / name).read_text(encoding="utf-8")):
        if step.file == "study.toml":
            follow(step, tmp_path)
            assert load_study(tmp_path / step.file).candidates


def test_a_changed_figure_does_not_fit_and_a_marked_one_does() -> None:
    printed = "first line\naccuracy 0.75 in 3 s\na\nb\nlast\n"

    assert fits(printed, printed)
    assert fits("first line\naccuracy 0.75 in ... s\n...\nlast\n", printed)
    assert not fits("first line\naccuracy 0.76 in ... s\n...\nlast\n", printed)
    assert not fits("first line\n", printed)


def test_a_block_is_a_step_unless_it_is_marked() -> None:
    page = (
        "```toml\n# study.toml\nname = 1\n```\n"
        "<!-- not run: needs a server -->\n```console\n$ wardround run x.toml\n```\n"
        "```console\n$ wardround --version\nwardround 1\n$ wardround plugins\n```\n"
    )

    assert read_steps(page) == [
        Step(2, file="study.toml", text="# study.toml\nname = 1\n"),
        Step(10, command="wardround --version", output="wardround 1\n"),
        Step(12, command="wardround plugins"),
    ]


@pytest.mark.parametrize("block", ["```\nwardround run\n```\n", "```console\nwardround run\n```\n"])
def test_a_command_that_is_neither_run_nor_marked_is_refused(block: str) -> None:
    with pytest.raises(ValueError, match="line 2: expected"):
        read_steps(block)
