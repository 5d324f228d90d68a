"""OmniMedVQA: one JSON file a data set below QA_information, images beside it below Images.

Each record has question_id, question, option_A to option_D, gt_answer (the text of the right option), image_path
(from the folder that holds both), modality_type (`modality` in a few), question_type and dataset.
"""

from __future__ import annotations

from pathlib import Path

from wardround.cases.readers.medq_deg.clean_twins import Row
from wardround.cases.readers.tables.choices import by_text, lettered
from wardround.cases.readers.tables.image_cell import inside
from wardround.cases.readers.tables.json_file import Told, json_records, text
from wardround.cases.readers.tables.question_rows import Rows
from wardround.core.errors import BadInput, Problem

OPTIONS = {f"option_{letter}": letter for letter in "ABCDEFGH"}
NAMES = {"id": "question_id", "prompt": "question", "options": "option_A", "gold": "gt_answer"}
READ = {*OPTIONS, "question_id", "question", "gt_answer", "image_path", "modality_type", "modality", "question_type"}


def read_omnimedvqa(source: Path) -> Rows:
    """The cases of the whole folder, of a folder of its JSON files, or of one of them."""
    rows = Rows("omnimedvqa")
    for file in _files(source):
        for place, told in json_records(file):
            field = "question_id"
            try:
                name = text(told, field)
                field = "question"
                prompt = text(told, field)
                field = "gt_answer"
                options = list(lettered({OPTIONS[key]: _said(told, key) for key in OPTIONS}, "ABCDEFGH").values())
                gold = by_text(options, text(told, field))
                field = "image_path"
                image = _image(file, text(told, field), rows)
            except ValueError as error:
                rows.problems.append(Problem(file, None, f"{place}.{field}", str(error)))
                continue
            more = {key: value for key, value in told.items() if key not in READ and key != "dataset"}
            rows.take(
                Row(
                    file=file,
                    line=None,
                    place=place,
                    id=name,
                    prompt=prompt,
                    options=tuple(options),
                    gold=gold,
                    images=(image,),
                    modality=_modality(told),
                    source=_said(told, "dataset") or None,
                    more=more | ({"label": label} if (label := _said(told, "question_type")) else {}),
                    names=NAMES,
                )
            )
    return rows.joined()


def _files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    below = source / "QA_information"
    found = sorted((below if below.is_dir() else source).rglob("*.json"))
    if not found:
        raise BadInput(source, "there is no .json file in it" if source.exists() else "there is no such file or folder")
    return found


def _said(told: Told, name: str) -> str:
    value = told.get(name)
    return "" if value is None else str(value).strip()


def _modality(told: Told) -> str | None:
    """`CT` for `CT(Computed Tomography)`."""
    said = _said(told, "modality_type") or _said(told, "modality")
    return said.partition("(")[0].strip() or None


def _image(file: Path, path: str, rows: Rows) -> str:
    """An image below the nearest folder above the JSON file that has it."""
    for folder in file.parents[:4]:
        if (folder / inside(path)).is_file():
            return rows.hold(inside(path), folder / inside(path))
    raise ValueError(f"{path!r}: there is no such file")
