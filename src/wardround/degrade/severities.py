"""The severity table: what L1 and L2 of each type are, and every severity between them.

A severity is a number from 0 (L0, untouched) over 1 (L1) to 2 (L2).
"""

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from wardround.core.canonical import blake
from wardround.core.errors import BadInput, WardroundError
from wardround.degrade.bands import band_problem
from wardround.degrade.custom import custom_degradation, custom_names, parse_levels
from wardround.degrade.signature import LevelValues, Value
from wardround.degrade.types import BUILT_IN, check_plugin_names, degradation_type

Space = Literal["display", "hu"]

SHIPPED_TABLE = Path(__file__).parent / "severities.toml"
CLINICAL, ESTIMATED = "clinical-1", "medq-deg-estimated"
LEVELS = {"L0": 0.0, "L1": 1.0, "L2": 2.0}
NUMBER = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True)
class Profile:
    """One named set of severities. `rows` is space -> type -> parameter -> its values at L0, L1 and L2."""

    name: str
    version: int
    rows: Mapping[str, Mapping[str, Mapping[str, LevelValues]]]
    bands: Mapping[str, Any] = field(default_factory=dict)  # what a copy must be to stand for its level (bands.py)

    def at(self, type: str, severity: float, space: Space = "display") -> dict[str, Value]:
        """The parameters of a type at a severity, from its row for the space, its row for the display, or its plug-in.

        A profile may leave types out: a built-in type without a row is refused here.
        """
        row = self.rows[space].get(type) or self.rows["display"].get(type)
        if row is None:
            custom = None if type in BUILT_IN else custom_degradation(type)
            if custom is None:
                raise WardroundError(
                    f"severity profile {self.name!r} has no row for {type}; add it to [{self.name}.display]"
                )
            row = custom.levels()
        return {name: interpolate(levels, severity) for name, levels in row.items()}

    @property
    def hash(self) -> str:
        return blake({"version": self.version, "rows": self.rows}).hex()


def interpolate(levels: LevelValues, severity: float) -> Value:
    """Between two levels: by ratio where all three numbers are above zero, else by difference."""
    if any(isinstance(value, str) for value in levels) or severity in (0.0, 1.0, 2.0):
        return levels[int(severity)]
    low, high = (float(levels[int(severity) + step]) for step in (0, 1))
    part = severity - int(severity)
    if min(float(value) for value in levels) > 0:
        return math.exp((1 - part) * math.log(low) + part * math.log(high))
    return low + part * (high - low)


def parse_severity(text: str | float) -> float:
    """L0, L1, L2 or a number from 0 to 2."""
    number = LEVELS.get(text) if isinstance(text, str) else float(text)
    if number is None and isinstance(text, str) and NUMBER.fullmatch(text):
        number = float(text)
    if number is None or not 0.0 <= number <= 2.0:
        raise WardroundError(f"severity {text!r}: expected L0, L1, L2 or a number from 0 to 2 (1 is L1, 2 is L2)")
    return number


@lru_cache(16)
def load_profile(text: str = CLINICAL, folder: Path = Path()) -> Profile:
    """A profile of the shipped table (NAME), or of a table of one's own in the folder (FILE.toml or FILE.toml:NAME)."""
    check_plugin_names()
    file, name = SHIPPED_TABLE, text
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
    return _ProfileReader(file, name).profile(table[name])


@dataclass(frozen=True)
class _ProfileReader:
    """Reads one profile; an error names the file and the field."""

    file: Path
    name: str

    def profile(self, table: dict[str, Any]) -> Profile:
        version = table.get("version")
        if not isinstance(version, int):
            raise self._error("version", "expected a whole number")
        for key in table.keys() - {"version", "display", "hu", "bands"}:
            raise self._error(key, "unknown key; a profile has version, display, hu and bands")
        bands = table.get("bands", {})
        if bands and (problem := band_problem(bands)) is not None:
            raise self._error("bands", problem)
        rows = {
            space: {type: self._row(space, type, row) for type, row in table.get(space, {}).items()}
            for space in ("display", "hu")
        }
        return Profile(self.name, version, rows, bands)

    def _row(self, space: str, type: str, row: Any) -> dict[str, LevelValues]:
        field = f"{space}.{type}"
        if type not in BUILT_IN and custom_degradation(type) is None:
            raise self._error(field, f"is not one of the types {', '.join((*BUILT_IN, *custom_names()))}")
        parameters = degradation_type(type).parameters
        alternatives = [set(names.split("|")) for names in parameters if not names.endswith("?")]
        optional = {name.removesuffix("?") for name in parameters if name.endswith("?")}
        known = optional.union(*alternatives)
        if (
            not isinstance(row, dict)
            or row.keys() - known
            or any(len(names & row.keys()) != 1 for names in alternatives)
        ):
            expected = ", ".join(
                [
                    *(" or ".join(sorted(names)) for names in alternatives),
                    *sorted(f"{name} (optional)" for name in optional),
                ]
            )
            raise self._error(field, f"expected the parameters {expected}")
        return {key: self._levels(f"{field}.{key}", value) for key, value in row.items()}

    def _levels(self, field: str, value: Any) -> LevelValues:
        try:
            return parse_levels(value)
        except ValueError as error:
            raise self._error(field, str(error)) from None

    def _error(self, field: str, message: str) -> BadInput:
        return BadInput(self.file, message, field=f"{self.name}.{field}")
