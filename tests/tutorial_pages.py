"""Reads the blocks of a tutorial and follows them as a newcomer would. CONTRIBUTING.md states the convention.

`python tests/tutorial_pages.py PAGE...` follows pages and writes into them what was printed.
"""

from __future__ import annotations

import io
import os
import re
import runpy
import shlex
import sys
import tempfile
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from exam_study import wardround

BLOCK = re.compile(
    r"^(?P<mark><!-- not run: (?P<reason>.+?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
FILE_NAME = re.compile(r"# ([\w.-]+\.(?:toml|py|csv))\n")
ANYTHING = "..."


@dataclass(frozen=True)
class Step:
    """A command with the output that the page shows, or a file to write."""

    line: int  # of the page
    command: str = ""
    output: str = ""
    file: str = ""
    text: str = ""


def read_steps(page: str) -> list[Step]:
    """The steps of a page in order. A block of commands that is neither run nor marked is an error."""
    steps: list[Step] = []
    for block in BLOCK.finditer(page):
        text, line = block["text"], page.count("\n", 0, block.start("text")) + 1
        if block["reason"]:
            continue
        if block["language"] == "console":
            steps += _commands(text, line)
        elif named := FILE_NAME.match(text):
            steps.append(Step(line, file=named[1], text=text))
        elif not block["language"] or block["language"] in ("sh", "bash", "python"):
            raise ValueError(f"line {line}: expected a block `console`, the name of a file, or a mark `not run`")
    return steps


def _commands(text: str, first_line: int) -> list[Step]:
    if not text.startswith("$ "):
        raise ValueError(f"line {first_line}: expected `$ ` and a command")
    steps = []
    for part in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        line = first_line + text.count("\n", 0, part.start())
        steps.append(Step(line, command=part[1], output=part[2]))
    return steps


def follow(step: Step, folder: Path) -> str:
    """Does what a step says in a folder, and returns what a command printed on stdout."""
    if step.file:
        (folder / step.file).write_text(step.text, encoding="utf-8")
        return ""
    program, *arguments = shlex.split(step.command)
    if program == "python":
        return _run_script(arguments[0], folder)
    if program != "wardround":
        raise ValueError(f"line {step.line}: {program} is not wardround or python")
    ended = wardround(*arguments, cwd=folder)
    if ended.returncode != 0:
        raise AssertionError(f"line {step.line}: {step.command} ended with {ended.returncode}: {ended.stderr}")
    return ended.stdout


def _run_script(name: str, folder: Path) -> str:
    outer, printed = Path.cwd(), io.StringIO()
    os.chdir(folder)
    try:
        with redirect_stdout(printed):
            runpy.run_path(name, run_name="__main__")
    finally:
        os.chdir(outer)
    return printed.getvalue()


def fits(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed; `...` stands for any text, alone on a line for any lines."""
    lines = [line.rstrip() for line in printed.splitlines()]
    parts = []
    for line in shown.splitlines():
        if line.strip() == ANYTHING:
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r"[^\n]*".join(re.escape(piece) for piece in line.rstrip().split(ANYTHING)) + r"\n")
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in lines)) is not None


def rewrite(file: Path) -> None:
    """Follows a page and replaces the outputs that no longer fit."""
    page = file.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for step in read_steps(page):
            printed = "".join(f"{line.rstrip()}\n" for line in follow(step, Path(folder)).splitlines())
            if step.command and not fits(step.output, printed):
                shown = f"$ {step.command}\n"
                page = page.replace(f"{shown}{step.output}", f"{shown}{printed}", 1)
    file.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))
