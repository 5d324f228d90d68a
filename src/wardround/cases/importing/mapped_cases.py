"""MappedCases: the rows of a table as cases, by a map. Rows about the same images become one case."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wardround.cases.importing.cells import as_age, as_images, as_names, as_sex, as_text, first_value, is_empty
from wardround.cases.importing.image_files import USUAL_FOLDERS, find_image, has_image_suffix
from wardround.cases.importing.table_files import find_tables, table_rows
from wardround.cases.importing.table_map import TableMap, public_map, read_map
from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.cases.readers.tables.image_cell import (
    decode_image,
    hashed_path,
    holds_image,
    is_row_index,
    path_inside,
)
from wardround.cases.readers.tables.json_file import JsonObject, PlacedRecord
from wardround.cases.readers.tables.option_lists import gold_index, parse_options
from wardround.cases.readers.tables.row_spool import RowSpool
from wardround.cases.readers.tables.source_files import SPLITS, split_in_name
from wardround.cases.set import error_from
from wardround.core.case import Case, Image, Question, drop_empty
from wardround.core.errors import BadInput, Problem
from wardround.core.field_errors import list_errors
from wardround.core.text import LETTERS

YES_NO = ["yes", "no"]
SHORT_ANSWERS = {"y": "yes", "n": "no"}
UNANSWERED = ("", "-1", "?", "nan", "none")  # of test parts that were published without answers
OTHER_SPLITS = {"validation": "val", "validate": "val"}
QUESTION_FIELDS = frozenset(Question.model_fields)
_OWN_LETTER = re.compile(r"\s*([A-H])\s*:\s*")
_SHARD = re.compile(r"data-(\d+)-of-(\d+)")
_ID_SUBJECT = re.compile(r"(?:dev|validation|test)_(.+)_\d+")


def read_public_set(name: str, source: Path) -> MappedCases:
    """The cases of a public set's folder, or of one of its files; their ids begin with the set's name."""
    return MappedCases(public_map(name), source, name).read()


def import_table(source: Path, table_map: TableMap | Path) -> MappedCases:
    """The cases of any table by a map."""
    return MappedCases(table_map if isinstance(table_map, TableMap) else read_map(table_map), source).read()


class MappedCases:
    """The usable rows of a table as a CaseSource. Images inside rows wait on disk."""

    def __init__(self, table_map: TableMap, source: Path, prefix: str = "") -> None:
        self.problems: list[Problem] = []
        self._map, self._source, self._prefix = table_map, source, prefix
        self._rows, self._files = RowSpool(), dict[str, Path]()
        self._images_by_id: dict[str, list[str]] = {}
        self._history_by_case: dict[str, str] = {}
        self._left_out = 0

    def read(self) -> MappedCases:
        for file in find_tables(self._source, self._map):
            rows: Iterable[PlacedRecord] = table_rows(file, self._map, self.problems)
            first: int = self._map.first_number or 0
            if self._map.answer_form == "number" and self._map.first_number is None:
                rows = list(rows)
                first = _first_number(file, [first_value(row, self._map.answer) for _, row in rows])
            for number, (place, row) in enumerate(rows):
                if number == 0:
                    self._check_columns(place, row)
                self._add(place, row, number, first)
        self._rows.group()
        if not self._rows.group_count:
            if self.problems:
                raise error_from(self.problems[0], " (and no other row can be used)")
            left_out = f"; {self._left_out:,} rows are of other parts" if self._left_out else ""
            raise BadInput(self._source, f"has no row{f' of {self._map.title}' if self._map.title else ''}{left_out}")
        return self

    def _check_columns(self, place: RecordPlace, row: JsonObject) -> None:
        """Refuses a table that lacks a column that the user's map names; maps of public sets name alternatives."""
        named = self._map.read_columns - set(self._map.not_kept) | set(self._map.keep) - {"*"}
        if not self._prefix and (missing := sorted(named - row.keys())):
            raise BadInput(place.file, f"has no column {missing[0]!r}; its columns are {', '.join(row)}"[:500])

    def _add(self, place: RecordPlace, row: JsonObject, number: int, first: int) -> None:
        table_map, split = self._map, self._split(place.file, row)
        own_id = first_value(row, table_map.id)
        specialty = self._specialty(place.file, row, as_text(own_id))
        if any(as_text(value) not in wanted for value, wanted in self._conditions(row, specialty)):
            self._left_out += 1
            return
        name = as_text(own_id) or f"{specialty or _table_name(place.file)}-{number}"
        column = (table_map.question or table_map.answer)[0]
        try:
            prompt = as_text(first_value(row, table_map.question)) or table_map.prompt or ""
            if not prompt:
                raise ValueError("is required")
            column = table_map.option_list or ", ".join(table_map.options) or column
            options = self._options(row) if table_map.answer_form != "text" else {}
            column = next((column for column in table_map.answer if column in row), table_map.answer[0])
            question = {"id": name, "prompt": prompt, **self._answer(row, options, first)}
            column = table_map.images[0] if table_map.images else column
            images = self._images(place.file, row)
        except ValueError as error:
            self.problems.append(place.problem(column, str(error)))
            return
        if own_id is None and not self._prefix:
            question["id"] = "mcq" if question["kind"] == "choice" else "open"
        self._images_by_id[name] = images
        question = drop_empty(question | self._question_fields(row))
        try:
            Question.model_validate(question)
        except ValidationError as error:
            self.problems += (place.problem(key, message) for key, message in list_errors(error))
            return
        part = "-".join(filter(None, (self._prefix, split))) if self._prefix else ""
        record: JsonObject = {"name": name, "part": part, "split": split, "specialty": specialty, "images": images}
        record |= {"question": question, **self._case_fields(place, row)}
        if record["case"] and self._history_by_case.setdefault(record["case"], record["history"]) != record["history"]:
            message = f"differs from the first row of case {record['case']!r}; name it as `patient` if these are visits"
            self.problems.append(place.problem(table_map.history[0], message))
            return
        by_images = f"{split} {'+'.join(images)}" if images else ""
        key = record["case"] or by_images or f"{place.file} {number}"
        self._rows.add(part, [key], record)

    def _conditions(self, row: JsonObject, specialty: str | None) -> Iterator[tuple[Any, list[str]]]:
        values = row | {"specialty": specialty}
        return ((values.get(column), wanted) for column, wanted in self._map.only.items())

    def _question_fields(self, row: JsonObject) -> JsonObject:
        table_map = self._map
        extra = {key: value for key, value in row.items() if table_map.is_kept(key) and _is_plain(value)}
        fields = {f"source_{key}" if key in QUESTION_FIELDS else key: value for key, value in extra.items()}
        importance = as_text(row.get(table_map.importance or ""))
        return fields | {
            "rationale": first_value(row, table_map.rationale),
            "accept": [name for column in table_map.accept for name in as_names(row.get(column))],
            "skill": as_text(row.get(table_map.skill or "")),
            "stage": as_text(row.get(table_map.stage or "")),
            "importance": float(importance) if importance.replace(".", "", 1).isdigit() else None,
        }

    def _case_fields(self, place: RecordPlace, row: JsonObject) -> JsonObject:
        table_map, age = self._map, None
        try:
            age = as_age(row.get(table_map.age or ""))
        except ValueError as error:
            self.problems.append(place.problem(table_map.age, f"{error}; the row is kept without it"))
        patient = {"age": age, "sex": as_sex(row.get(table_map.sex or ""))}
        return {
            "case": as_text(row.get(table_map.case or "")),
            "cluster": as_text(row.get(table_map.patient or "")),
            "history": _joined(row, table_map.history),
            "findings": _joined(row, table_map.findings),
            "patient": {key: value for key, value in patient.items() if value is not None},
            "modality": as_text(row.get(table_map.modality or "")) or table_map.modality_is,
            "tags": [name for column in table_map.tags for name in as_names(row.get(column))],
            "published": as_text(row.get(table_map.published or "")),
        }

    def _split(self, file: Path, row: JsonObject) -> str | None:
        if self._map.split and (value := as_text(row.get(self._map.split))):
            if not self._prefix:
                return OTHER_SPLITS.get(value.lower(), value)
            return "test" if value.startswith("test") else "train"
        words = re.split(r"[-_.]", file.stem.lower())
        named = split_in_name(file) or next((OTHER_SPLITS[word] for word in words if word in OTHER_SPLITS), None)
        if named is None and not self._prefix and file.parent != self._source and not self._source.is_file():
            folder = OTHER_SPLITS.get(file.parent.name.lower(), file.parent.name.lower())  # as `datasets` saves splits
            return folder if folder in SPLITS else None
        return named

    def _specialty(self, file: Path, row: JsonObject, name: str) -> str | None:
        if specialty := first_value(row, self._map.specialty):
            return as_text(specialty)
        if self._map.specialty_in == "id" and (match := _ID_SUBJECT.fullmatch(name)):
            return match[1]
        return re.sub(r"_(?:dev|val|test)$", "", file.stem) if self._map.specialty_in == "file" else None

    def _answer(self, row: JsonObject, options: dict[str, str], first: int) -> JsonObject:
        """Kind, options and gold of the question in a row."""
        answer = first_value(row, self._map.answer)
        text = " ".join(as_text(answer).split())
        if text.lower() in UNANSWERED and not self._map.choices:
            raise ValueError("has no published answer" if self._prefix else "has no answer")
        if self._map.answer_form == "text":
            if text.lower() in YES_NO:
                return {"kind": "choice", "options": YES_NO, "gold": YES_NO.index(text.lower())}
            return {"kind": "open", "gold": text}
        if not options:
            return {"kind": "open", "gold": text}
        if self._map.answer_form == "number" and text.isdigit():
            gold = int(text) - first
            if not 0 <= gold < len(options):
                raise ValueError(f"is {text}; there are {len(options)} options, the first is {first}")
        else:
            if self._map.choices == YES_NO:
                text = SHORT_ANSWERS.get(text.lower(), text)
            gold = gold_index(options, _without_own_letter(text, None))
        return {"kind": "choice", "options": list(options.values()), "gold": gold}

    def _options(self, row: JsonObject) -> dict[str, str]:
        """By letter; empty for an open question among choices."""
        if self._map.choices:
            return parse_options(self._map.choices)
        listed = row.get(self._map.option_list) if self._map.option_list else None
        if listed is None:
            cells = [as_text(row.get(column)) for column in self._map.options]
            listed = [_without_own_letter(cell, letter) for cell, letter in zip(cells, LETTERS, strict=False)]
            while listed and is_empty(listed[-1]):  # questions of one table may have three, four or five options
                listed.pop()
        if listed in ([], "[]", ""):
            return {}
        return parse_options([as_text(option) for option in listed] if isinstance(listed, list) else listed)

    def _images(self, file: Path, row: JsonObject) -> list[str]:
        """The paths that the images of a row will have in the case set."""
        paths: list[str] = []
        for column in self._map.images:
            for cell in as_images(row.get(column)):
                if isinstance(cell, str) and is_row_index(cell) and cell in self._images_by_id:
                    paths += self._images_by_id[cell]
                else:
                    paths.append(self._image(file, cell))
        return list(dict.fromkeys(paths))

    def _image(self, row_file: Path, cell: Any) -> str:
        data = cell if isinstance(cell, bytes) else None
        if isinstance(cell, dict):
            data, cell = cell.get("bytes"), cell.get("path")
        if isinstance(data, str) or (isinstance(cell, str) and (len(cell) >= 4096 or holds_image(cell))):
            data = decode_image(str(data or cell))
        if data:
            path = hashed_path(data)
            self._rows.add_image(path, data)
            return path
        if "://" in str(cell):
            raise ValueError(f"{str(cell)[:200]!r} is an address; wardround does not fetch images: save the file first")
        folders = self._map.image_folders or USUAL_FOLDERS
        file = find_image(row_file.parents[: 3 if self._prefix else 1], ("", *folders), str(cell))
        if file is None:
            message = f"{cell!r}: there is no such file beside {row_file.name} or in its folder {' or '.join(folders)}"
            raise ValueError(message + '; name the folder of the images in the map: image_folders = "FOLDER"')
        path = path_inside(str(cell))
        return self._claim_path(file, path if has_image_suffix(path) else path + file.suffix)

    def _claim_path(self, file: Path, name: str) -> str:
        """The path of a file in the case set. Tables in different folders may call different images the same."""
        base = self._source if self._source.is_dir() else self._source.parent
        below_base = path_inside(os.path.relpath(file, base))
        for target in (f"images/{name.removeprefix('images/')}", f"images/{below_base}"):
            if self._files.setdefault(target, file) == file:
                return target
        raise ValueError(f"{name!r} is the name of two images, {file} and {self._files[target]}; rename one")

    def __len__(self) -> int:
        return self._rows.group_count

    def __iter__(self) -> Iterator[Case]:
        used: set[str] = set()
        for _, rows in self._rows:
            case = _case(rows, self._map.title)
            if case["id"] in used:  # the same id in another file of the table
                case["id"] = f"{case['id']}-{len(used)}"
            used.add(case["id"])
            yield Case.model_validate(case)

    def copy_image(self, image: Image, target: Path) -> None:
        """Writes the file of an image of a case to `target`."""
        if (data := self._rows.image(image.path)) is not None:
            target.write_bytes(data)
        else:
            shutil.copyfile(self._files[image.path], target)


def _case(rows: list[JsonObject], title: str) -> dict[str, Any]:
    """One case of all rows of a group; each question shows the images of its own row."""
    first, questions = rows[0], list[dict[str, Any]]()
    images = list(dict.fromkeys(path for row in rows for path in row["images"]))
    modalities = {path: row["modality"] for row in reversed(rows) for path in row["images"]}
    for row in rows:
        question = dict(row["question"])
        while any(question["id"] == other["id"] for other in questions):
            question["id"] += "+"
        if row["images"] != images:
            question["images"] = [images.index(path) for path in row["images"]]
        questions.append(question)
    name = first["case"] or first["name"]
    case = {
        "id": f"{first['part']}-{name}" if first["part"] else name,
        "split": first["split"],
        "specialty": first["specialty"],
        "tags": list(dict.fromkeys(tag for row in rows for tag in row["tags"])),
        "cluster": first["cluster"] or (images[0] if images and first["part"] else None),
        "origin": drop_empty({"name": title.partition(",")[0], "published": first["published"]}),
        "patient": first["patient"],
        "history": next((row["history"] for row in rows if row["history"]), None),
        "findings": next((row["findings"] for row in rows if row["findings"]), None),
        "images": [drop_empty({"path": path, "modality": modalities[path]}) for path in images],
        "questions": questions,
    }
    return drop_empty(case)


def _table_name(file: Path) -> str:
    """The name of a table: of the files that `datasets` saves, that of their folder with the number of the part."""
    shard = _SHARD.fullmatch(file.stem)
    if shard is None:
        return file.stem
    return file.parent.name if int(shard[2]) == 1 else f"{file.parent.name}-{int(shard[1])}"


def _joined(row: JsonObject, columns: Iterable[str]) -> str:
    return "\n\n".join(text for column in columns if (text := as_text(row.get(column))))


def _first_number(file: Path, answers: list[Any]) -> int:
    """The number of the first option in a file: 1 in MedMCQA's own files, 0 in the tables made of them."""
    numbers = {int(as_text(answer)) for answer in answers if as_text(answer).isdigit()}
    return 1 if 0 not in numbers and (4 in numbers or file.suffix != ".parquet") else 0


def _without_own_letter(text: str, letter: str | None) -> str:
    """An option as PMC-VQA writes it, without the `A:` before it."""
    match = _OWN_LETTER.match(text)
    return text[match.end() :].strip() if match and letter in (None, match[1]) else text.strip()


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool | list) and value != ""
