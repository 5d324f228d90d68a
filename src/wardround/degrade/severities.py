"""The severity table: what L1 and L2 of each type are, and every severity between them.

A severity is a number from 0 (L0, untouched) over 1 (L1) to 2 (L2).
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from wardround.core.canonical import blake
from wardround.core.errors import BadInput, WardroundError
from wardround.degrade.types import TAXONOMY, TYPES

Space = Literal["display", "hu"]
Value = float | str
Severity = Mapping[str, Any]  # the parameters of one type at one severity: numbers, and words such as "nearest"

SHIPPED = Path(__file__).parent / "severities.toml"
CLINICAL, ESTIMATED = "clinical-1", "medq-deg-estimated"
LEVELS = {"L0": 0.0, "L1": 1.0, "L2": 2.0}
NUMBER = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True)
class Profile:
    """One named set of severities. `rows` is space -> type -> parameter -> its values at L0, L1 and L2."""

    name: str
    version: int
    rows: Mapping[str, Mapping[str, Mapping[str, tuple[Value, Value, Value]]]]

    def at(self, type: str, severity: float, space: Space = "display") -> dict[str, Value]:
        """The parameters of a type; where Hounsfield units have no row of their own, those of the display."""
        row = self.rows[space].get(type) or self.rows["display"][type]
        return {name: between(levels, severity) for name, levels in row.items()}

    @property
    def hash(self) -> str:
        return blake({"version": self.version, "rows": self.rows}).hex()


def between(levels: tuple[Value, Value, Value], severity: float) -> Value:
    """Between two levels: by ratio where all three numbers are above zero, else by difference."""
    if any(isinstance(value, str) for value in levels) or severity in (0.0, 1.0, 2.0):
        return levels[int(severity)]
    low, high = (float(levels[int(severity) + step]) for step in (0, 1))
    part = severity - int(severity)
    if min(float(value) for value in levels) > 0:
        return math.exp((1 - part) * math.log(low) + part * math.log(high))
    return low + part * (high - low)


def severity_number(text: str | float) -> float:
    """L0, L1, L2 or a number from 0 to 2."""
    number = LEVELS.get(text) if isinstance(text, str) else float(text)
    if number is None and isinstance(text, str) and NUMBER.fullmatch(text):
        number = float(text)
    if number is None or not 0.0 <= number <= 2.0:
        raise WardroundError(f"severity {text!r}: expected L0, L1, L2 or a number from 0 to 2 (1 is L1, 2 is L2)")
    return number


@lru_cache(16)
def profile_named(text: str = CLINICAL, folder: Path = Path()) -> Profile:
    """A profile of the shipped table (NAME), or of a table of one's own in the folder (FILE.toml or FILE.toml:NAME)."""
    file, name = SHIPPED, text
    if ".toml" in text:
        head, _, tail = text.rpartition(".toml")
        file, name = folder / f"{head}.toml", tail.removeprefix(":")
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(file, "there is no such severity table") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(file, f"is not TOML: {error}") from None
    if not name and len(table) == 1:
        name = next(iter(table))
    if not isinstance(table.get(name), dict):
        raise WardroundError(f"there is no severity profile {text!r}; there are {', '.join(table) or 'none'}")
    return _Reading(file, name).profile(table[name])


@dataclass(frozen=True)
class _Reading:
    """Reads one profile; what is wrong with it is said with the file and the field."""

    file: Path
    name: str

    def profile(self, told: dict[str, Any]) -> Profile:
        version = told.get("version")
        if not isinstance(version, int):
            raise self._wrong("version", "expected a whole number")
        for key in told.keys() - {"version", "display", "hu"}:
            raise self._wrong(key, "unknown key; a profile has version, display and hu")
        rows = {
            space: {type: self._row(space, type, row) for type, row in told.get(space, {}).items()}
            for space in ("display", "hu")
        }
        for type in TYPES:
            if type not in rows["display"]:
                raise self._wrong(f"display.{type}", "is missing")
        return Profile(self.name, version, rows)

    def _row(self, space: str, type: str, row: Any) -> dict[str, tuple[Value, Value, Value]]:
        place = f"{space}.{type}"
        if type not in TAXONOMY:
            raise self._wrong(place, f"is not one of the types {', '.join(TYPES)}")
        wanted = [set(names.split("|")) for names in TAXONOMY[type].parameters]
        known = set[str]().union(*wanted)
        if not isinstance(row, dict) or row.keys() - known or any(len(names & row.keys()) != 1 for names in wanted):
            expected = ", ".join(" or ".join(sorted(names)) for names in wanted)
            raise self._wrong(place, f"expected the parameters {expected}")
        return {key: self._levels(f"{place}.{key}", value) for key, value in row.items()}

    def _levels(self, place: str, value: Any) -> tuple[Value, Value, Value]:
        if isinstance(value, str):
            return value, value, value
        numbers = value if isinstance(value, list) else [value] * 3
        if len(numbers) != 3 or not all(type(each) in (int, float) and math.isfinite(each) for each in numbers):
            raise self._wrong(place, "expected a number, a word, or three numbers: at L0, L1 and L2")
        low, mild, high = map(float, numbers)
        return low, mild, high

    def _wrong(self, place: str, message: str) -> BadInput:
        return BadInput(self.file, message, field=f"{self.name}.{place}")
