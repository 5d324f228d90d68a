"""The item tables of TRIPOD-LLM and STARD-AI, filled from a run."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich_run import Rich
from simulated_run import write_run

from wardround.core.errors import WardroundError
from wardround.pipeline import checklist_of_run
from wardround.reporting.checklists.checklist import (
    CHECKLISTS,
    Checklist,
    ChecklistItem,
    checklist_text,
    load_checklist,
)
from wardround.reporting.checklists.run_facts import FACTS


def numbers(name: str) -> list[str]:
    return [item.number for item in load_checklist(name).items]


def test_the_numbers_are_those_of_the_guidelines() -> None:
    """TRIPOD-LLM has 19 main items; of these 2 is the abstract's own list. STARD-AI has 40 items in 48 rows."""
    tripod, stard = numbers("tripod-llm"), numbers("stard-ai")

    assert [int(re.match(r"\d+", number)[0]) for number in dict.fromkeys(n.rstrip("abcdefg") for n in tripod)] == list(
        range(1, 20)
    )
    assert [int(n) for n in dict.fromkeys(n.rstrip("abcd") for n in stard)] == list(range(1, 41))
    assert (len(stard), len(set(stard)), len(set(tripod))) == (48, 48, len(tripod))


@pytest.mark.parametrize("name", CHECKLISTS)
def test_every_item_is_known_or_left_to_the_author(name: str) -> None:
    for item in load_checklist(name).items:
        assert item.known or item.add, item.number
        assert set(item.known) <= set(FACTS), item.number


@pytest.mark.parametrize("name", CHECKLISTS)
def test_a_run_fills_what_it_knows(rich: Rich, name: str, tmp_path: Path) -> None:
    text = checklist_of_run([rich.run.folder], name, tmp_path / "items.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if re.match(r"\| \d", line)]

    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == numbers(name)
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 6 for row in rows)
    for candidate in rich.run.candidates:
        assert candidate in text
    line = rich.run.find_line("accuracy", rich.run.candidates[0], {})
    assert line is not None
    assert f"{line.candidate} {100 * line.value:.1f} ({100 * line.low:.1f} to {100 * line.high:.1f})" in text


def test_a_name_with_a_bar_keeps_the_table_whole(tmp_path: Path) -> None:
    write_run(tmp_path / "run", rename={"random": "ran|dom"})
    text = checklist_of_run([tmp_path / "run"], "stard-ai").read_text(encoding="utf-8")

    assert "ran\\|dom" in text
    assert (tmp_path / "run" / "stard-ai.md").is_file()


def test_an_incomplete_run_says_so(rich: Rich) -> None:
    list_of_one = Checklist(title="T", source="S", items=[ChecklistItem(number="1", section="a", topic="b", add="c")])
    unfinished = replace(rich.run, manifest={**rich.run.manifest, "status": "incomplete"})

    assert "**The run is incomplete.**" in checklist_text(unfinished, list_of_one)
    assert "incomplete" not in checklist_text(rich.run, list_of_one)


def test_an_unknown_checklist_and_several_runs_are_refused(rich: Rich) -> None:
    with pytest.raises(WardroundError, match="expected one of tripod-llm, stard-ai"):
        checklist_of_run([rich.run.folder], "consort")
    with pytest.raises(WardroundError, match="about one run; 2 were named"):
        checklist_of_run([rich.run.folder] * 2, "stard-ai")


def test_marks_and_cases_are_counted_at_the_reference_condition(rich: Rich) -> None:
    """The run has two prompts, of which the first is the reference: half of all marks."""
    flow, name = FACTS["flow"](rich.run), rich.run.candidates[0]
    at_reference = rich.marks.filter(pl.col("condition").str.contains('"prompt":"paper"'), candidate=name)
    counts = dict(at_reference.group_by("outcome").len().rows())

    assert "marks at the reference condition (3 trials): " in flow
    assert f"{name} right {counts['right']:,}, wrong {counts['wrong']:,}" in flow
    assert sum(counts.values()) * 2 == len(rich.marks.filter(candidate=name))
