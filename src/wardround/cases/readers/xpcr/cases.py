"""X-PCR: images/{CFP,OCT,FFA,ICGA,EP,RetCam}, annotations/*.json and multimodal_cases/case_*, or rows of Hugging Face.

JSON, JSONL and Parquet. What the rows call their fields is told by a field map (field_map.toml, or one's own); what
no map names is kept as it is and reported once. Rows of one patient, or that share an image, become one case. Stages
of one chain, or where no row names a chain those about the same images, depend on each other as the paper says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from wardround.cases.readers.medq_deg.released import split_of
from wardround.cases.readers.tables.case_collector import files_of, given
from wardround.cases.readers.tables.json_file import Told
from wardround.cases.readers.tables.option_lists import gold_of, options_of
from wardround.cases.readers.tables.row_files import SUFFIXES, Place, rows_of
from wardround.cases.readers.tables.spooled import Spooled
from wardround.cases.readers.xpcr.field_map import FieldMap, field_map, plain
from wardround.cases.readers.xpcr.images import XpcrImages, folder_case
from wardround.cases.readers.xpcr.stages import chained
from wardround.cases.set import raised
from wardround.core.case import Case, Image, Patient, Question
from wardround.core.errors import BadInput, Problem
from wardround.core.field_errors import complaints

MOST_TOLD = 20  # problems of one field of one file that are told one by one
OURS = frozenset(Question.model_fields)
NAMES = {"prompt": "question", "gold": "answer", "grade": "level"}
NEEDED = ("question", "options", "answer")


@dataclass
class XpcrCases:
    """The usable rows as a Source of cases. Rows wait on disk, images stay where they are."""

    root: Path
    fields: FieldMap
    problems: list[Problem] = field(default_factory=list)
    _rows: Spooled = field(default_factory=Spooled)
    _told: Counter[tuple[Path, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._images = XpcrImages(self.root, self._rows)

    def __len__(self) -> int:
        return self._rows.groups

    def __iter__(self) -> Iterator[Case]:
        taken: set[str] = set()
        for key, rows in self._rows:
            name = next((row["case"] for row in rows if row.get("case")), None) or _name_of(key)
            yield _case(_free(name, taken), key, rows)

    def copy_image(self, image: Image, there: Path) -> None:
        self._images.copy(image, there)

    def read(self, file: Path) -> None:
        """Takes the rows of a file."""
        unread: dict[str, None] = {}
        for place, told in rows_of(file, self.problems, lambda name: plain(name) in self.fields.by_name):
            row = told["row"] if isinstance(told.get("row"), dict) else told  # as the dataset viewer wraps them
            for number, (read, more) in enumerate(self._questions(row)):
                unread |= dict.fromkeys(more)
                self._take(file, _within(place, number if "questions" in read else None), read, more)
        for name in unread:
            near = self.fields.near(name)
            hint = (
                f'; close to {near}: {near} = "{name}" under [fields] of a --map file reads it as that' if near else ""
            )
            self.problems.append(Problem(file, None, name, f"is in no field map, and is kept as it is{hint}"))

    def _questions(self, row: Told) -> Iterator[tuple[Told, Told]]:
        """The questions of a row, which may hold several: what is told of all of them is told of each."""
        read, more = self.fields.read(row)
        several = read.get("questions")
        if not isinstance(several, list) or not all(isinstance(each, dict) for each in several):
            yield read, more
            return
        shared = {name: value for name, value in read.items() if name != "questions"}
        for each in several:
            own, others = self.fields.read(each)
            yield {**shared, **own, "questions": True}, {**more, **others}

    def _take(self, file: Path, place: Place, read: Told, more: Told) -> None:
        """Keeps a row, or what is wrong with it."""
        at = "question"
        try:
            for at in NEEDED:
                if at not in read:
                    raise ValueError(self._missing(at, more))
            at = "options"
            options = options_of(read[at])
            at = "answer"
            gold = _gold(options, read[at])
            labels: Told = {}
            for at, ours in (("stage", "stage"), ("task", "task"), ("level", "grade")):
                if at in read and not (at == "task" and plain(str(read[at])) in ("chain", "progressive", "none")):
                    labels[ours] = self.fields.value(at, read[at])
            at = "importance"
            if at in read:
                labels[at] = _number(read[at])
            at = "images"
            images = self._images.of(file, read)
            at = "age"
            patient = given({"age": read.get("age"), "sex": read.get("sex") and str(read["sex"])})
            Patient.model_validate(patient)
            at = "question"
            question = {
                "id": str(read.get("id", "")) or labels.get("stage", "").lower() or "q",
                "kind": "choice",
                "prompt": str(read["question"]).strip(),
                "options": list(options.values()),
                "gold": gold,
                **labels,
                **given({name: read.get(name) for name in ("disease", "source_dataset")}),
                **{name if name not in OURS else f"source_{name}": value for name, value in more.items()},
            }
            Question.model_validate(question)
        except ValidationError as error:
            where, message = complaints(error)[0]
            self._refuse(file, place, NAMES.get(where, where or at), message)
            return
        except ValueError as error:
            self._refuse(file, place, at, str(error))
            return
        case = str(read["case"]) if "case" in read else folder_case(file)
        row = {
            "question": question,
            "images": images,
            **given({"case": case, "chain": read.get("chain"), "history": read.get("history"), "patient": patient}),
        }
        split = str(read.get("split") or split_of(file) or "")
        keys = [f"case:{case}"] if case else []
        keys += [f"image:{path}" for path, _ in images]
        self._rows.put(
            split, keys or [f"row:{file.stem}-{question['id']}-{place[0] or place[1]}"], {**row, "split": split}
        )

    def _missing(self, name: str, more: Told) -> str:
        names = " or ".join(self.fields.fields[name][:3])
        near = next((each for each in more if self.fields.near(each) == name), None)
        hint = f'; close is {near}: {name} = "{near}" under [fields] of a --map file reads it' if near else ""
        return f"is required: no field of the row is called {names}{hint}"

    def _refuse(self, file: Path, place: Place, name: str, message: str) -> None:
        self._told[file, name] += 1
        if self._told[file, name] <= MOST_TOLD:
            line, within = place
            at = ".".join(part for part in (within, name) if part)
            self.problems.append(Problem(file, line, at, message))

    def settled(self, source: Path) -> XpcrCases:
        """This, with rows of one patient brought together; unless nothing in it can be used."""
        for (file, name), many in self._told.items():
            if many > MOST_TOLD:
                self.problems.append(Problem(file, None, name, f"is wrong in {many - MOST_TOLD:,} more rows"))
        self._rows.settle()
        if not len(self):
            if self.problems:
                raise raised(self.problems[0], " (and no other row can be used)")
            raise BadInput(source, "there is no row in it")
        return self


def read_xpcr(source: Path, fields: Path | None = None) -> XpcrCases:
    """The cases of a folder in X-PCR's layout, or of one file of rows."""
    cases = XpcrCases(source if source.is_dir() else source.parent, field_map(fields))
    for file in files_of(source, *SUFFIXES):
        try:
            cases.read(file)
        except BadInput as broken:  # what was read of it so far is kept
            cases.problems.insert(0, broken.problem)
    return cases.settled(source)


def _case(name: str, key: str, rows: list[Told]) -> Case:
    numbers: dict[str, int] = {}
    images: list[Told] = []
    questions: list[Told] = []
    several = len({tuple(path for path, _ in row["images"]) for row in rows}) > 1
    taken: set[str] = set()
    for row in rows:
        for path, modality in row["images"]:
            if path not in numbers:
                numbers[path] = len(images)
                images.append(given({"path": path, "modality": modality}))
        question = {**row["question"], "id": _free(row["question"]["id"], taken)}
        shown = {"images": [numbers[path] for path, _ in row["images"]]} if several else {}
        questions.append({**question, **shown})
    first = rows[0]
    return Case.model_validate(
        given(
            {
                "id": name,
                "split": first["split"],
                "cluster": _name_of(key) if _name_of(key) != name else None,
                "origin": {"name": "xpcr"},
                "patient": next((row["patient"] for row in rows if row.get("patient")), None),
                "history": next((row["history"] for row in rows if row.get("history")), None),
                "images": images,
                "questions": chained(questions, [row.get("chain") for row in rows]),
            }
        )
    )


def _free(name: str, taken: set[str]) -> str:
    """The name, or with a number behind it where it is taken; taken from now on."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    taken.add(free)
    return free


def _name_of(key: str) -> str:
    kind, _, name = key.partition(":")
    return (
        str(PurePosixPath(name.removeprefix("images/")).with_suffix("")).replace("/", "-") if kind == "image" else name
    )


def _within(place: Place, number: int | None) -> Place:
    line, within = place
    return (line, within) if number is None else (line, f"{within}.questions[{number}]".lstrip("."))


def _gold(options: dict[str, str], answer: object) -> int:
    """By letter or text; a number is a place from 0, since that is how options are numbered here."""
    if isinstance(answer, int) and not isinstance(answer, bool):
        if not 0 <= answer < len(options):
            raise ValueError(f"is option {answer}; there are 0 to {len(options) - 1}")
        return answer
    return gold_of(options, answer)


def _number(told: object) -> float:
    try:
        return float(str(told))
    except ValueError:
        raise ValueError(f"{told!r} is no number") from None
