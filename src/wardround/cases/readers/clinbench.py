"""ClinBench's records: {"id", "question_stem", "options", "answer"}, with "image" where a case is told with images.

JSON or JSONL, one record a file or many, images beside them or in a folder `images`. Records of the same id, be it
told as ClinBench-text-00001 and ClinBench-mm-00001, are one case with two tellings. A record is the telling that its
id or its file's name says (text; mm, multimodal), else the one with images if it has any. `specialty` and `rare` (or
a tag) are read where a record has them; the paper's own template names neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wardround.cases.readers.tables.case_collector import Gathered, Place, files_of, given
from wardround.cases.readers.tables.choices import plain
from wardround.cases.readers.tables.image_cell import inside
from wardround.cases.readers.tables.json_file import Told, json_records, jsonl_records, text
from wardround.cases.readers.tables.option_lists import gold_of, options_of, printed
from wardround.core.case import Case
from wardround.core.errors import BadInput

QUESTION = "What is the most likely primary diagnosis for this patient?"
FEWEST = 6  # options of a question
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
Way = Literal["text", "multimodal"]
_WAY = re.compile(r"(?<![a-z])(text|mm|multimodal|check)(?![a-z])[-_ ]?", re.IGNORECASE)
_ASKED = re.compile(r"(?:^|(?<=[\s.!?:]))((?:which|what)\b[^?\n]*\?(?:\s*please\b[^?\n]*)?)\s*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Record:
    """One telling of a case."""

    place: Place
    id: str
    way: Way
    stem: str
    asked: str
    options: tuple[str, ...]
    gold: int
    images: tuple[str, ...]
    more: dict[str, Any]


def read_clinbench(source: Path) -> Gathered:
    """The cases of a JSON or JSONL file, or of a folder of them; text and multimodal records are joined by id."""
    gathered = Gathered()
    joined: dict[str, list[Record]] = {}
    for file in files_of(source, ".json", ".jsonl"):
        for place, told in _records(file, gathered):
            if (record := _record(place, told, gathered)) is None:
                continue
            records = joined.setdefault(record.id, [])
            if (wrong := _wrong_beside(records, record)) is not None:
                gathered.problems.append(place.problem(*wrong))
            else:
                records.append(record)
    for records in filter(None, joined.values()):
        gathered.take(records[0].place, _case(records), NAMES)
    return gathered.or_refused(source)


def _records(file: Path, gathered: Gathered) -> Iterator[tuple[Place, Told]]:
    """The records of a file. One that is no JSON is a problem: there may be a file for each question."""
    if file.suffix == ".jsonl":
        yield from ((Place(file, line), told) for line, told in jsonl_records(file, gathered.problems))
        return
    try:
        yield from ((Place(file, within=within), told) for within, told in json_records(file, named="question_stem"))
    except BadInput as error:
        gathered.problems.append(error.problem)


def _record(place: Place, told: Told, gathered: Gathered) -> Record | None:
    """The telling of a record, or None: what is wrong with it is among the problems."""
    field = "id"
    try:
        name = text(told, field)
        field = "question_stem"
        stem, asked = stem_and_question(text(told, field))
        field = "options"
        options = options_of(told.get(field))
        field = "answer"
        gold = gold_of(options, told.get(field))
        field = "image"
        images = tuple(_image(place.file, image, gathered) for image in _listed(told.get(field)))
        field = "rare"
        tags = _tags(told)
    except ValueError as error:
        gathered.problems.append(place.problem(field, str(error)))
        return None
    if len(options) < FEWEST:
        message = f"are {len(options)}; ClinBench's questions have {FEWEST} or more (the case is kept)"
        gathered.problems.append(place.problem("options", message))
    specialty = told.get("specialty")
    if specialty and (specialty := specialty_named(str(specialty))) not in SPECIALTIES.values():
        message = f"{specialty!r} is none of ClinBench's {len(SPECIALTIES)} (cases with it are kept)"
        if not any(problem.message == message for problem in gathered.problems):  # once, however many have it
            gathered.problems.append(place.problem("specialty", message))
    more = {key: value for key, value in told.items() if key not in READ | set(Case.model_fields)}
    more |= given({"specialty": specialty, "tags": tags, "split": told.get("split")})
    way = _way(name, place.file, bool(images))
    return Record(place, _WAY.sub("", name), way, stem, asked, tuple(options.values()), gold, images, more)


def _way(name: str, file: Path, with_images: bool) -> Way:
    for told in (name, file.stem):
        if (found := _WAY.search(told)) and found[1].lower() != "check":
            return "text" if found[1].lower() == "text" else "multimodal"
    return "multimodal" if with_images else "text"


def _wrong_beside(records: list[Record], record: Record) -> tuple[str, str] | None:
    """The field and why a record cannot be another telling of a case; None if it can."""
    for other in records:
        if other.way == record.way:
            return "id", f"{record.id!r} is told twice as {record.way}"
        if list(map(plain, other.options)) != list(map(plain, record.options)):
            return "options", f"are not those of the case's other telling ({other.place.file.name})"
        if other.gold != record.gold:
            return "answer", f"is not that of the case's other telling ({other.place.file.name})"
    if record.way == "multimodal" and not record.images:
        return "image", "is required where a case is told with images"
    return None


def _case(records: list[Record]) -> dict[str, Any]:
    """One case of its tellings. Asked in its own way, it is told with images if it can be."""
    images = list(dict.fromkeys(image for record in records for image in record.images))
    tellings = {
        record.way: {"history": record.stem, "images": [images.index(image) for image in record.images]}
        for record in sorted(records, key=lambda record: record.way == "multimodal")
    }
    first = records[0]
    more = {key: value for record in reversed(records) for key, value in record.more.items()}
    question = {
        "id": "mcq",
        "kind": "choice",
        "prompt": first.asked,
        "options": list(first.options),
        "gold": first.gold,
        **{key: more.pop(key) for key in ("rationale", "paraphrase") if key in more},
    }
    return {
        "id": first.id,
        **more,
        "origin": {"name": "clinbench"},
        "history": tellings.get("multimodal", tellings.get("text", {}))["history"],
        "images": [{"path": image} for image in images],
        "tellings": tellings,
        "questions": [question],
    }


def stem_and_question(stem: str) -> tuple[str, str]:
    """The stem without the question at its end, and that question; the paper's own where it ends with none."""
    asked = _ASKED.search(stem)
    if asked is None or not stem[: asked.start()].strip():
        return stem.strip(), QUESTION
    return stem[: asked.start()].strip(), " ".join(asked[1].split())


def specialty_named(told: str) -> str:
    """The paper's name of a specialty, however it is written; what is none of them stays as it is told."""
    return _NAMED.get(_letters(told), told.strip())


def _letters(told: str) -> str:
    """A name without what people write differently: case, `&` and `and`, signs, British spelling."""
    letters = re.sub(r"\band\b|[^a-z]", "", told.lower())
    for british, american in BRITISH.items():
        letters = letters.replace(british, american)
    return letters


_NAMED = {_letters(name): full for short, full in SPECIALTIES.items() for name in (short, full)}


def _tags(told: Told) -> list[str]:
    tags: Any = told.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ValueError("tags should be a list of texts")
    if (rare := told.get("rare")) is not None:
        word = str(rare).strip().lower()
        if word not in RARE:
            raise ValueError(f"is {rare!r}; expected true or false, rare or non-rare")
        tags = [*tags, RARE[word]]
    return list(dict.fromkeys(RARE.get(tag.strip().lower(), tag) for tag in tags))


def _listed(image: Any) -> list[str]:
    image = (printed(image.strip()) or image) if isinstance(image, str) else image
    images = image if isinstance(image, list) else [image] if image else []
    if not all(isinstance(each, str) and each.strip() for each in images):
        raise ValueError("should be a name or a list of names")
    return images


def _image(file: Path, name: str, gathered: Gathered) -> str:
    for folder in (file.parent, file.parent.parent):
        for path in (folder / inside(name), folder / "images" / inside(name), folder / "image" / inside(name)):
            if path.is_file():
                return gathered.hold(f"images/{inside(name).removeprefix('images/')}", path)
    raise ValueError(f"{name!r}: there is no such file beside {file.name} or in images/")
