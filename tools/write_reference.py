"""Writes docs/reference/commands.md and docs/reference/study-keys.md from the code.

`python tools/write_reference.py` writes them; tests/docs/test_reference.py fails if they are out of date.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from wardround.cli.main import app
from wardround.core.condition import AXES
from wardround.core.study import Budget, CandidateSettings, Family, JudgeSettings, SamplingSettings, Study
from wardround.core.study_tables.endpoint import Endpoint
from wardround.core.study_tables.literature import AgentLimits, Literature, SearchSettings

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs/reference"
MEANINGS = Path(__file__).parent / "study_keys.toml"
WORDS = {str: "text", float: "number", int: "whole number", bool: "true or false"}
NOTICE = "<!-- Written by tools/write_reference.py; do not edit. -->"
TABLES: tuple[tuple[str, str, type[BaseModel], type[BaseModel] | None, str], ...] = (
    # heading, table of meanings, model, model whose keys it has, too, a sentence
    ("Top of the file", "study", Study, None, ""),
    ("`[sampling]`", "sampling", SamplingSettings, None, "A key that is not set is not sent."),
    ("`[[candidates]]`", "candidates", CandidateSettings, SamplingSettings, "Also the keys of `[sampling]`."),
    (
        "`[judge]` and `[reader]`",
        "judge",
        JudgeSettings,
        CandidateSettings,
        "The keys of a candidate; `name` is not required. `[judge]` has two more:",
    ),
    (
        "`[literature]`",
        "literature",
        Literature,
        SearchSettings,
        "Also the keys of a search, below.",
    ),
    ("A search: `[literature]` and `[literature.searches.NAME]`", "search", SearchSettings, None, ""),
    ("`[literature.agent]`", "agent", AgentLimits, None, ""),
    ("`[budget]`", "budget", Budget, None, "The limit that is reached first stops the run cleanly."),
    ("`[comparisons]`: one table for each family", "comparisons", Family, None, ""),
    ("`[acceptance.NAME]`", "acceptance", Endpoint, None, ""),
)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in reference_pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def reference_pages() -> dict[str, str]:
    """The text of each page by its file name."""
    meanings = tomllib.loads(MEANINGS.read_text(encoding="utf-8"))
    return {"commands.md": commands_page(), "study-keys.md": study_keys_page(meanings)}


def commands_page() -> str:
    root: Any = typer.main.get_command(app)
    context = root.make_context("wardround", [], resilient_parsing=True)
    parts = [f"# Commands\n\n{NOTICE}\n\n{root.help}"]
    for name, command in [("wardround", root), *_commands(root, "wardround")]:
        if name != "wardround":
            parts.append(f"## `{name}`\n\n{_plain(command.help)}")
        else:
            parts.append("Options before the command:")
        if rows := list(_parameters(command, context)):
            parts.append(_table(("argument or option", "meaning"), rows))
    return "\n\n".join(parts) + "\n"


def study_keys_page(meanings: Mapping[str, Mapping[str, str]]) -> str:
    """The page of all keys. A key without a meaning, or a meaning without a key, is an error."""
    parts = [
        f"# Keys of a study file\n\n{NOTICE}\n\nAn unknown key is an error that names it. "
        "[The study file](../study.md) explains how the parts work together."
    ]
    for heading, table, model, parent, sentence in TABLES:
        own = {key: field for key, field in model.model_fields.items() if parent is None or _is_new(key, parent)}
        _check_keys(table, own, meanings[table])
        rows = [
            (f"`{key}`", _type(field.annotation), _default(field), meanings[table][key]) for key, field in own.items()
        ]
        parts += [f"## {heading}", *([sentence] if sentence else [])]
        parts.append(_table(("key", "type", "default", "meaning"), rows))
    _check_keys("axes", AXES, meanings["axes"])
    axes = [
        (f"`{name}`", ", ".join(f"`{value}`" for value in axis.values), _pattern(axis.pattern), meanings["axes"][name])
        for name, axis in AXES.items()
    ]
    sentence = "The first value is the default. [The axes](../study.md#axes) has what each value does."
    parts += ["## `[conditions]`", sentence, _table(("axis", "values", "or a text like", "meaning"), axes)]
    return "\n\n".join(parts) + "\n"


def _commands(group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        yield f"{prefix} {name}", command
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix} {name}")


def _parameters(command: Any, context: Any) -> Iterator[tuple[str, str]]:
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None and parameter.name != "help":
            yield f"`{record[0]}`", _plain(record[1])


def _is_new(key: str, parent: type[BaseModel]) -> bool:
    return key not in parent.model_fields


def _check_keys(table: str, keys: Mapping[str, object], meanings: Mapping[str, str]) -> None:
    if different := sorted(keys.keys() ^ meanings.keys()):
        raise SystemExit(f"{MEANINGS.name}: [{table}] and the code differ in {', '.join(different)}; mend the table")


def _type(annotation: Any) -> str:
    """A type in words of TOML."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(arguments[0])
    if origin is Literal:
        return " or ".join(f'"{value}"' for value in arguments)
    if origin in (Union, UnionType):
        return " or ".join(_type(argument) for argument in arguments if argument is not NoneType)
    if origin is list:
        return f"list of {_plural(_type(arguments[0]))}"
    if origin is dict:
        return "table" if arguments[1] is Any else f"table of {_plural(_type(arguments[1]))}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "table"
    return WORDS[annotation]


def _plural(words: str) -> str:
    noun, of, rest = words.partition(" of ")
    return f"{noun}s{of}{rest}"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is None or isinstance(value, BaseModel) or value in ([], {}):
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value).replace("'", '"')
    return f"`{text}`"


def _pattern(pattern: re.Pattern[str] | None) -> str:
    return f"`{pattern.pattern}`" if pattern else ""


def _plain(text: str) -> str:
    return " ".join(text.split())


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    main()
