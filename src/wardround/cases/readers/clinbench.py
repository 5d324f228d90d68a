"""ClinBench's records: {"id", "question_stem", "options", "answer"}, and "image" in a multimodal record.

JSON or JSONL, one record per file or many, images beside the file or in a folder `images`. Records with the same id
(ClinBench-text-00001 and ClinBench-mm-00001 are the same) are one case with two tellings. A record's telling is the one
that its id or its file's name says (text; mm, multimodal), else multimodal if it has images. `specialty` and `rare` (or
a tag) are read if a record has them; the paper's own template has neither.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wardround.cases.readers.tables.case_collector import CaseCollector, RecordPlace
from wardround.cases.readers.tables.image_cell import path_inside
from wardround.cases.readers.tables.json_file import JsonObject, PlacedRecord, read_records, required_text
from wardround.cases.readers.tables.option_lists import gold_index, parse_options, parse_printed
from wardround.cases.readers.tables.source_files import find_files_by_suffix, first_file
from wardround.core.case import Case, drop_empty
from wardround.core.errors import BadInput
from wardround.core.text import fold

QUESTION = "What is the most likely primary diagnosis for this patient?"
MIN_OPTIONS = 6
SPECIALTIES = {
    "GH": "Gastroenterology and Hematology",
    "Surg": "Surgery",
    "Neuro": "Neurosciences",
    "Oph/ENT": "Ophthalmology and ENT",
    "DI": "Dermatology and Immunology",
    "Resp": "Respiratory and Thoracic Medicine",
    "Dent": "Dentistry",
    "OG": "Obstetrics and Gynecology",
    "Ortho": "Orthopedics",
    "Cardio": "Cardiovascular and Internal Medicine",
    "Ped": "Pediatrics",
}
BRITISH = {"haemat": "hemat", "gynaec": "gynec", "paediatr": "pediatr", "orthopaed": "orthoped"}
READ = {"id", "question_stem", "options", "answer", "image", "specialty", "rare", "tags", "split"}
NAMES = {"questions[0]": "options", "tellings": "image"}
RARE = {"rare": "rare", "true": "rare", "yes": "rare", "1": "rare"}
RARE |= dict.fromkeys(("non-rare", "nonrare", "not rare", "common", "false", "no", "0"), "non-rare")
TellingName = Literal["text", "multimodal"]
_TELLING = re.compile(r"(?<![a-z])(text|mm|multimodal|check)(?![a-z])[-_ ]?", re.IGNORECASE)
_FINAL_QUESTION = re.compile(
    r"(?:^|(?<=[\s.!?:]))((?:which|what)\b[^?\n]*\?(?:\s*please\b[^?\n]*)?)\s*\Z", re.IGNORECASE
)


@dataclass(frozen=True)
class TellingRecord:
    """One telling of a case."""

    place: RecordPlace
    id: str
    telling: TellingName
    stem: str
    prompt: str
    options: tuple[str, ...]
    gold: int
    images: tuple[str, ...]
    extra: JsonObject


def read_clinbench(source: Path) -> CaseCollector:
    """The cases of a JSON or JSONL file, or of a folder of them; text and multimodal records are joined by id."""
    cases = CaseCollector()
    records_by_id: dict[str, list[TellingRecord]] = {}
    for file in find_files_by_suffix(source, ".json", ".jsonl"):
        for place, fields in _records_of(file, cases):
            if (record := _parse_record(place, fields, cases)) is None:
                continue
            records = records_by_id.setdefault(record.id, [])
            if (mismatch := _mismatch(records, record)) is not None:
                cases.problems.append(place.problem(*mismatch))
            else:
                records.append(record)
    for records in filter(None, records_by_id.values()):
        cases.add(records[0].place, _case(records), NAMES)
    return cases.require_cases(source)


def _records_of(file: Path, cases: CaseCollector) -> Iterator[PlacedRecord]:
    """The records of a file. A file that is not JSON is only a problem: there may be one file per question."""
    try:
        yield from read_records(file, cases.problems, record_field="question_stem")
    except BadInput as error:
        cases.problems.append(error.problem)


def _parse_record(place: RecordPlace, fields: JsonObject, cases: CaseCollector) -> TellingRecord | None:
    """The telling of a record; None, and a problem, if it cannot be used."""
    field = "id"
    try:
        name = required_text(fields, field)
        field = "question_stem"
        stem, prompt = stem_and_question(required_text(fields, field))
        field = "options"
        options = parse_options(fields.get(field))
        field = "answer"
        gold = gold_index(options, fields.get(field))
        field = "image"
        images = tuple(_image(place.file, image, cases) for image in _image_names(fields.get(field)))
        field = "rare"
        tags = _tags(fields)
    except ValueError as error:
        cases.problems.append(place.problem(field, str(error)))
        return None
    if len(options) < MIN_OPTIONS:
        message = f"are {len(options)}; ClinBench's questions have {MIN_OPTIONS} or more (the case is kept)"
        cases.problems.append(place.problem("options", message))
    specialty = fields.get("specialty")
    if specialty and (specialty := specialty_named(str(specialty))) not in SPECIALTIES.values():
        message = f"{specialty!r} is not one of ClinBench's {len(SPECIALTIES)} (cases with it are kept)"
        if not any(problem.message == message for problem in cases.problems):  # once for all cases
            cases.problems.append(place.problem("specialty", message))
    extra = {key: value for key, value in fields.items() if key not in READ | set(Case.model_fields)}
    extra |= drop_empty({"specialty": specialty, "tags": tags, "split": fields.get("split")})
    telling = _telling(name, place.file, bool(images))
    options_list = tuple(options.values())
    return TellingRecord(place, _TELLING.sub("", name), telling, stem, prompt, options_list, gold, images, extra)


def _telling(name: str, file: Path, has_images: bool) -> TellingName:
    for text in (name, file.stem):
        if (match := _TELLING.search(text)) and match[1].lower() != "check":
            return "text" if match[1].lower() == "text" else "multimodal"
    return "multimodal" if has_images else "text"


def _mismatch(records: list[TellingRecord], record: TellingRecord) -> tuple[str, str] | None:
    """The field and the reason if a record cannot be another telling of the case; None if it can."""
    for other in records:
        if other.telling == record.telling:
            return "id", f"{record.id!r} has two records with the telling {record.telling}"
        if list(map(fold, other.options)) != list(map(fold, record.options)):
            return "options", f"are not those of the case's other telling ({other.place.file.name})"
        if other.gold != record.gold:
            return "answer", f"is not that of the case's other telling ({other.place.file.name})"
    if record.telling == "multimodal" and not record.images:
        return "image", "is required in a multimodal record"
    return None


def _case(records: list[TellingRecord]) -> dict[str, Any]:
    """One case of its tellings; its own history is the multimodal one if it has one."""
    images = list(dict.fromkeys(image for record in records for image in record.images))
    tellings: dict[str, dict[str, Any]] = {
        record.telling: {"history": record.stem, "images": [images.index(image) for image in record.images]}
        for record in sorted(records, key=lambda record: record.telling == "multimodal")
    }
    first = records[0]
    extra = {key: value for record in reversed(records) for key, value in record.extra.items()}
    question: dict[str, Any] = {
        "id": "mcq",
        "kind": "choice",
        "prompt": first.prompt,
        "options": list(first.options),
        "gold": first.gold,
        **{key: extra.pop(key) for key in ("rationale", "paraphrase") if key in extra},
    }
    return {
        "id": first.id,
        **extra,
        "origin": {"name": "clinbench"},
        "history": tellings["multimodal" if "multimodal" in tellings else "text"]["history"],
        "images": [{"path": image} for image in images],
        "tellings": tellings,
        "questions": [question],
    }


def stem_and_question(stem: str) -> tuple[str, str]:
    """The stem without the question at its end, and that question; the paper's question if the stem has none."""
    question = _FINAL_QUESTION.search(stem)
    if question is None or not stem[: question.start()].strip():
        return stem.strip(), QUESTION
    return stem[: question.start()].strip(), " ".join(question[1].split())


def specialty_named(name: str) -> str:
    """The paper's name of a specialty, whatever its spelling; any other name is returned unchanged."""
    return _SPECIALTY_BY_LETTERS.get(_letters(name), name.strip())


def _letters(name: str) -> str:
    """A name without what people write differently: case, `&` and `and`, punctuation, British spelling."""
    letters = re.sub(r"\band\b|[^a-z]", "", name.lower())
    for british, american in BRITISH.items():
        letters = letters.replace(british, american)
    return letters


_SPECIALTY_BY_LETTERS = {_letters(name): full for short, full in SPECIALTIES.items() for name in (short, full)}


def _tags(fields: JsonObject) -> list[str]:
    tags: Any = fields.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ValueError("tags should be a list of texts")
    if (rare := fields.get("rare")) is not None:
        word = str(rare).strip().lower()
        if word not in RARE:
            raise ValueError(f"is {rare!r}; expected true or false, rare or non-rare")
        tags = [*tags, RARE[word]]
    return list(dict.fromkeys(RARE.get(tag.strip().lower(), tag) for tag in tags))


def _image_names(value: Any) -> list[str]:
    value = (parse_printed(value.strip()) or value) if isinstance(value, str) else value
    names = value if isinstance(value, list) else [value] if value else []
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise ValueError("should be a name or a list of names")
    return names


def _image(record_file: Path, name: str, cases: CaseCollector) -> str:
    path = path_inside(name)
    folders = record_file.parents[:2]
    file = first_file(folder / below / path for folder in folders for below in ("", "images", "image"))
    if file is None:
        raise ValueError(f"{name!r}: there is no such file beside {record_file.name} or in images/")
    return cases.add_image(f"images/{path.removeprefix('images/')}", file)
