"""OmniMedVQA: one JSON file per data set below QA_information, and images below Images.

Each record has question_id, question, option_A to option_D, gt_answer (the text of the right option), image_path
(relative to the folder that has both), modality_type (`modality` in a few), question_type and dataset.
"""

from pathlib import Path

from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.cases.readers.tables.choices import index_of_text, options_by_letter
from wardround.cases.readers.tables.clean_twins import QuestionRow
from wardround.cases.readers.tables.image_cell import path_inside
from wardround.cases.readers.tables.json_file import JsonObject, json_records, required_text
from wardround.cases.readers.tables.question_rows import QuestionRows
from wardround.cases.readers.tables.source_files import find_files, first_file

OPTIONS = {f"option_{letter}": letter for letter in "ABCDEFGH"}
NAMES = {"id": "question_id", "prompt": "question", "options": "option_A", "gold": "gt_answer"}
READ = {
    *OPTIONS,
    *("question_id", "question", "gt_answer", "image_path", "modality_type", "modality", "question_type", "dataset"),
}


def read_omnimedvqa(source: Path) -> QuestionRows:
    """The cases of the whole folder, of a folder of its JSON files, or of one of them."""
    rows = QuestionRows("omnimedvqa")
    for file in find_files(source, ".json", subfolder="QA_information"):
        for place, record in json_records(file):
            _add(place, record, rows)
    return rows.group()


def _add(place: RecordPlace, record: JsonObject, rows: QuestionRows) -> None:
    field = "question_id"
    try:
        name = required_text(record, field)
        field = "question"
        prompt = required_text(record, field)
        field = "gt_answer"
        texts = {letter: _text(record, key) for key, letter in OPTIONS.items()}
        options = tuple(options_by_letter(texts, "ABCDEFGH").values())
        gold = index_of_text(options, required_text(record, field))
        field = "image_path"
        image = _image(place.file, required_text(record, field), rows)
    except ValueError as error:
        rows.problems.append(place.problem(field, str(error)))
        return
    extra = {key: value for key, value in record.items() if key not in READ}
    modality = _text(record, "modality_type") or _text(record, "modality")
    row = QuestionRow(
        place=place,
        id=name,
        prompt=prompt,
        options=options,
        gold=gold,
        images=(image,),
        modality=modality.partition("(")[0].strip() or None,  # `CT` of `CT(Computed Tomography)`
        source=_text(record, "dataset") or None,
        extra=extra | ({"label": label} if (label := _text(record, "question_type")) else {}),
        names=NAMES,
    )
    rows.add(row)


def _text(record: JsonObject, name: str) -> str:
    value = record.get(name)
    return "" if value is None else str(value).strip()


def _image(record_file: Path, name: str, rows: QuestionRows) -> str:
    """An image below the nearest folder above the JSON file that has it."""
    path = path_inside(name)
    file = first_file(folder / path for folder in record_file.parents[:4])
    if file is None:
        raise ValueError(f"{name!r}: there is no such file")
    return rows.add_image(path, file)
