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


def require_path(value: Any, wanted: str) -> Path:
    """The value as a path; anything but a path or a text is refused with what was expected."""
    if not isinstance(value, Path | str):
        raise WardroundError(f"expected {wanted} (a path or a text), not {show_value(value)}")
    return Path(value)


def show_value(value: Any) -> str:
    """A value of a wrong type, in short."""
    return "None" if value is None else f"{type(value).__name__} {str(value)[:60]!r}"


def describe_unreadable(error: Exception) -> str:
    """Why a file cannot be read or written, in words that say what to do."""
    if isinstance(error, UnicodeDecodeError):
        return f"is not UTF-8 text (byte {error.start + 1}); expected a text file, saved as UTF-8"
    if isinstance(error, IsADirectoryError):
        return "is a folder; expected a file"
    if isinstance(error, NotADirectoryError | FileExistsError):
        return "part of this path is a file; expected a folder"
    if isinstance(error, FileNotFoundError):
        return "there is no such file; check the path"
    if isinstance(error, PermissionError):
        return "this user may not open it; change its permissions or name another one"
    reason = error.strerror if isinstance(error, OSError) else None
    return f"cannot be read: {reason or (str(error).splitlines() or [type(error).__name__])[0]}"


class BadInput(WardroundError):
    """An input that cannot be used, with its Problem."""

    def __init__(self, file: Path, message: str, *, line: int | None = None, field: str | None = None) -> None:
        self.problem = Problem(file, line, field, message)
        super().__init__(str(self.problem))

    def __reduce__(self) -> tuple[Any, ...]:
        """For worker processes: an exception that cannot be unpickled would break their pool."""
        problem = self.problem
        return partial(type(self), line=problem.line, field=problem.field), (problem.file, problem.message)
