"""CaseSet: a folder of cases, opened in one streaming pass and read again case by case."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from pydantic_core import from_json

from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, Problem, WardroundError
from wardround.core.field_errors import complaints, not_json

FILE_NAME = "cases.jsonl"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


KEPT = 8_000_000  # bytes of a file whose cases stay in memory, which takes about ten times as much


class CaseSet:
    """The usable cases of a file, in its order. Of a large set only the places of its cases are kept in memory."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.folder = file.parent
        self._root = os.path.abspath(self.folder)
        self.problems: list[Problem] = []
        self.question_count = 0
        self.hash = ""
        self._offsets = array("q")
        self._lengths = array("q")
        self._lines = array("q")
        self._index: dict[str, int] = {}
        self._modalities: dict[str | None, array[int]] = {}
        self._kept: list[Case] | None = None

    @classmethod
    def open(cls, folder: Path | str, *, strict: bool = False) -> CaseSet:
        """The usable cases; what is wrong with the others is in `problems`, or raised where `strict`."""
        cases = cls.read(folder)
        if strict and cases.problems:
            raise raised(cases.problems[0])
        if not len(cases):
            if cases.problems:
                raise raised(cases.problems[0], " (and no other case can be used)")
            raise BadInput(cases.file, "there is no case in it")
        return cases

    @classmethod
    def read(cls, folder: Path | str) -> CaseSet:
        """Like `open`, but a set in which no case can be used is returned too, with its problems."""
        file = case_file(Path(folder))
        cases = cls(file)
        hashed = hashlib.blake2b(digest_size=32)
        offset = 0
        try:
            with file.open("rb") as lines:
                if os.fstat(lines.fileno()).st_size <= KEPT:
                    cases._kept = []
                for number, line in enumerate(lines, start=1):
                    hashed.update(line)
                    cases._take(line, offset, number)
                    offset += len(line)
        except OSError as error:
            raise BadInput(file, f"cannot be read: {error.strerror}") from None
        cases.hash = hashed.hexdigest()
        return cases

    def _take(self, line: bytes, offset: int, number: int) -> None:
        """Keeps the place of one line's case, or what is wrong with it."""
        if not line.strip(b" \t\r\n\xef\xbb\xbf"):
            return
        try:
            case = parsed(line)
        except ValidationError as error:
            self.problems += (Problem(self.file, number, *each) for each in complaints(error))
            return
        except ValueError as error:
            self.problems.append(Problem(self.file, number, None, not_json(error)))
            return
        wrong = [*self._wrong_id(case), *self._wrong_images(case)]
        if wrong:
            self.problems += (Problem(self.file, number, *each) for each in wrong)
            return
        here = len(self._offsets)
        if self._kept is not None:
            self._kept.append(case)
        self._index[case.id] = here
        self._offsets.append(offset)
        self._lengths.append(len(line))
        self._lines.append(number)
        self.question_count += len(case.questions)
        for place, image in enumerate(case.images):
            self._modalities.setdefault(image.modality, array("i")).extend((here, place))

    def _wrong_id(self, case: Case) -> Iterator[tuple[str, str]]:
        if case.id in self._index:
            yield "id", f"{case.id!r} is there twice, first in line {self.line(self._index[case.id])}"

    def _wrong_images(self, case: Case) -> Iterator[tuple[str, str]]:
        for place, image in enumerate(case.images):
            field = f"images[{place}].path"
            if leaves_folder(image.path):
                yield field, f"{image.path!r} leads out of the case set's folder"
            elif not os.path.isfile(os.path.join(self._root, image.path)):
                yield field, f"{image.path!r}: there is no such file in the case set's folder"
            if image.window is not None and not image.window[1] > 0:
                yield (
                    f"images[{place}].window",
                    f"is centre and width; the width is {image.window[1]}, not above 0",
                )

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[Case]:
        if self._kept is not None:
            yield from self._kept
            return
        with self.file.open("rb") as file:
            for offset, length in zip(self._offsets, self._lengths, strict=True):
                file.seek(offset)
                yield self._parsed_again(file.read(length))

    def case(self, index: int) -> Case:
        """The case at a place, from memory or read from the file."""
        if self._kept is not None:
            return self._kept[index]
        with self.file.open("rb", buffering=0) as file:
            file.seek(self._offsets[index])
            return self._parsed_again(file.read(self._lengths[index]))

    def _parsed_again(self, line: bytes) -> Case:
        try:
            return parsed(line)
        except ValueError:
            raise BadInput(self.file, "was changed while it was in use") from None

    @property
    def ids(self) -> list[str]:
        """The ids of the cases, in order."""
        return list(self._index)

    def index_of(self, case_id: str) -> int:
        """The place of a case by its id."""
        if case_id not in self._index:
            raise BadInput(self.file, f"there is no usable case {case_id!r} in it")
        return self._index[case_id]

    def line(self, index: int) -> int:
        """The line, from 1, on which a case stands."""
        return self._lines[index]

    def image_path(self, image: Image) -> Path:
        """Where an image's file is, as an absolute path."""
        return Path(self.image_file(image))

    def image_file(self, image: Image) -> str:
        """The same as a text, which takes a third of the time."""
        if leaves_folder(image.path):
            raise BadInput(self.file, f"{image.path!r} leads out of the case set's folder", field="images.path")
        return os.path.normpath(os.path.join(self._root, image.path))

    def copy_image(self, image: Image, there: Path) -> None:
        """Writes the file of an image to another place."""
        shutil.copyfile(self.image_path(image), there)

    def images_of_modality(self, modality: str | None) -> NDArray[np.int32]:
        """Every image of a modality as rows (case index, image index), in file order."""
        return np.array(self._modalities.get(modality, ()), dtype=np.int32).reshape(-1, 2)

    @property
    def modalities(self) -> list[str | None]:
        """The modalities of the set's images, in the order in which they first appear."""
        return list(self._modalities)


def case_file(folder: Path) -> Path:
    """The file that holds the cases: the path itself, or `cases.jsonl` in the folder."""
    file = folder / FILE_NAME if folder.is_dir() else folder
    if not folder.exists():
        raise BadInput(folder, "there is no such case set")
    if not file.is_file():
        raise BadInput(file, "there is no such file; a case set is a folder with a cases.jsonl")
    return file


def parsed(line: bytes) -> Case:
    """One line as a Case. Strict, so that a number written as text is an error, not silently changed."""
    line = line.removeprefix(BYTE_ORDER_MARK)
    if b"NaN" in line or b"Infinity" in line:
        from_json(line, allow_inf_nan=False)  # pydantic takes them, JSON has none; in a text they are fine
    return Case.model_validate_json(line, strict=True)


def leaves_folder(path: str) -> bool:
    """Whether a relative path is not one, or climbs out."""
    return path.startswith("/") or ".." in path.split("/") or "\0" in path


def raised(problem: Problem, more: str = "") -> BadInput:
    return BadInput(problem.file, problem.message + more, line=problem.line, field=problem.field)


def written(case: Case) -> str:
    """A case as its line. The standard encoder, because unknown fields may hold numbers of any length."""
    return json.dumps(case.as_written(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def write_case_set(cases: Iterable[Case], folder: Path | str) -> int:
    """Writes `cases.jsonl`, whole or not at all, with every field that the cases have; says how many."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{FILE_NAME}.{os.getpid()}"
    ids: set[str] = set()
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            for case in cases:
                if case.id in ids:
                    raise WardroundError(f"case {case.id!r} would be written twice")
                ids.add(case.id)
                file.write(written(case) + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(folder / FILE_NAME)
    finally:
        draft.unlink(missing_ok=True)
    return len(ids)
