"""MedXpertQA, the part with images: MM/{dev,test}.jsonl, and its images unpacked into images/.

Each line has id, question, options (by letter), label, images, medical_task, body_system and question_type. The
question repeats the options after `Answer Choices:`; that part is cut, because prompts show the options themselves.
The data set does not give the modality of its images.
"""

import re
from pathlib import Path
from typing import Any

from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.cases.readers.tables.choices import index_of_letter
from wardround.cases.readers.tables.clean_twins import QuestionRow
from wardround.cases.readers.tables.image_cell import path_inside
from wardround.cases.readers.tables.json_file import JsonObject, jsonl_records, required_text
from wardround.cases.readers.tables.question_rows import QuestionRows
from wardround.cases.readers.tables.source_files import find_files, first_file, split_in_name

CHOICES = re.compile(r"\s*Answer Choices:\s*\(A\).*\Z", re.DOTALL)
NAMES = {"id": "id", "prompt": "question", "options": "options", "gold": "label"}
READ = {"id", "question", "options", "label", "images", "modality"}


def read_medxpertqa(source: Path) -> QuestionRows:
    """The cases of the whole folder, of MM/, or of one of its .jsonl files."""
    rows = QuestionRows("medxpertqa")
    for file in find_files(source, ".jsonl", subfolder="MM", nested=False):
        for place, record in jsonl_records(file, rows.problems):
            _add(place, record, rows)
    return rows.group()


def _add(place: RecordPlace, record: JsonObject, rows: QuestionRows) -> None:
    field = "id"
    try:
        name = required_text(record, field)
        field = "question"
        prompt = CHOICES.sub("", required_text(record, field))
        field = "options"
        options = _options(record)
        field = "label"
        gold = index_of_letter(options, record.get(field))
        field = "images"
        images = tuple(_image(place.file, str(image), rows) for image in record.get(field) or [])
    except ValueError as error:
        rows.problems.append(place.problem(field, str(error)))
        return
    row = QuestionRow(
        place=place,
        id=name,
        prompt=prompt,
        options=tuple(options.values()),
        gold=gold,
        images=images,
        modality=record.get("modality") or None,
        split=split_in_name(place.file),
        extra={key: value for key, value in record.items() if key not in READ} | _label(record),
        names=NAMES,
    )
    rows.add(row)


def _options(record: JsonObject) -> dict[str, str]:
    """By letter; older files have a list of letter and content."""
    options: Any = record.get("options")
    if isinstance(options, list):
        pairs = [option for option in options if isinstance(option, dict) and len(option) == 2]
        options = {option["letter"]: option["content"] for option in pairs}
    if not isinstance(options, dict) or not all(isinstance(option, str) for option in options.values()):
        raise ValueError("should be the options by letter")
    return dict(sorted(options.items()))


def _label(record: JsonObject) -> dict[str, str]:
    """Task and type of question together: `Treatment / Reasoning`."""
    words = [str(record[name]) for name in ("medical_task", "question_type") if record.get(name)]
    return {"label": " / ".join(words)} if words else {}


def _image(record_file: Path, name: str, rows: QuestionRows) -> str:
    path = path_inside(name)
    file = first_file(folder / below / path for folder in record_file.parents[:3] for below in ("images", ""))
    if file is None:
        raise ValueError(f"{name!r}: there is no such file in images/")
    return rows.add_image(f"images/{path}", file)
