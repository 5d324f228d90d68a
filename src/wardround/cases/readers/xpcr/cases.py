"""X-PCR: images/{CFP,OCT,FFA,ICGA,EP,RetCam}, annotations/*.json and multimodal_cases/case_*, or rows of Hugging Face.

JSON, JSONL and Parquet. A field map (field_map.toml, or the user's own) says what the rows call their fields; a field
in no map is kept as it is and reported once. Rows of one patient, or that share an image, become one case. Stages of
one chain depend on each other as in the paper; if no row names a chain, those about the same images are one.
The released rows have one image and a list of questions (`qa_pairs`), whose options stand at the end of the question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.cases.readers.tables.choices import index_of_number
from wardround.cases.readers.tables.json_file import JsonObject
from wardround.cases.readers.tables.option_lists import gold_index, parse_options
from wardround.cases.readers.tables.row_files import SUFFIXES, read_rows
from wardround.cases.readers.tables.row_spool import RowSpool
from wardround.cases.readers.tables.source_files import find_files_by_suffix, split_in_name
from wardround.cases.readers.xpcr.field_map import FieldMap, field_map, fold_field_name
from wardround.cases.readers.xpcr.images import XpcrImages, folder_case
from wardround.cases.readers.xpcr.stages import link_stages
from wardround.cases.set import error_from
from wardround.core.case import Case, Image, Patient, Question, drop_empty
from wardround.core.errors import BadInput, Problem
from wardround.core.field_errors import list_errors

MAX_LISTED_PROBLEMS = 20  # of one field of one file
QUESTION_FIELDS = frozenset(Question.model_fields)
NAMES = {"prompt": "question", "gold": "answer", "grade": "level"}
REQUIRED = ("question", "options", "answer")
_OPTIONS_IN_QUESTION = re.compile(r"\s*\bOptions?\s*:\s*(\[.+\])\s*", re.DOTALL)


@dataclass
class XpcrCases:
    """The usable rows as a CaseSource. Rows wait on disk, images stay where they are."""

    root: Path
    fields: FieldMap
    problems: list[Problem] = field(default_factory=list)
    _rows: RowSpool = field(default_factory=RowSpool)
    _problem_counts: Counter[tuple[Path, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._images = XpcrImages(self.root, self._rows)

    def __len__(self) -> int:
        return self._rows.group_count

    def __iter__(self) -> Iterator[Case]:
        used: set[str] = set()
        for key, rows in self._rows:
            name = next((row["case"] for row in rows if row.get("case")), None) or _name_of(key)
            yield _case(_unused_name(name, used), key, rows)

    def copy_image(self, image: Image, target: Path) -> None:
        self._images.copy(image, target)

    def read_file(self, file: Path) -> None:
        """Adds the rows of a file."""
        unmapped: dict[str, None] = {}
        for place, record in read_rows(file, self.problems, lambda name: fold_field_name(name) in self.fields.by_name):
            row = record["row"] if isinstance(record.get("row"), dict) else record  # as the dataset viewer wraps them
            for index, (fields, extra) in enumerate(self._questions(row)):
                unmapped |= dict.fromkeys(extra)
                within = f"{place.within}.questions[{index}]".lstrip(".") if "questions" in fields else place.within
                self._add(replace(place, within=within), fields, extra)
        for name in unmapped:
            if fold_field_name(name) in self.fields.by_name:  # another name of a field that was read
                continue
            close = self.fields.closest(name)
            hint = f'; to read it as {close}, write {close} = "{name}" under [fields] of a --map file' if close else ""
            self.problems.append(Problem(file, None, name, f"is in no field map, and is kept as it is{hint}"))

    def _questions(self, row: JsonObject) -> Iterator[tuple[JsonObject, JsonObject]]:
        """The questions of a row, which may have several; fields of the row belong to each of them."""
        fields, extra = self.fields.read(row)
        questions = fields.get("questions")
        if not isinstance(questions, list) or not all(isinstance(question, dict) for question in questions):
            yield fields, extra
            return
        shared = {name: value for name, value in fields.items() if name != "questions"}
        if "id" in shared:
            shared.setdefault("case", shared.pop("id"))  # the row's id names what its questions are about
        for question in questions:
            own_fields, own_extra = self.fields.read(question)
            yield {**shared, **own_fields, "questions": True}, {**extra, **own_extra}

    def _add(self, place: RecordPlace, fields: JsonObject, extra: JsonObject) -> None:
        """Keeps a row, or its problem."""
        name = "question"
        fields = _with_options(fields)
        try:
            for name in REQUIRED:
                if name not in fields:
                    raise ValueError(self._missing(name, extra))
            name = "options"
            options = parse_options(fields[name])
            name = "answer"
            gold = _gold(options, fields[name])
            labels: JsonObject = {}
            for name, label in (("stage", "stage"), ("task", "task"), ("level", "grade")):
                if name in fields and not (name == "task" and _is_chain(fields[name])):
                    labels[label] = self.fields.value(name, fields[name])
            if "category" in fields:
                labels = self._category(place.file, str(fields["category"])) | labels
            name = "importance"
            if name in fields:
                labels[name] = _number(fields[name])
            name = "images"
            images = self._images.find(place.file, fields)
            name = "age"
            patient = drop_empty({"age": fields.get("age"), "sex": fields.get("sex") and str(fields["sex"])})
            Patient.model_validate(patient)
            name = "question"
            question = {
                "id": str(fields.get("id", "")) or labels.get("stage", "").lower() or "q",
                "kind": "choice",
                "prompt": str(fields["question"]).strip(),
                "options": list(options.values()),
                "gold": gold,
                **labels,
                **drop_empty({key: fields.get(key) for key in ("skill", "disease", "source_dataset")}),
                **{key if key not in QUESTION_FIELDS else f"source_{key}": value for key, value in extra.items()},
            }
            Question.model_validate(question)
        except ValidationError as error:
            where, message = list_errors(error)[0]
            self._refuse(place, NAMES.get(where, where or name), message)
            return
        except ValueError as error:
            self._refuse(place, name, str(error))
            return
        case = str(fields["case"]) if "case" in fields else folder_case(place.file)
        split = str(fields.get("split") or split_in_name(place.file) or "")
        others = {"case": case, "chain": fields.get("chain"), "history": fields.get("history"), "patient": patient}
        row = {"question": question, "images": images, **drop_empty(others), "split": split}
        keys = [f"case:{case}"] if case else []
        keys += [f"image:{path}" for path, _ in images]
        own_key = f"row:{place.file.stem}-{question['id']}-{place.line or place.within}"
        self._rows.add(split, keys or [own_key], row)

    def _category(self, file: Path, category: str) -> JsonObject:
        """The stage or the task that a category names; else the category itself, which is reported once."""
        for kind in ("stage", "task"):
            try:
                return {kind: self.fields.value(kind, category)}
            except ValueError:
                continue
        message = f"{category!r} is not a stage or a task, and is kept as it is"
        hint = f'to read it as stage LC, write LC = "{category}" under [stages] of a --map file'
        problem = Problem(file, None, "category", f"{message}; {hint}")
        if problem not in self.problems:
            self.problems.append(problem)
        return {"category": category}

    def _missing(self, name: str, extra: JsonObject) -> str:
        names = " or ".join(self.fields.fields[name][:3])
        close = next((other for other in extra if self.fields.closest(other) == name), None)
        hint = f'; to read {close} as it, write {name} = "{close}" under [fields] of a --map file' if close else ""
        return f"is required: no field of the row is called {names}{hint}"

    def _refuse(self, place: RecordPlace, name: str, message: str) -> None:
        self._problem_counts[place.file, name] += 1
        if self._problem_counts[place.file, name] <= MAX_LISTED_PROBLEMS:
            self.problems.append(place.problem(name, message))

    def group(self, source: Path) -> XpcrCases:
        """These rows grouped into cases; BadInput if there is none."""
        for (file, name), count in self._problem_counts.items():
            if (unlisted := count - MAX_LISTED_PROBLEMS) > 0:
                self.problems.append(Problem(file, None, name, f"is wrong in {unlisted:,} more rows"))
        self._rows.group()
        if not len(self):
            if self.problems:
                raise error_from(self.problems[0], " (and no other row can be used)")
            raise BadInput(source, "contains no rows")
        return self


def read_xpcr(source: Path, fields: Path | None = None) -> XpcrCases:
    """The cases of a folder in X-PCR's layout, or of one file of rows."""
    cases = XpcrCases(source if source.is_dir() else source.parent, field_map(fields))
    for file in find_files_by_suffix(source, *SUFFIXES):
        try:
            cases.read_file(file)
        except BadInput as error:  # the rows before the error are kept
            cases.problems.insert(0, error.problem)
    return cases.group(source)


def _case(name: str, key: str, rows: list[JsonObject]) -> Case:
    index_by_path: dict[str, int] = {}
    images: list[JsonObject] = []
    questions: list[JsonObject] = []
    images_differ = len({tuple(path for path, _ in row["images"]) for row in rows}) > 1
    used: set[str] = set()
    for row in rows:
        for path, modality in row["images"]:
            if path not in index_by_path:
                index_by_path[path] = len(images)
                images.append(drop_empty({"path": path, "modality": modality}))
        question = {**row["question"], "id": _unused_name(row["question"]["id"], used)}
        shown = {"images": [index_by_path[path] for path, _ in row["images"]]} if images_differ else {}
        questions.append({**question, **shown})
    case = {
        "id": name,
        "split": rows[0]["split"],
        "cluster": _name_of(key) if _name_of(key) != name else None,
        "origin": {"name": "xpcr"},
        "patient": next((row["patient"] for row in rows if row.get("patient")), None),
        "history": next((row["history"] for row in rows if row.get("history")), None),
        "images": images,
        "questions": link_stages(questions, [row.get("chain") for row in rows]),
    }
    return Case.model_validate(drop_empty(case))


def _unused_name(name: str, used: set[str]) -> str:
    """The name, with a number after it if it is used already; adds it to `used`."""
    unused, number = name, 1
    while unused in used:
        number += 1
        unused = f"{name}-{number}"
    used.add(unused)
    return unused


def _name_of(key: str) -> str:
    kind, _, name = key.partition(":")
    if kind != "image":
        return name
    return str(PurePosixPath(name.removeprefix("images/")).with_suffix("")).replace("/", "-")


def _with_options(fields: JsonObject) -> JsonObject:
    """The fields with the options that a question ends with (`Options: ['good', 'poor']`), if there are no others."""
    if "options" in fields or not isinstance(fields.get("question"), str):
        return fields
    question: str = fields["question"]
    match = next((match for match in _OPTIONS_IN_QUESTION.finditer(question) if match.end() == len(question)), None)
    return fields if match is None else {**fields, "question": question[: match.start()], "options": match[1]}


def _is_chain(task: object) -> bool:
    return fold_field_name(str(task)) in ("chain", "progressive", "none")


def _gold(options: dict[str, str], answer: object) -> int:
    """By letter or text; a number is an index from 0, since that is how options are numbered here."""
    index = index_of_number(list(options.values()), answer)
    return gold_index(options, answer) if index is None else index


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        raise ValueError(f"{value!r} is not a number") from None
