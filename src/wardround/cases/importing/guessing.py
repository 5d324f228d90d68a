"""Guesses a map from the names of a table's columns (column_names.toml) and from what its first rows hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import tomli_w

from wardround.cases.importing.cells import as_age, as_images, as_text, is_empty
from wardround.cases.importing.image_files import guess_image_folders
from wardround.cases.importing.table_files import find_tables, guess_encoding, sheet_names, table_rows
from wardround.cases.importing.table_map import TableMap
from wardround.cases.readers.tables.image_cell import PATH_SUFFIXES, holds_image
from wardround.cases.readers.tables.json_file import JsonObject
from wardround.cases.readers.tables.option_lists import parse_options
from wardround.core.errors import BadInput
from wardround.core.text import LETTERS, fold
from wardround.core.toml_table import read_toml

ROWS_READ = 200
ROWS_LOCATED = 20  # whose images are looked for in folders
MOST_OPTIONS = 8
ANY_TABLE = TableMap(prompt="?", answer=["?"])
MANY = {"question", "answer", "history", "findings", "specialty", "rationale", "id"}  # keys that take several columns
_OPTION_NAME = "option|opt|op|choice|answer|ans|antwort|auswahl|réponse|reponse|respuesta|opción|opcion"
_OPTION_COLUMN = re.compile(rf"(?:{_OPTION_NAME})?[ _-]?\(?([a-h]|[0-8])\)?", re.IGNORECASE)
_WORD_BREAKS = re.compile(r"[\s_\-.()]+")
ANSWER_PAIRS = [["yes", "no"], ["true", "false"], ["ja", "nein"], ["oui", "non"], ["sí", "no"], ["si", "no"]]
SHORT_PAIR = {"y", "n"}
DIAGNOSIS_PROMPT = "What is the most likely diagnosis?"


def guess_map(source: Path) -> TableMap:
    """A map of a table. BadInput says what could not be found, and how to name it.

    Of a workbook, the first sheet that looks like questions is meant.
    """
    sheets = sheet_names(source)
    if len(sheets) < 2:
        return _guess_map(source, ANY_TABLE)
    for sheet in sheets:
        with suppress(BadInput):
            return _guess_map(source, ANY_TABLE.model_copy(update={"sheet": sheet}))
    message = f"in no sheet a column looks like the answer; its sheets are {', '.join(sheets)}"
    raise BadInput(source, f'{message}: {_write_a_map()}, with sheet = "NAME"')


def _guess_map(source: Path, layout: TableMap) -> TableMap:
    file, rows, encoding = _first_rows(source, layout)
    columns = list(rows[0])
    keys: dict[str, Any] = {"sheet": layout.sheet, "encoding": encoding}
    keys["options"] = _option_columns(columns, rows)
    free = [column for column in columns if column not in keys["options"]]
    keys["images"] = [column for column in free if _holds_images(column, rows)]
    free = [column for column in free if column not in keys["images"]]
    names_by_key = dict(column_names())
    named_for_images = _named(free, names_by_key.pop("images"))
    if not keys["images"] and named_for_images and _image_folders(file, [named_for_images], rows) is not None:
        keys["images"] = [named_for_images]
        free.remove(named_for_images)
    keys["image_folders"] = _image_folders(file, keys["images"], rows)
    if {"input", "target"} <= set(columns):  # Inspect's samples: other columns are metadata, whatever their names
        names_by_key["question"] = ["input", *names_by_key["question"]]
        names_by_key["answer"] = ["target", *names_by_key["answer"]]
    for key, names in names_by_key.items():
        if (column := _named(free, names)) is not None and _fits(key, column, rows):
            keys[key] = [column] if key in MANY else column
            free.remove(column)
    if "answer" not in keys:
        raise BadInput(file, f"no column looks like the answer; its columns are {', '.join(columns)}: {_write_a_map()}")
    answer = keys["answer"][0]
    if keys["options"] or "option_list" in keys:
        keys["answer_form"] = _answer_form(keys, rows)
        if keys["answer_form"] == "number":
            keys["first_number"] = int(0 not in {int(as_text(row[answer])) for row in rows if _is_number(row[answer])})
    elif (pair := _answer_pair(rows, answer)) is not None:
        keys["choices"] = pair
    else:
        keys["answer_form"] = "text"
    if "question" not in keys:
        if "choices" in keys:
            about = f"column {answer!r} says {' or '.join(keys['choices'])}, but no column looks like the question"
            raise BadInput(file, f'{about}: write a map with it (question = "COLUMN", or prompt = "Is there ...?")')
        keys["prompt"] = DIAGNOSIS_PROMPT
    return TableMap(**{key: value for key, value in keys.items() if value not in ([], None)})


@cache
def column_names() -> dict[str, list[str]]:
    """The usual names of the columns of each key."""
    return read_toml(Path(__file__).with_name("column_names.toml"), "table")


def first_row(source: Path, table_map: TableMap) -> JsonObject:
    """The first row of a table that a map describes."""
    layout = ANY_TABLE.model_copy(update={"sheet": table_map.sheet})
    return _first_rows(source, layout)[1][0]


def is_table_of_studies(table_map: TableMap) -> bool:
    """Whether a table has diagnoses and no questions: choice questions can be built from it."""
    return not (table_map.question or table_map.options or table_map.choices or table_map.option_list)


def _first_rows(source: Path, layout: TableMap) -> tuple[Path, list[JsonObject], str | None]:
    """The first file of a table, its first rows, and its encoding if that is not UTF-8."""
    for file in find_tables(source, layout):
        encoding = guess_encoding(file) if file.suffix.lower() in (".csv", ".tsv") else "utf-8"
        known = layout if encoding == "utf-8" else layout.model_copy(update={"encoding": encoding})
        if rows := [row for _, row in islice(table_rows(file, known, []), ROWS_READ)]:
            return file, rows, None if known is layout else encoding
    raise BadInput(source, "has no rows")


def map_as_toml(table_map: TableMap) -> str:
    """The map as users write it: one column as a text, several as a list."""
    keys = table_map.model_dump(exclude_defaults=True, exclude_none=True)
    single = {key: value[0] if _is_single_column(key, value) else value for key, value in keys.items()}
    return tomli_w.dumps({key: value for key, value in single.items() if value not in ([], "")})


def unmapped_columns(table_map: TableMap, row: JsonObject) -> list[str]:
    """The columns that the map gives no meaning; they are not imported."""
    return [column for column in row if column not in table_map.read_columns and not table_map.is_kept(column)]


def _is_single_column(key: str, value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1 and key not in ("options", "choices")


def _write_a_map() -> str:
    return 'write a map that names it (answer = "COLUMN") and pass it with --map'


def _plain(name: str) -> str:
    return _WORD_BREAKS.sub("", name).lower()


def _named(columns: Sequence[str], names: Iterable[str]) -> str | None:
    by_name = {_plain(column): column for column in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), None)


def _option_columns(columns: Sequence[str], rows: list[JsonObject]) -> list[str]:
    """The columns that hold one option each: A to D, option_a, Choice A, opa, option1 ..."""
    by_family: dict[str, dict[str, str]] = {}
    for column in columns:
        if match := _OPTION_COLUMN.fullmatch(column.strip()):
            family = column.strip()[: match.start(1)].lower()
            by_family.setdefault(family, {})[match[1].upper()] = column
    for marks in sorted(by_family.values(), key=len, reverse=True):
        for start in (LETTERS[:MOST_OPTIONS], "12345678", "01234567"):
            run = []
            for mark in start:
                if mark not in marks:
                    break
                run.append(marks[mark])
            if len(run) > 1 and all(_share(rows, column, lambda value: not is_empty(value)) > 0 for column in run[:2]):
                return run
    return []


def _fits(key: str, column: str, rows: list[JsonObject]) -> bool:
    """Whether what a column holds can be what its name says."""
    if key == "age":
        return _share(rows, column, _is_age) > 0.5
    if key == "option_list":
        return _share(rows, column, _is_option_list) > 0.8
    if key in ("sex", "split", "modality", "specialty"):
        return len({as_text(row.get(column)) for row in rows}) <= max(20, len(rows) // 4)
    if key == "case":  # rows of one case share their history, and there is more than one case
        return len({as_text(row.get(column)) for row in rows}) > 1
    return _share(rows, column, lambda value: not is_empty(value)) > 0


def _answer_form(keys: dict[str, Any], rows: list[JsonObject]) -> str:
    """`number` if answers are numbers that are not options themselves; else `option` (letter, text or both)."""
    answer = keys["answer"][0]
    answers = [row[answer] for row in rows if not is_empty(row[answer])]
    if not answers or not all(map(_is_number, answers)):
        return "option"

    def is_an_option(row: JsonObject) -> bool:
        texts = [as_text(row.get(column)) for column in keys["options"]]
        return fold(as_text(row[answer])) in [fold(text) for text in texts]

    return "option" if keys["options"] and all(map(is_an_option, rows)) else "number"


def _answer_pair(rows: list[JsonObject], column: str) -> list[str] | None:
    """Yes and no, in the language of the answers; None if some answer is another text."""
    answers = {as_text(row.get(column)).lower() for row in rows} - {""}
    if answers and answers <= SHORT_PAIR:
        return ANSWER_PAIRS[0]
    return next((pair for pair in ANSWER_PAIRS if answers and answers <= set(pair)), None)


def _share(rows: list[JsonObject], column: str, is_true: Callable[[Any], bool]) -> float:
    """The share of the cells with a value for which something holds."""
    values = [row.get(column) for row in rows if not is_empty(row.get(column))]
    return sum(map(is_true, values)) / len(values) if values else 0.0


def _is_number(value: Any) -> bool:
    return as_text(value).isdigit()


def _is_age(value: Any) -> bool:
    try:
        as_age(value)
    except ValueError:
        return False
    return True


def _is_option_list(value: Any) -> bool:
    try:
        return len(parse_options(value)) > 1
    except ValueError:
        return False


def _holds_images(column: str, rows: list[JsonObject]) -> bool:
    """Whether most cells are images; or some are, and the others numbers of rows, as in VLMEvalKit's tables."""
    if (share := _share(rows, column, _is_image)) > 0.5:
        return True
    return share > 0 and _share(rows, column, lambda value: _is_image(value) or _is_number(value)) == 1


def _image_folders(file: Path, columns: Sequence[str], rows: list[JsonObject]) -> list[str] | None:
    """The folders of the images that the first rows name; None if their files are not found."""
    cells = [cell for row in rows[:ROWS_LOCATED] for column in columns for cell in as_images(row.get(column))]
    paths = [cell.get("path") if isinstance(cell, dict) and not cell.get("bytes") else cell for cell in cells]
    names = [path for path in paths if isinstance(path, str) and path and "://" not in path and not holds_image(path)]
    return guess_image_folders(file, list(dict.fromkeys(names))) if names else None


def _is_image(value: Any) -> bool:
    images = as_images(value)
    return bool(images) and all(
        isinstance(image, bytes)
        or (isinstance(image, dict) and ("bytes" in image or "path" in image))
        or (
            isinstance(image, str)
            and (image.lower().endswith(PATH_SUFFIXES) or len(image) >= 4096 or holds_image(image))
        )
        for image in images
    )
