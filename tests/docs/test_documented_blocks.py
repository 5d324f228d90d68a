"""Every block of commands in README.md and docs/ is run here, or a mark before it says why not.

A block is run in a folder with a table of questions, a study, candidates that need no server, and what the blocks of
README.md made of them. `<!-- not run: reason -->` on the line before a block leaves it out. Tutorials are followed by
tests/tutorials/test_tutorials.py, with what they print.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from exam_study import wardround

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "tutorials")]
BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n)? *```(?P<language>\w*)\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL
)
COMMAND = re.compile(r"^ *(?:\$ )?wardround\b", re.MULTILINE)
SHELLS = ("", "console", "sh", "bash")
STARTS_ANEW = {"import.md"}  # it makes my-cases itself, as README.md does
QUESTIONS = [
    ("Which organ makes insulin?", "liver", "pancreas", "spleen", "B"),
    ("Which vessel carries blood to the lungs?", "pulmonary artery", "aorta", "portal vein", "A"),
    ("Which bone is in the thigh?", "tibia", "ulna", "femur", "C"),
    ("Which cell carries oxygen?", "neuron", "red cell", "platelet", "B"),
    ("Which nerve moves the diaphragm?", "phrenic nerve", "vagus nerve", "facial nerve", "A"),
    ("Which part of the eye focuses light?", "iris", "sclera", "lens", "C"),
]
CANDIDATES = '[[candidates]]\nname = "first"\nprovider = "simulated"\nextra_body = { accuracy = 0.7 }\n'


@dataclass(frozen=True)
class CommandBlock:
    """A block of commands, and why it is not run."""

    line: int
    text: str
    reason: str | None


def read_blocks(page: str) -> list[CommandBlock]:
    """The blocks of a page with commands of wardround. A reason after a mark must be given."""
    blocks = []
    for match in BLOCK.finditer(page):
        if match["language"] in SHELLS and COMMAND.search(match["text"]):
            line = page.count("\n", 0, match.start("text")) + 1
            blocks.append(CommandBlock(line, match["text"], match["reason"]))
    return blocks


def follow_block(block: CommandBlock, folder: Path) -> list[str]:
    """Runs the commands of a block; returns what went wrong."""
    mistakes = []
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line.strip().removeprefix("$ "), comments=True)
        if not words or _waits_for_a_browser(words):
            continue
        if words[0] != "wardround":
            mistakes.append(f"line {block.line}: {words[0]} is not wardround; mark the block as not run")
            continue
        words, output = (words[: words.index(">")], words[-1]) if ">" in words else (words, None)
        ended = wardround(*words[1:], cwd=folder)
        if ended.returncode:
            mistakes.append(f"line {block.line}: {line.strip()} ended with {ended.returncode}: {ended.stderr[-600:]}")
        if output:
            (folder / output).write_text(ended.stdout)
    return mistakes


def _waits_for_a_browser(words: list[str]) -> bool:
    return words[1:2] == ["view"] and "--export" not in words


def prepare(folder: Path) -> Path:
    """A folder with what the pages' commands name."""
    folder.mkdir()
    rows = ["question,A,B,C,answer", *(",".join(row) for row in QUESTIONS)]
    (folder / "questions.csv").write_text("\n".join(rows) + "\n")
    (folder / "study.toml").write_text(f'name = "exam"\ncases = "my-cases"\n\n{CANDIDATES}')
    (folder / "candidates.toml").write_text(CANDIDATES)
    return folder


@pytest.fixture(scope="module")
def followed_readme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder after all blocks of README.md, and with the starter set."""
    folder = prepare(tmp_path_factory.mktemp("blocks") / "readme")
    mistakes = [mistake for block in _run_blocks(README) for mistake in follow_block(block, folder)]
    assert mistakes == []
    assert wardround("build", "starter", cwd=folder).returncode == 0
    return folder


def _run_blocks(page: Path) -> Iterator[CommandBlock]:
    return (block for block in read_blocks(page.read_text(encoding="utf-8")) if block.reason is None)


RUN_PAGES = [page for page in PAGES if page != README and any(_run_blocks(page))]


@pytest.mark.parametrize("page", RUN_PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_work(page: Path, followed_readme: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    if page.name in STARTS_ANEW:
        prepare(folder)
    else:
        shutil.copytree(followed_readme, folder)

    mistakes = [mistake for block in _run_blocks(page) for mistake in follow_block(block, folder)]

    assert mistakes == []


def test_the_readme_made_cases_and_a_report(followed_readme: Path) -> None:
    assert (followed_readme / "my-cases/cases.jsonl").is_file()
    assert (followed_readme / "runs/exam/report.html").is_file()


def test_a_block_that_fails_or_is_not_wardround_is_found(tmp_path: Path) -> None:
    page = (
        "```\nwardround cases validate gone   # a comment\nmake test && wardround run\n```\n"
        "<!-- not run: needs a server -->\n```\nwardround desk --root DIR\n```\n"
        "```toml\nwardround = 1\n```\n"
    )
    first, second = read_blocks(page)

    mistakes = follow_block(first, tmp_path)

    assert second.reason == "needs a server"
    assert "line 2: wardround cases validate gone   # a comment ended with 1" in mistakes[0]
    assert mistakes[1] == "line 2: make is not wardround; mark the block as not run"
