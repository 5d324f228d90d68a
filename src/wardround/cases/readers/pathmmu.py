"""PathMMU as it was released: data.json with a list of questions per subset and split, and a folder of images.

A question has No, img, question, options ("A) ..."), answer (the option) and explanation. The release holds the images
of some subsets only; the others have to be fetched from their sources and put into images/ (its instructions.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wardround.cases.readers.tables.case_collector import CaseCollector, RecordPlace
from wardround.cases.readers.tables.image_cell import path_inside
from wardround.cases.readers.tables.json_file import JsonObject, read_json, required_text
from wardround.cases.readers.tables.option_lists import gold_index, parse_options
from wardround.cases.readers.tables.source_files import first_file
from wardround.core.case import drop_empty
from wardround.core.errors import BadInput, Problem

DATA, IMAGES = "data.json", "images"


def read_pathmmu(source: Path) -> CaseCollector:
    """The cases of PathMMU's folder, or of its data.json; the questions about one image are one case."""
    file = source if source.is_file() else source / DATA
    document = read_json(file)
    parts = _parts(document)
    if not parts:
        raise BadInput(file, 'is not PathMMU\'s data: expected {"Atlas": {"val": [...], "test": [...]}, ...}')
    collector = CaseCollector()
    for subset, split, records in parts:
        place = f"{subset}.{split}"
        cases: dict[str, JsonObject] = {}
        missing: list[str] = []
        for index, record in enumerate(records):
            _add(RecordPlace(file, within=f"{place}[{index}]"), record, cases, missing, collector.problems)
        if missing:
            message = f"{len(missing):,} of {len(records):,} questions are left out: no file {IMAGES}/{missing[0]}"
            more = "" if len(set(missing)) == 1 else f" and {len(set(missing)) - 1:,} other images"
            collector.problems.append(Problem(file, None, place, f"{message}{more}"))
        for image, case in cases.items():
            path = collector.add_image(f"{IMAGES}/{image}", _image_file(file, image) or file)
            fields: JsonObject = {"id": f"pathmmu-{subset}-{split}-{Path(image).stem}", "split": split, "cluster": path}
            fields |= {"tags": [subset], "images": [{"path": path, "modality": "histopathology"}]}
            collector.add(RecordPlace(file, within=place), case | fields, {})
    return collector.require_cases(source)


def _parts(document: Any) -> list[tuple[str, str, list[Any]]]:
    """The lists of questions, each with the names of its subset and split."""
    subsets = document.items() if isinstance(document, dict) else []
    return [
        (subset, split, records)
        for subset, splits in subsets
        if isinstance(splits, dict)
        for split, records in splits.items()
        if isinstance(records, list)
    ]


def _add(
    place: RecordPlace, record: Any, cases: dict[str, JsonObject], missing: list[str], problems: list[Problem]
) -> None:
    """Adds a question to the case of its image, or its image to the missing ones, or its problem."""
    field = None
    try:
        if not isinstance(record, dict):
            raise ValueError("is not an object")
        field = "img"
        image = path_inside(required_text(record, field))
        field = "question"
        prompt = required_text(record, field)
        field = "options"
        options = parse_options(record.get(field))
        field = "answer"
        gold = gold_index(options, record.get(field))
    except ValueError as error:
        problems.append(place.problem(field, str(error)))
        return
    if _image_file(place.file, image) is None:
        missing.append(image)
        return
    case = cases.setdefault(image, {"origin": {"name": "PathMMU"}, "questions": []})
    question: JsonObject = {"id": f"q{len(case['questions']) + 1}", "kind": "choice", "prompt": prompt}
    question |= {"options": list(options.values()), "gold": gold, "rationale": record.get("explanation")}
    case["questions"].append(drop_empty(question | {"source_no": record.get("No")}))


def _image_file(data: Path, image: str) -> Path | None:
    return first_file([data.parent / IMAGES / image])
