"""The ways in which something can go wrong, each with the exit code that the command line gives it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any


class WardroundError(Exception):
    """Bad input: one clear line for the person who gave it."""

    exit_code = 1


class Incomplete(WardroundError):
    """The run stopped before it was whole; what was answered is kept."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input: which file, line and field, and what was expected."""

    file: Path
    line: int | None
    field: str | None
    message: str

    def __str__(self) -> str:
        place = str(self.file)
        if self.line is not None:
            place += f":{self.line}"
        if self.field:
            place += f": {self.field}"
        return f"{place}: {self.message}"


class BadInput(WardroundError):
    """An input that cannot be used, said as a Problem."""

    def __init__(self, file: Path, message: str, *, line: int | None = None, field: str | None = None) -> None:
        self.problem = Problem(file, line, field, message)
        super().__init__(str(self.problem))

    def __reduce__(self) -> tuple[Any, ...]:
        """Worker processes raise it too: without this it could not be read back, and would break their pool."""
        told = self.problem
        return partial(type(self), line=told.line, field=told.field), (told.file, told.message)
