"""CURE's case record, as JSONL or as a folder of JSON files.

Each record has case_id, section, modalities, age, sex, history, findings, images, diagnosis, options, answer, pmids and
split; only case_id, diagnosis and one of history and findings are required. `answer` is the letter, the number from 0
or the text of the right option; without it, the option equal to the diagnosis is right. An image is a path beside the
file, or an object with `path` and `modality`. Fields that reveal the diagnosis (title, captions, ...) are dropped.
"""

from pathlib import Path
from typing import Any

from wardround.cases.readers.tables.case_collector import CaseCollector, RecordPlace
from wardround.cases.readers.tables.choices import index_of_letter, index_of_number, index_of_text, strip_letters
from wardround.cases.readers.tables.image_cell import path_inside
from wardround.cases.readers.tables.json_file import JsonObject, list_of_texts, read_records, required_text
from wardround.cases.readers.tables.source_files import find_files
from wardround.core.case import Case, drop_empty
from wardround.core.text import LETTERS

PROMPT = "What is the most likely diagnosis?"  # our choice: the paper's prompts were not published
READ = {
    *("case_id", "section", "modalities", "age", "sex", "history", "findings", "images", "diagnosis"),
    *("options", "answer", "pmids", "split", "accept", "published", "origin_pmids"),
}
LEAKS = {
    *("title", "caption", "captions", "discussion", "background", "outcome", "differential", "differential_diagnosis"),
    *("differential_diagnosis_list", "final_diagnosis", "keywords", "take_home_message", "teaching_points"),
    *("clinical_perspective", "imaging_perspective", "figures", "references"),
}
NAMES = {
    "id": "case_id",
    "patient.age": "age",
    "patient.sex": "sex",
    "specialty": "section",
    "questions[0]": "options",
}


def read_cure(source: Path) -> CaseCollector:
    """The cases of a JSONL file, of a JSON file, or of a folder of them."""
    cases = CaseCollector()
    for file in find_files(source, ".json", ".jsonl"):
        folder = file.parent.relative_to(source) if source.is_dir() else Path()
        for place, record in read_records(file, cases.problems, record_field="case_id"):
            _add(place, record, folder, cases)
    return cases.require_cases(source)


def _add(place: RecordPlace, record: JsonObject, folder: Path, cases: CaseCollector) -> None:
    """Keeps the case of a record, or its problem. `folder`: where its file is in the source."""
    field = "case_id"
    try:
        name = required_text(record, field)
        field = "diagnosis"
        diagnosis = required_text(record, field).strip()
        field = "options"
        options = _options(record)
        field = "answer"
        gold = _gold(options, record.get(field), diagnosis) if options else None
        field = "images"
        images = [_image(place.file, image, record, folder, cases) for image in _items(record, field)]
        field = "history"
        if not any(str(record.get(key) or "").strip() for key in ("history", "findings")):
            raise ValueError("is required, or findings")
        field = "pmids"
        pmids = _pmids(record, field)
        field = "origin_pmids"
        origin_pmids = _pmids(record, field)
    except ValueError as error:
        cases.problems.append(place.problem(field, str(error)))
        return
    mcq = {"id": "mcq", "kind": "choice", "prompt": PROMPT, "options": options, "gold": gold}
    open_question = {"id": "open", "kind": "open", "prompt": PROMPT, "gold": diagnosis, "accept": record.get("accept")}
    questions = [mcq, drop_empty(open_question)]
    case = {
        "id": name,
        "split": record.get("split"),
        "specialty": record.get("section"),
        "origin": {"name": "eurorad", "pmids": origin_pmids, **drop_empty({"published": record.get("published")})},
        "patient": drop_empty({"age": record.get("age"), "sex": record.get("sex")}),
        "history": record.get("history"),
        "findings": record.get("findings"),
        "images": images,
        "references": [{"pmid": pmid} for pmid in pmids],
        "modalities": record.get("modalities"),
        "questions": questions if options else questions[1:],
        **{key: value for key, value in record.items() if key not in READ | LEAKS | set(Case.model_fields)},
    }
    cases.add(place, drop_empty(case), NAMES)


def _image(record_file: Path, image: Any, record: JsonObject, folder: Path, cases: CaseCollector) -> JsonObject:
    """An image with its own modality, or the case's if that has one only."""
    path = image.get("path") if isinstance(image, dict) else image
    if not isinstance(path, str) or not path.strip():
        raise ValueError("an image is a path, or an object with path and modality")
    file = record_file.parent / path_inside(path)
    if not file.is_file():
        raise ValueError(f"{path!r}: there is no such file beside {record_file.name}")
    modality = image.get("modality") if isinstance(image, dict) else None
    modalities = record.get("modalities")
    if modality is None and isinstance(modalities, list) and len(modalities) == 1:
        modality = modalities[0]
    path = cases.add_image((folder / path_inside(path)).as_posix(), file)
    return drop_empty({"path": path, "modality": modality})


def _options(record: JsonObject) -> list[str]:
    """By letter or in order; none if there is only the open question."""
    options = record.get("options") or []
    if isinstance(options, dict):
        options = [options[letter] for letter in sorted(options)]
    return strip_letters(list_of_texts(options))


def _gold(options: list[str], answer: object, diagnosis: str) -> int:
    """The index of the right option, given as number, letter or text."""
    if (index := index_of_number(options, answer)) is not None:
        return index
    if isinstance(answer, str) and answer.strip().upper() in LETTERS[: len(options)] and len(answer.strip()) == 1:
        return index_of_letter(dict(zip(LETTERS, options, strict=False)), answer)
    return index_of_text(options, diagnosis if answer in (None, "") else answer)


def _pmids(record: JsonObject, name: str) -> list[str]:
    pmids = [str(pmid).strip() for pmid in _items(record, name)]
    if wrong := [pmid for pmid in pmids if not pmid.isascii() or not pmid.isdigit()]:
        raise ValueError(f"{wrong[0]!r} is not a PMID")
    return list(dict.fromkeys(pmids))


def _items(record: JsonObject, name: str) -> list[Any]:
    value = record.get(name)
    if value in (None, ""):
        return []
    if not isinstance(value, list):
        raise ValueError(f"should be a list, not {value!r}"[:200])
    return value
