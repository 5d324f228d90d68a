"""Reads a public question set by its layout. Rows about the same image become one case with several questions."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wardround.cases.readers.public_sets.layout import PublicLayout, public_layouts
from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.cases.readers.tables.image_cell import decode_image, hashed_path, path_inside
from wardround.cases.readers.tables.json_file import JsonObject, PlacedRecord, jsonl_records
from wardround.cases.readers.tables.option_lists import gold_index, parse_options
from wardround.cases.readers.tables.row_files import read_rows
from wardround.cases.readers.tables.row_spool import RowSpool
from wardround.cases.readers.tables.source_files import find_files_by_suffix, first_file, split_in_name
from wardround.cases.set import error_from
from wardround.core.case import Case, Image, Question, drop_empty
from wardround.core.errors import BadInput, Problem
from wardround.core.field_errors import list_errors
from wardround.core.text import LETTERS

YES_NO = ["yes", "no"]
UNANSWERED = ("", "-1", "?", "nan", "none")  # of test parts that were published without answers
OTHER_SPLITS = {"validation": "val", "validate": "val"}
_OWN_LETTER = re.compile(r"\s*([A-H])\s*:\s*")
_ID_SUBJECT = re.compile(r"(?:dev|validation|test)_(.+)_\d+")
QUESTION_FIELDS = frozenset(Question.model_fields)


def read_public_set(name: str, source: Path) -> PublicQuestions:
    """The cases of a folder in a layout, or of one of its files."""
    return PublicQuestions(name, public_layouts()[name], source).read()


class PublicQuestions:
    """The usable rows of a public set as a CaseSource. Images inside rows wait on disk."""

    def __init__(self, name: str, layout: PublicLayout, source: Path) -> None:
        self.problems: list[Problem] = []
        self._name, self._layout, self._source = name, layout, source
        self._rows, self._files = RowSpool(), dict[str, Path]()
        self._left_out = 0

    def read(self) -> PublicQuestions:
        files = find_files_by_suffix(self._source, *self._layout.suffixes)
        stems = self._layout.stems
        for file in [file for file in files if not stems or file.stem in stems or self._source.is_file()]:
            rows: Iterable[PlacedRecord] = self._records(file)
            first = 0
            if self._layout.answer_form == "number":
                rows = list(rows)
                first = _first_number(file, [_pick(row, self._layout.answer) for _, row in rows])
            for number, (place, row) in enumerate(rows):
                self._add(place, row, number, first)
        self._rows.group()
        if not self._rows.group_count:
            if self.problems:
                raise error_from(self.problems[0], " (and no other row can be used)")
            left_out = f"; {self._left_out:,} rows are of other parts" if self._left_out else ""
            raise BadInput(self._source, f"has no row of {self._layout.title}{left_out}")
        return self

    def _records(self, file: Path) -> Iterator[PlacedRecord]:
        if file.suffix == ".csv":
            yield from _csv_records(file, self._layout)
        elif file.suffix == ".json" and _is_lines(file):
            yield from jsonl_records(file, self.problems)
        else:
            yield from read_rows(file, self.problems, self._layout.read_columns.__contains__)

    def _add(self, place: RecordPlace, row: JsonObject, number: int, first: int) -> None:
        layout, split = self._layout, self._split(place.file, row)
        own_id = _pick(row, layout.id)
        specialty = self._specialty(place.file, row, str(own_id))
        name = f"{specialty or place.file.stem}-{number}" if own_id is None else str(own_id)
        values = row | {"specialty": specialty}
        if any(str(values.get(key)) not in wanted for key, wanted in layout.only.items()):
            self._left_out += 1
            return
        field = layout.question[0]
        try:
            prompt = str(_pick(row, layout.question) or "").strip()
            if not prompt:
                raise ValueError("is required")
            field = next((column for column in layout.answer if column in row), layout.answer[0])
            question = {"id": name, "prompt": prompt, **self._answer(row, first)}
            field = layout.images[0] if layout.images else field
            images = [path for column in layout.images if (path := self._image(place.file, row.get(column)))]
        except ValueError as error:
            self.problems.append(place.problem(field, str(error)))
            return
        extra = {key: value for key, value in row.items() if key not in layout.read_columns and _is_plain(value)}
        question |= {f"source_{key}" if key in QUESTION_FIELDS else key: value for key, value in extra.items()}
        question = drop_empty(question | {"rationale": _pick(row, layout.rationale)})
        try:
            Question.model_validate(question)
        except ValidationError as error:
            self.problems += (place.problem(key, message) for key, message in list_errors(error))
            return
        part = "-".join(filter(None, (self._name, split)))
        key = "+".join(images) or f"{place.file} {number}"
        record = {"part": part, "split": split, "specialty": specialty, "images": images, "question": question}
        record["modality"] = str(row[layout.modality]) if layout.modality and row.get(layout.modality) else None
        self._rows.add(part, [key], record)

    def _split(self, file: Path, row: JsonObject) -> str | None:
        if self._layout.split and row.get(self._layout.split):
            return "test" if str(row[self._layout.split]).startswith("test") else "train"
        words = re.split(r"[-_.]", file.stem.lower())
        return split_in_name(file) or next((OTHER_SPLITS[word] for word in words if word in OTHER_SPLITS), None)

    def _specialty(self, file: Path, row: JsonObject, name: str) -> str | None:
        if specialty := _pick(row, self._layout.specialty):
            return str(specialty)
        if self._layout.specialty_in == "id" and (match := _ID_SUBJECT.fullmatch(name)):
            return match[1]
        return re.sub(r"_(?:dev|val|test)$", "", file.stem) if self._layout.specialty_in == "file" else None

    def _answer(self, row: JsonObject, first: int) -> JsonObject:
        """Kind, options and gold of the question in a row."""
        answer = _pick(row, self._layout.answer)
        text = " ".join(str(answer if answer is not None else "").split())
        if text.lower() in UNANSWERED:
            raise ValueError("has no published answer")
        if self._layout.answer_form == "text":
            if text.lower() in YES_NO:
                return {"kind": "choice", "options": YES_NO, "gold": YES_NO.index(text.lower())}
            return {"kind": "open", "gold": text}
        options = self._options(row)
        if not options:
            return {"kind": "open", "gold": text}
        if self._layout.answer_form == "number" and text.isdigit():
            gold = int(text) - first
            if not 0 <= gold < len(options):
                raise ValueError(f"is {text}; there are {len(options)} options, the first is {first}")
        else:
            gold = gold_index(options, _without_own_letter(text, None))
        return {"kind": "choice", "options": list(options.values()), "gold": gold}

    def _options(self, row: JsonObject) -> dict[str, str]:
        """By letter; empty for an open question among choices."""
        listed = row.get(self._layout.option_list) if self._layout.option_list else None
        if listed is None:
            cells = [str(row.get(column) if row.get(column) is not None else "") for column in self._layout.options]
            listed = [_without_own_letter(cell, letter) for cell, letter in zip(cells, LETTERS, strict=False)]
        if listed in ([], "[]", ""):
            return {}
        return parse_options(listed)

    def _image(self, row_file: Path, cell: Any) -> str | None:
        """The path that an image will have in the case set: of a file, or of bytes inside the row."""
        if isinstance(cell, dict):
            data, cell = cell.get("bytes"), cell.get("path")
            if data:
                data = data if isinstance(data, bytes) else decode_image(str(data))
                path = hashed_path(data)
                self._rows.add_image(path, data)
                return path
        if not cell:
            return None
        path = path_inside(str(cell))
        folders = ("", *self._layout.image_folders)
        file = first_file(root / below / path for root in row_file.parents[:3] for below in folders)
        if file is None:
            raise ValueError(f"{cell!r}: there is no such file beside {row_file.name} or in an image folder")
        self._files[f"images/{path}"] = file
        return f"images/{path}"

    def __len__(self) -> int:
        return self._rows.group_count

    def __iter__(self) -> Iterator[Case]:
        used: set[str] = set()
        for _, rows in self._rows:
            case = _case(rows, self._layout.title)
            if case["id"] in used:  # the same id in another file of the layout
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
    """One case of all rows about the same images."""
    first, questions = rows[0], list[dict[str, Any]]()
    for row in rows:
        question = dict(row["question"])
        while any(question["id"] == other["id"] for other in questions):
            question["id"] += "+"
        questions.append(question)
    case = {
        "id": f"{first['part']}-{questions[0]['id']}",
        "split": first["split"],
        "specialty": first["specialty"],
        "cluster": first["images"][0] if first["images"] else None,
        "origin": {"name": title.partition(",")[0]},
        "images": [drop_empty({"path": path, "modality": first["modality"]}) for path in first["images"]],
        "questions": questions,
    }
    return drop_empty(case)


def _csv_records(file: Path, layout: PublicLayout) -> Iterator[PlacedRecord]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, fieldnames=layout.columns or None)
            for row in reader:
                yield RecordPlace(file, reader.line_num), {key: row[key] for key in row if isinstance(key, str)}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, f"cannot be read as CSV: {error}") from None


def _is_lines(file: Path) -> bool:
    """Whether a .json file has one object per line, as MedMCQA's."""
    with file.open("rb") as opened:
        return opened.read(64).lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")


def _first_number(file: Path, answers: list[Any]) -> int:
    """The number of the first option in a file: 1 in MedMCQA's own files, 0 in the tables made of them."""
    numbers = {int(str(answer)) for answer in answers if str(answer).isdigit()}
    return 1 if 0 not in numbers and (4 in numbers or file.suffix != ".parquet") else 0


def _pick(row: JsonObject, columns: Iterable[str]) -> Any:
    """The first of the columns that a row has a value in."""
    return next((row[column] for column in columns if row.get(column) not in (None, "")), None)


def _without_own_letter(text: str, letter: str | None) -> str:
    """An option as PMC-VQA writes it, without the `A:` before it."""
    match = _OWN_LETTER.match(text)
    return text[match.end() :].strip() if match and letter in (None, match[1]) else text.strip()


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool | list) and value != ""
