"""The examples on MedQ-Deg's project site: a JSON list in which a record has its image at L0, L1 and L2.

Each has degradation_type, display_name, category, modality, dataset, question, options, answer (a letter),
answer_text, capability and images by level. Paths begin at the root of the site.
"""

from pathlib import Path, PurePosixPath
from typing import Any

from wardround.cases.readers.medq_deg.degradation_names import degradation
from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.cases.readers.tables.choices import index_of_letter, index_of_text, strip_letters
from wardround.cases.readers.tables.clean_twins import QuestionRow
from wardround.cases.readers.tables.image_cell import path_inside
from wardround.cases.readers.tables.json_file import JsonObject, json_records, list_of_texts, required_text
from wardround.cases.readers.tables.question_rows import QuestionRows
from wardround.cases.readers.tables.source_files import first_file
from wardround.core.errors import BadInput
from wardround.core.text import LETTERS

LEVELS = ("L0", "L1", "L2")


def read_medq_deg_site(source: Path) -> QuestionRows:
    """The cases of the site's degradation-examples.json."""
    if not source.is_file():
        raise BadInput(source, "there is no such file; this layout is one JSON file")
    rows = QuestionRows("medq-deg-site")
    for place, record in json_records(source):
        _add(place, record, rows)
    return rows.group()


def _add(place: RecordPlace, record: JsonObject, rows: QuestionRows) -> None:
    """The questions of a record, one for each level."""
    field = "question"
    try:
        prompt = required_text(record, field)
        field = "options"
        options = strip_letters(list_of_texts(record.get(field)))
        field = "answer"
        gold = index_of_letter(dict(zip(LETTERS, options, strict=False)), record.get(field))
        field = "answer_text"
        if record.get(field) and index_of_text(options, record[field]) != gold:
            raise ValueError(f"is {record[field]!r}, which is not option {record['answer']}")
        field = "degradation_type"
        degradations = {level: degradation(required_text(record, field), level) for level in LEVELS}
        field = "images"
        images = _images(place.file, record, rows)
    except ValueError as error:
        rows.problems.append(place.problem(field, str(error)))
        return
    clean = place.within.strip("[]").replace("].", "-").replace("[", "-")
    for level, path in images.items():
        row = QuestionRow(
            place=place,
            id=clean if level == "L0" else f"{clean}-{level}",
            prompt=prompt,
            options=tuple(options),
            gold=gold,
            images=(path,),
            modality=record.get("modality") or None,
            source=record.get("dataset") or None,
            degradation=degradations[level],
            of=None if level == "L0" else clean,
            extra={"label": record["capability"]} if record.get("capability") else {},
        )
        rows.add(row)


def _images(source: Path, record: JsonObject, rows: QuestionRows) -> dict[str, str]:
    images: Any = record.get("images")
    if not isinstance(images, dict) or "L0" not in images or not set(images) <= set(LEVELS):
        raise ValueError("should name an image at L0, and those at L1 and L2")
    return {level: _image(source, str(images[level]), rows) for level in LEVELS if level in images}


def _image(source: Path, name: str, rows: QuestionRows) -> str:
    """The file below a folder above the JSON; the site's own first folders may be missing on this machine."""
    path = PurePosixPath(path_inside(name))
    starts = range(min(3, len(path.parts)))
    file = first_file(folder.joinpath(*path.parts[start:]) for folder in source.parents[:3] for start in starts)
    if file is None:
        raise ValueError(f"{name!r}: there is no such file")
    return rows.add_image(str(path), file)
