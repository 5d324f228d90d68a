"""The fenced blocks of a tutorial: files to write, commands to run, and the output shown after a command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\S+\.toml)\n")


def tutorial_files(page: Path) -> dict[str, str]:
    """The content of each TOML block that begins with its file's name."""
    blocks = [body for kind, body in _BLOCK.findall(page.read_text()) if kind == "toml"]
    return {match[1]: body for body in blocks if (match := _FILE.match(body))}


def tutorial_commands(page: Path) -> list[tuple[list[str], str]]:
    """The arguments of each `wardround` command, with the output that the page shows below it."""
    blocks = [body for kind, body in _BLOCK.findall(page.read_text()) if not kind]
    commands: list[tuple[list[str], str]] = []
    for body in blocks:
        if body.startswith("wardround "):
            commands += [(shlex.split(line, comments=True)[1:], "") for line in body.splitlines()]
        else:
            commands[-1] = (commands[-1][0], body)
    return commands
