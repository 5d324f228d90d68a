"""The TOML files of this folder: lists of regular expressions, joined as alternatives."""

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_vocabulary(file: str) -> dict[str, Any]:
    """The tables of a file beside this one."""
    return tomllib.loads(files(__package__).joinpath(file).read_text(encoding="utf-8"))


def one_of(phrases: Iterable[str]) -> str:
    """A pattern that matches any of these."""
    return f"(?:{'|'.join(phrases)})"
