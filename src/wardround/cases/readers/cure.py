"""CURE's case record (specs/protocols.md 2.6), as JSONL or as a folder of JSON files.

Each record has case_id, section, modalities, age, sex, history, findings, images, diagnosis, options, answer, pmids and
split; only case_id, diagnosis and one of history and findings are needed. `answer` is the letter, the number from 0 or
the text of the right option; without it, the option that reads as the diagnosis is right. An image is a path beside the
file, or an object with `path` and `modality`. What tells the diagnosis (title, captions, discussion ...) is not kept.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wardround.cases.readers.tables.choices import by_letter, by_text, without_letters
from wardround.cases.readers.tables.image_cell import inside
from wardround.cases.readers.tables.json_file import Told, json_records, jsonl_records, text
from wardround.cases.set import raised
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, Problem
from wardround.core.field_errors import complaints

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
LETTERS = "ABCDEFGHIJ"
NAMES = {"patient.age": "age", "patient.sex": "sex", "specialty": "section", "questions[0]": "options"}


@dataclass
class CureCases:
    """The usable records as a Source of cases. Images stay where they are until they are copied."""

    problems: list[Problem] = field(default_factory=list)
    _cases: list[Case] = field(default_factory=list)
    _held: dict[str, Path] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self._cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases)

    def copy_image(self, image: Image, there: Path) -> None:
        shutil.copyfile(self._held[image.path], there)

    def take(self, file: Path, line: int | None, place: str, told: Told, below: str) -> None:
        """Keeps the case of a record, or what is wrong with it."""
        field = "case_id"
        try:
            name = text(told, field)
            if name in self._ids:
                raise ValueError(f"{name!r} is there twice")
            field = "diagnosis"
            diagnosis = text(told, field).strip()
            field = "options"
            options = _options(told)
            field = "answer"
            gold = _gold(options, told.get(field), diagnosis) if options else None
            field = "images"
            images = [self._image(file, each, told, below) for each in _listed(told, field)]
            field = "history"
            if not any(str(told.get(each) or "").strip() for each in ("history", "findings")):
                raise ValueError("is required, or findings")
            field = "pmids"
            pmids = _pmids(told, field)
            field = "origin_pmids"
            own = _pmids(told, field)
        except ValueError as error:
            self.problems.append(Problem(file, line, _at(place, field), str(error)))
            return
        mcq = {"id": "mcq", "kind": "choice", "prompt": PROMPT, "options": options, "gold": gold}
        free = {"id": "open", "kind": "open", "prompt": PROMPT, "gold": diagnosis, **_given(accept=told.get("accept"))}
        case = {
            "id": name,
            "split": told.get("split"),
            "specialty": told.get("section"),
            "origin": {"name": "eurorad", "pmids": own, **_given(published=told.get("published"))},
            "patient": _given(age=told.get("age"), sex=told.get("sex")),
            "history": told.get("history"),
            "findings": told.get("findings"),
            "images": images,
            "references": [{"pmid": pmid} for pmid in pmids],
            "modalities": told.get("modalities"),
            "questions": [mcq, free] if options else [free],
            **{key: value for key, value in told.items() if key not in READ | LEAKS | set(Case.model_fields)},
        }
        try:
            self._cases.append(Case.model_validate(_given(**case)))
            self._ids.add(name)
        except ValidationError as error:
            for at, message in complaints(error):
                self.problems.append(Problem(file, line, _at(place, NAMES.get(at, at)), message))

    def _image(self, file: Path, told: Any, record: Told, below: str) -> dict[str, Any]:
        """An image with the modality that it tells, or that of a case with one modality."""
        path = told.get("path") if isinstance(told, dict) else told
        if not isinstance(path, str) or not path.strip():
            raise ValueError("an image is a path, or an object with path and modality")
        there = file.parent / inside(path)
        if not there.is_file():
            raise ValueError(f"{path!r}: there is no such file beside {file.name}")
        name = f"{below}/{inside(path)}" if below else inside(path)
        self._held[name] = there
        modality = told.get("modality") if isinstance(told, dict) else None
        only = record.get("modalities")
        if modality is None and isinstance(only, list) and len(only) == 1:
            modality = only[0]
        return _given(path=name, modality=modality)


def read_cure(source: Path) -> CureCases:
    """The cases of a JSONL file, of a JSON file, or of a folder of them."""
    cases = CureCases()
    for file in _files(source):
        below = file.parent.relative_to(source).as_posix() if source.is_dir() else ""
        below = "" if below == "." else below
        if file.suffix == ".jsonl":
            for line, told in jsonl_records(file, cases.problems):
                cases.take(file, line, "", told, below)
        else:
            for place, told in json_records(file, named="case_id"):
                cases.take(file, None, place, told, below)
    if not len(cases):
        if cases.problems:
            raise raised(cases.problems[0], " (and no other record can be used)")
        raise BadInput(source, "there is no record in it")
    return cases


def _files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    found = sorted(path for suffix in ("json", "jsonl") for path in source.rglob(f"*.{suffix}"))
    if not found:
        why = "there is no .json or .jsonl file in it" if source.exists() else "there is no such file or folder"
        raise BadInput(source, why)
    return found


def _at(place: str, field: str) -> str:
    return f"{place}.{field}" if place else field


def _options(told: Told) -> list[str]:
    """By letter or in order; none where only the open question is asked."""
    options = told.get("options") or []
    if isinstance(options, dict):
        options = [options[letter] for letter in sorted(options)]
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        raise ValueError("should be a list of texts")
    return without_letters(options)


def _gold(options: list[str], answer: object, diagnosis: str) -> int:
    """The number of the right option, told by number, by letter or by text."""
    if isinstance(answer, int) and not isinstance(answer, bool):
        if not 0 <= answer < len(options):
            raise ValueError(f"is option {answer}; there are 0 to {len(options) - 1}")
        return answer
    if isinstance(answer, str) and answer.strip().upper() in LETTERS[: len(options)] and len(answer.strip()) == 1:
        return by_letter(dict(zip(LETTERS, options, strict=False)), answer)
    return by_text(options, diagnosis if answer in (None, "") else answer)


def _pmids(told: Told, name: str) -> list[str]:
    found = [str(pmid).strip() for pmid in _listed(told, name)]
    if wrong := [pmid for pmid in found if not pmid.isascii() or not pmid.isdigit()]:
        raise ValueError(f"{wrong[0]!r} is no PMID")
    return list(dict.fromkeys(found))


def _listed(told: Told, name: str) -> list[Any]:
    value = told.get(name)
    if value in (None, ""):
        return []
    if not isinstance(value, list):
        raise ValueError(f"should be a list, not {value!r}"[:200])
    return value


def _given(**told: Any) -> dict[str, Any]:
    return {key: value for key, value in told.items() if value not in (None, "", [], {})}
