"""Every command line in a block of the docs names a command that exists, with options and arguments that it takes.

Also in blocks that are not run. Lines in the notation of usage (`[--json]`, `SOURCE...`) are checked for names alone.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from wardround.cli.main import root_command
from wardround.cli.shared_options import ListOptionCommand, repeat_flags

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FENCED = re.compile(r"^ *```\w*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ *(?:\$ )?wardround ((?:.*\\\n)*.*)", re.MULTILINE)
GLOBAL_OPTIONS = {"--help", "--version", "--plugins"}


def find_mistakes(page: str) -> list[str]:
    """What is wrong with the commands in the fenced blocks of a page."""
    root = root_command()
    commands = [line for block in FENCED.findall(page) for line in COMMAND.findall(block)]
    return [mistake for line in commands if (mistake := _mistake(root, line))]


def _mistake(command: Any, line: str) -> str | None:
    words = re.sub(r"(^|\s)#.*", "", line.replace("\\\n", " ")).split()
    depth = 0
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        if words[0] not in command.commands:
            return f"wardround {line}: there is no command {words[0]}"
        command, depth = command.commands[words.pop(0)], depth + 1
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    named = {found[0] for word in words if (found := re.match(r"--[a-z][a-z-]*", word.lstrip("[")))}
    unknown = sorted(named - options - GLOBAL_OPTIONS)
    if unknown:
        return f"wardround {line}: there is no option {', '.join(unknown)}"
    if re.search(r"\[|\.\.\.| > |\S {4}", line) or GLOBAL_OPTIONS & named:
        return None
    return _parse(command, line, depth)


def _parse(command: Any, line: str, depth: int) -> str | None:
    """What is wrong with the arguments of a command, as its own parser says; nothing is run."""
    words = shlex.split(line.replace("\\\n", " "), comments=True)[depth:]
    if isinstance(command, ListOptionCommand):
        lists = {
            flag for parameter in command.params if getattr(parameter, "multiple", False) for flag in parameter.opts
        }
        words = list(repeat_flags(words, lists))
    try:
        values, rest, _ = command.make_parser(command.context_class(command)).parse_args(words)
    except Exception as error:  # the parser's errors are those of the click that Typer includes
        return f"wardround {line}: {error}"
    missing = [parameter.name for parameter in command.params if parameter.required and not values.get(parameter.name)]
    if missing:
        return f"wardround {line}: {missing[0]} is missing"
    return f"wardround {line}: {rest[0]} is one argument too many" if rest else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_exist(page: Path) -> None:
    assert find_mistakes(page.read_text(encoding="utf-8")) == []


def test_a_wrong_command_and_a_wrong_option_are_found() -> None:
    commands = "wardround rum x.toml\nwardround run x.toml \\\n  --bach   # --comment\nwardround cases show A B\n"
    commands += "wardround cases import --guess\nwardround cases validate A B\nwardround run x.toml --batch --trials\n"
    page = f"```\n{commands}```\n"

    assert [mistake.partition(": ")[2] for mistake in find_mistakes(page)] == [
        "there is no command rum",
        "there is no option --bach",
        "table is missing",
        "B is one argument too many",
        "there is no option --trials",
    ]
