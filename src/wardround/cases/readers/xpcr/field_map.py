"""The field map of X-PCR's rows: a small TOML file with what rows call each of our fields."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import Field

from wardround.cases.readers.tables.json_file import JsonObject
from wardround.core.errors import BadInput
from wardround.core.text import LETTERS
from wardround.core.toml_table import StrictTable, parse_table, read_toml

Names = dict[str, list[str]]
SHIPPED = Path(str(files("wardround.cases.readers.xpcr"))) / "field_map.toml"
OPTION_LETTERS = LETTERS[:8]
TABLES = ("fields", "stages", "tasks", "levels")
_SEPARATOR = re.compile(r"[\s_-]+")


class FieldMap(StrictTable):
    """The names in the rows by our name, and the values of stage, task and level by our value."""

    fields: Names = Field(default_factory=dict)
    stages: Names = Field(default_factory=dict)
    tasks: Names = Field(default_factory=dict)
    levels: Names = Field(default_factory=dict)
    ignore: list[str] = Field(default_factory=list)

    @cached_property
    def by_name(self) -> dict[str, str]:
        """Our names by the folded name in a row."""
        return {fold_field_name(name): ours for ours, names in reversed(self.fields.items()) for name in names}

    @cached_property
    def _ignored(self) -> set[str]:
        return set(map(fold_field_name, self.ignore))

    @cached_property
    def _values(self) -> dict[str, dict[str, str]]:
        tables = {"stage": self.stages, "task": self.tasks, "level": self.levels}
        return {
            kind: {fold_field_name(name): ours for ours, names in values.items() for name in names}
            for kind, values in tables.items()
        }

    def read(self, row: JsonObject) -> tuple[JsonObject, JsonObject]:
        """The fields of a row under our names, and the other fields; without empty ones."""
        extra = {name: value for name, value in row.items() if value is not None and value != ""}
        name_by_folded = {fold_field_name(name): name for name in extra}
        fields: JsonObject = {}
        for ours in dict.fromkeys(self.by_name[name] for name in name_by_folded if name in self.by_name):
            folded = map(fold_field_name, self.fields[ours])
            fields[ours] = extra.pop(next(name_by_folded[name] for name in folded if name in name_by_folded))
        if "options" not in fields and {"a", "b"} <= name_by_folded.keys():
            fields["options"] = {letter: extra.pop(letter) for letter in OPTION_LETTERS if letter in extra}
        return fields, {name: value for name, value in extra.items() if fold_field_name(name) not in self._ignored}

    def value(self, kind: str, value: object) -> str:
        """A stage, task or level under our name. ValueError lists those that there are."""
        text = fold_field_name(str(value))
        known = self._values[kind]
        ours = known.get(text) or known.get(fold_field_name(re.sub(r"\(.*\)", "", str(value))))
        if ours is None and (brackets := re.search(r"\((.+)\)", str(value))):
            ours = known.get(fold_field_name(brackets[1]))
        if ours is None:
            close = get_close_matches(text, known, n=1)
            hint = f"; did you mean {known[close[0]]}?" if close else ""
            raise ValueError(f"{value!r} is not a {kind}: {', '.join(dict.fromkeys(known.values()))}{hint}")
        return ours

    def closest(self, name: str) -> str | None:
        """Our field with a name in rows that is close to this one; None if there is none."""
        close = get_close_matches(fold_field_name(name), self.by_name, n=1, cutoff=0.6)
        return self.by_name[close[0]] if close else None


@lru_cache(4096)  # a few names and values are met in every row
def fold_field_name(name: str) -> str:
    """A name without capitals; spaces, underscores and hyphens are equal."""
    return _SEPARATOR.sub(" ", name.strip()).casefold()


def field_map(own: Path | None = None) -> FieldMap:
    """The shipped map; with the names of the user's own map before it."""
    shipped = _read(SHIPPED)
    if own is None:
        return shipped
    custom = _read(own)
    if unknown := [name for name in custom.fields if name not in shipped.fields]:
        close = get_close_matches(unknown[0], shipped.fields, n=1)
        hint = f"did you mean {close[0]}?" if close else f"the fields are {', '.join(shipped.fields)}"
        raise BadInput(own, f"is not a field; {hint}", field=f"fields.{unknown[0]}")
    for table in ("stages", "tasks", "levels"):
        known: Mapping[str, Any] = getattr(shipped, table)
        if unknown := [name for name in getattr(custom, table) if name not in known]:
            raise BadInput(own, f"is not one of {', '.join(known)}", field=f"{table}.{unknown[0]}")
    tables = {table: _merge(getattr(custom, table), getattr(shipped, table)) for table in TABLES}
    return FieldMap(**tables, ignore=[*custom.ignore, *shipped.ignore])


def _merge(first: Names, second: Names) -> Names:
    used = {fold_field_name(name) for names in first.values() for name in names}
    return {
        ours: [*first.get(ours, []), *(name for name in names if fold_field_name(name) not in used)]
        for ours, names in second.items()
    }


def _read(path: Path) -> FieldMap:
    document = read_toml(path, "field map")
    for table in TABLES:
        if isinstance(document.get(table), dict):
            document[table] = {ours: _as_list(names) for ours, names in document[table].items()}
    return parse_table(FieldMap, document, path)


def _as_list(names: Any) -> Any:
    return [names] if isinstance(names, str) else names
