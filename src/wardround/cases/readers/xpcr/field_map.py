"""The field map of X-PCR's rows: what they call each of our fields, told by one small TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wardround.cases.readers.tables.json_file import Told
from wardround.core.errors import BadInput
from wardround.core.field_errors import complaints

Names = dict[str, list[str]]
SHIPPED = Path(str(files("wardround.cases.readers.xpcr"))) / "field_map.toml"
LETTERS = "ABCDEFGH"
_BETWEEN = re.compile(r"[\s_-]+")


class FieldMap(BaseModel):
    """By our name the names in the rows; and by our value the values of stage, task and level."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fields: Names = Field(default_factory=dict)
    stages: Names = Field(default_factory=dict)
    tasks: Names = Field(default_factory=dict)
    levels: Names = Field(default_factory=dict)
    ignore: list[str] = Field(default_factory=list)

    @cached_property
    def by_name(self) -> dict[str, str]:
        """Ours, by the plain name in a row."""
        return {plain(name): ours for ours, names in reversed(self.fields.items()) for name in names}

    @cached_property
    def _ignored(self) -> set[str]:
        return set(map(plain, self.ignore))

    @cached_property
    def _values(self) -> dict[str, dict[str, str]]:
        told = {"stage": self.stages, "task": self.tasks, "level": self.levels}
        return {
            kind: {plain(name): ours for ours, names in values.items() for name in names}
            for kind, values in told.items()
        }

    def read(self, row: Told) -> tuple[Told, Told]:
        """The fields of a row under our names, and those that nobody reads. Empty ones are left out."""
        told = {name: value for name, value in row.items() if value is not None and value != ""}
        by_plain = {plain(name): name for name in told}
        read: Told = {}
        for ours in dict.fromkeys(self.by_name[name] for name in by_plain if name in self.by_name):
            name = next(by_plain[each] for each in map(plain, self.fields[ours]) if each in by_plain)
            read[ours] = told.pop(name)
        if "options" not in read and {"a", "b"} <= by_plain.keys():
            read["options"] = {letter: told.pop(letter) for letter in LETTERS if letter in told}
        return read, {name: value for name, value in told.items() if plain(name) not in self._ignored}

    def value(self, kind: str, told: object) -> str:
        """A stage, task or level under our name. ValueError says which there are."""
        text = plain(str(told))
        known = self._values[kind]
        found = known.get(text) or known.get(plain(re.sub(r"\(.*\)", "", str(told))))
        if found is None and (inside := re.search(r"\((.+)\)", str(told))):
            found = known.get(plain(inside[1]))
        if found is None:
            close = get_close_matches(text, known, n=1)
            hint = f"; close to {known[close[0]]}" if close else ""
            raise ValueError(f"{told!r} is no {kind}: {', '.join(dict.fromkeys(known.values()))}{hint}")
        return found

    def near(self, name: str) -> str | None:
        """Our field whose usual names come close to this one."""
        close = get_close_matches(plain(name), self.by_name, n=1, cutoff=0.6)
        return self.by_name[close[0]] if close else None


@lru_cache(4096)  # a few names and values are met in every row
def plain(name: str) -> str:
    """A name for comparison."""
    return _BETWEEN.sub(" ", name.strip()).casefold()


def field_map(own: Path | None = None) -> FieldMap:
    """The shipped map, with the user's names before it."""
    shipped = _read(SHIPPED)
    if own is None:
        return shipped
    given = _read(own)
    if unknown := [name for name in given.fields if name not in shipped.fields]:
        close = get_close_matches(unknown[0], shipped.fields, n=1)
        hint = f"did you mean {close[0]}?" if close else f"the fields are {', '.join(shipped.fields)}"
        raise BadInput(own, f"is no field; {hint}", field=f"fields.{unknown[0]}")
    for table in ("stages", "tasks", "levels"):
        known: Mapping[str, Any] = getattr(shipped, table)
        if unknown := [name for name in getattr(given, table) if name not in known]:
            raise BadInput(own, f"is none of {', '.join(known)}", field=f"{table}.{unknown[0]}")
    both = {
        table: _joined(getattr(given, table), getattr(shipped, table))
        for table in ("fields", "stages", "tasks", "levels")
    }
    return FieldMap(**both, ignore=[*given.ignore, *shipped.ignore])


def _joined(first: Names, then: Names) -> Names:
    taken = {plain(name) for names in first.values() for name in names}
    return {
        ours: [*first.get(ours, []), *(name for name in names if plain(name) not in taken)]
        for ours, names in then.items()
    }


def _read(path: Path) -> FieldMap:
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(path, f"cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(path, f"is not TOML: {error}") from None
    for table in ("fields", "stages", "tasks", "levels"):
        if isinstance(told.get(table), dict):
            told[table] = {ours: _listed(names) for ours, names in told[table].items()}
    try:
        return FieldMap.model_validate(told)
    except ValidationError as error:
        field, message = complaints(error)[0]
        raise BadInput(path, message, field=field) from None


def _listed(names: Any) -> Any:
    return [names] if isinstance(names, str) else names
