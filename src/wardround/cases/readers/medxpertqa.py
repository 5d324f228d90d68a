"""MedXpertQA, the part with images: MM/{dev,test}.jsonl, and its images unpacked into images/.

Each line has id, question, options (by letter), label, images, medical_task, body_system and question_type. The
question repeats the options behind `Answer Choices:`; that part is cut, because prompts show the options themselves.
The data set does not tell the modality of its images.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from wardround.cases.readers.medq_deg.clean_twins import Row
from wardround.cases.readers.medq_deg.released import split_of
from wardround.cases.readers.tables.choices import by_letter
from wardround.cases.readers.tables.image_cell import inside
from wardround.cases.readers.tables.json_file import Told, jsonl_records, text
from wardround.cases.readers.tables.question_rows import Rows
from wardround.core.errors import BadInput, Problem

CHOICES = re.compile(r"\s*Answer Choices:\s*\(A\).*\Z", re.DOTALL)
NAMES = {"id": "id", "prompt": "question", "options": "options", "gold": "label"}
READ = {"id", "question", "options", "label", "images", "modality"}


def read_medxpertqa(source: Path) -> Rows:
    """The cases of the whole folder, of MM/, or of one of its .jsonl files."""
    rows = Rows("medxpertqa")
    for file in _files(source):
        for line, told in jsonl_records(file, rows.problems):
            field = "id"
            try:
                name = text(told, field)
                field = "question"
                prompt = CHOICES.sub("", text(told, field))
                field = "options"
                options = _options(told)
                field = "label"
                gold = by_letter(options, told.get(field))
                field = "images"
                images = tuple(_image(file, str(image), rows) for image in told.get(field) or [])
            except ValueError as error:
                rows.problems.append(Problem(file, line, field, str(error)))
                continue
            rows.take(
                Row(
                    file=file,
                    line=line,
                    place="",
                    id=name,
                    prompt=prompt,
                    options=tuple(options.values()),
                    gold=gold,
                    images=images,
                    modality=told.get("modality") or None,
                    split=split_of(file),
                    more={key: value for key, value in told.items() if key not in READ} | _label(told),
                    names=NAMES,
                )
            )
    return rows.joined()


def _files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    below = source / "MM"
    found = sorted((below if below.is_dir() else source).glob("*.jsonl"))
    if not found:
        raise BadInput(
            source, "there is no .jsonl file in it" if source.exists() else "there is no such file or folder"
        )
    return found


def _options(told: Told) -> dict[str, str]:
    """By letter; older files have a list of letter and content."""
    options: Any = told.get("options")
    if isinstance(options, list):
        options = {each["letter"]: each["content"] for each in options if isinstance(each, dict) and len(each) == 2}
    if not isinstance(options, dict) or not all(isinstance(option, str) for option in options.values()):
        raise ValueError("should be the options by letter")
    return dict(sorted(options.items()))


def _label(told: Told) -> dict[str, str]:
    """Task and kind of question together: `Treatment / Reasoning`."""
    words = [str(told[name]) for name in ("medical_task", "question_type") if told.get(name)]
    return {"label": " / ".join(words)} if words else {}


def _image(file: Path, name: str, rows: Rows) -> str:
    for folder in file.parents[:3]:
        for path in (folder / "images" / inside(name), folder / inside(name)):
            if path.is_file():
                return rows.hold(f"images/{inside(name)}", path)
    raise ValueError(f"{name!r}: there is no such file in images/")
