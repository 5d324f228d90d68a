"""The errors that users see, each with its exit code."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any


class WardroundError(Exception):
    """Bad input, described in one line."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of an input: file, line, field, and what was expected."""

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
    """An input that cannot be used, with its Problem."""

    def __init__(self, file: Path, message: str, *, line: int | None = None, field: str | None = None) -> None:
        self.problem = Problem(file, line, field, message)
        super().__init__(str(self.problem))

    def __reduce__(self) -> tuple[Any, ...]:
        """For worker processes: an exception that cannot be unpickled would break their pool."""
        problem = self.problem
        return partial(type(self), line=problem.line, field=problem.field), (problem.file, problem.message)
