"""A case set: a folder that is read in one streaming pass, and again case by case."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from array import array
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from pydantic_core import from_json

from wardround.cases.rare_collection import rare_collection
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, Problem, WardroundError, describe_unreadable, require_path
from wardround.core.field_errors import describe_json_error, list_errors
from wardround.core.files import replacement

FILE_NAME = "cases.jsonl"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
OBJECTS_OF_CASES = 10_000_000  # between two looks for cycles: cases have none, and each look goes through all of them
MAX_CACHED_BYTES = 20_000_000  # of a file whose cases stay in memory, which takes five to ten times as much
MAX_LISTED_FILES = 20_000  # of one folder of images
PLAIN_PATH = re.compile(r"[^./\\][^/\\]*(?:/[^./\\][^/\\]*)*" if os.sep == "/" else "(?!)")  # without `.` and `..`


class CaseSet:
    """The usable cases of a file, in order. Of a large set only the offsets of the cases are kept in memory."""

    def __init__(self, file: Path, *, check_images: bool = True) -> None:
        self.file = file
        self._check_images = check_images
        self.folder = file.parent
        self._root = os.path.abspath(self.folder)
        self._inside = os.path.join(self._root, "")
        self.problems: list[Problem] = []
        self.question_count = 0
        self.hash = ""
        self._offsets = array("q")
        self._lengths = array("q")
        self._lines = array("q")
        self._index: dict[str, int] = {}
        self._modalities: dict[str | None, array[int]] = {}
        self._cached: list[Case] | None = None
        self._files: dict[str, set[str]] = {}  # names of files by folder of images, while the set is read

    @classmethod
    def open(cls, folder: Path | str, *, strict: bool = False, check_images: bool = True) -> CaseSet:
        """The usable cases; the errors of the others are in `problems`, or raised if `strict`.

        Without `check_images` a case is usable even if a file of its images is missing.
        """
        cases = cls.read(folder, check_images=check_images)
        if strict and cases.problems:
            raise error_from(cases.problems[0])
        if not len(cases):
            if cases.problems:
                raise error_from(cases.problems[0], " (and no other case can be used)")
            raise BadInput(cases.file, "contains no case")
        return cases

    @classmethod
    def read(cls, folder: Path | str, *, check_images: bool = True) -> CaseSet:
        """Like `open`, but a set without a usable case is returned too, with its problems."""
        file = case_file(require_path(folder, "the folder or file of a case set"))
        cases = cls(file, check_images=check_images)
        hasher = hashlib.blake2b(digest_size=32)
        offset = 0
        try:
            with file.open("rb") as lines, rare_collection(OBJECTS_OF_CASES):
                if os.fstat(lines.fileno()).st_size <= MAX_CACHED_BYTES:
                    cases._cached = []
                for number, line in enumerate(lines, start=1):
                    hasher.update(line)
                    cases._add_line(line, offset, number)
                    offset += len(line)
        except OSError as error:
            raise BadInput(file, describe_unreadable(error)) from None
        cases.hash = hasher.hexdigest()
        cases._files.clear()
        return cases

    def _add_line(self, line: bytes, offset: int, number: int) -> None:
        """Indexes the case of one line, or adds its errors to the problems."""
        if not line.strip(b" \t\r\n\xef\xbb\xbf"):
            return
        try:
            case = parse_case(line)
        except ValidationError as error:
            self._add_problems(number, list_errors(error))
            return
        except ValueError as error:
            self.problems.append(Problem(self.file, number, None, describe_json_error(error)))
            return
        if errors := list(self._errors(case)):
            self._add_problems(number, errors)
            return
        index = len(self._offsets)
        if self._cached is not None:
            self._cached.append(case)
        self._index[case.id] = index
        self._offsets.append(offset)
        self._lengths.append(len(line))
        self._lines.append(number)
        self.question_count += len(case.questions)
        for image_index, image in enumerate(case.images):
            self._modalities.setdefault(image.modality, array("i")).extend((index, image_index))

    def _add_problems(self, line: int, errors: Iterable[tuple[str, str]]) -> None:
        self.problems += (Problem(self.file, line, field, message) for field, message in errors)

    def _errors(self, case: Case) -> Iterator[tuple[str, str]]:
        """The fields of a case that contradict the set or its folder, and why."""
        if case.id in self._index:
            yield "id", f"{case.id!r} is there twice, first in line {self.line(self._index[case.id])}"
        for index, image in enumerate(case.images):
            field = f"images[{index}].path"
            if leaves_folder(image.path):
                yield field, f"{image.path!r} leads out of the case set's folder"
            elif self._check_images and not self._has_file(image.path):
                yield field, f"{image.path!r}: there is no such file in the case set's folder"
            if image.window is not None and not image.window[1] > 0:
                yield f"images[{index}].window", f"is centre and width; the width is {image.window[1]}, not above 0"

    def _has_file(self, path: str) -> bool:
        """Most images are in one folder: it is listed once, in a tenth of the time that looking for each takes."""
        folder, _, name = path.rpartition("/")
        if folder not in self._files:
            self._files[folder] = _file_names(os.path.join(self._root, folder))
        names = self._files[folder]
        if name not in names and os.path.isfile(os.path.join(self._root, path)):
            names.add(name)
        return name in names

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[Case]:
        if self._cached is not None:
            yield from self._cached
            return
        with self.file.open("rb") as file:
            for offset, length in zip(self._offsets, self._lengths, strict=True):
                file.seek(offset)
                yield self._parse_again(file.read(length))

    @property
    def is_in_memory(self) -> bool:
        """Whether the cases stay in memory: the same object each time that one is read."""
        return self._cached is not None

    def is_current(self) -> bool:
        """Whether the cases stay in memory, and their file is as it was when they were read."""
        return self.is_in_memory and hash_case_file(self.file) == self.hash

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """The id of every usable case, and its line as it is in the file."""
        with self.file.open("rb") as file:
            for id, offset, length in zip(self._index, self._offsets, self._lengths, strict=True):
                file.seek(offset)
                yield id, file.read(length)

    def case(self, index: int) -> Case:
        """The case at an index, from memory or from the file."""
        if self._cached is not None:
            return self._cached[index]
        with self.file.open("rb", buffering=0) as file:
            file.seek(self._offsets[index])
            return self._parse_again(file.read(self._lengths[index]))

    def _parse_again(self, line: bytes) -> Case:
        try:
            return parse_case(line)
        except ValueError:
            raise BadInput(self.file, "was changed while it was in use") from None

    @property
    def ids(self) -> list[str]:
        """The ids of the cases, in order."""
        return list(self._index)

    def index_of(self, case_id: str) -> int:
        """The index of a case by its id."""
        if case_id not in self._index:
            raise BadInput(self.file, f"has no usable case {case_id!r}")
        return self._index[case_id]

    def line(self, index: int) -> int:
        """The line number, from 1, of a case."""
        return self._lines[index]

    def image_path(self, image: Image) -> Path:
        """The absolute path of an image's file."""
        return Path(self.image_file(image))

    def image_file(self, image: Image) -> str:
        """The same as text, in a third of the time."""
        if leaves_folder(image.path):
            raise BadInput(self.file, f"{image.path!r} leads out of the case set's folder", field="images.path")
        return self.absolute_path(image.path)

    def absolute_path(self, path: str) -> str:
        """A path relative to the folder as an absolute one; most are plain, and need a third of the time."""
        if PLAIN_PATH.fullmatch(path):
            return self._inside + path
        return os.path.normpath(os.path.join(self._root, path))

    def copy_image(self, image: Image, target: Path) -> None:
        """Copies the file of an image."""
        shutil.copyfile(self.image_path(image), target)

    def images_of_modality(self, modality: str | None) -> NDArray[np.int32]:
        """The images of a modality as rows (case index, image index), in file order."""
        return np.array(self._modalities.get(modality, ()), dtype=np.int32).reshape(-1, 2)

    @property
    def modalities(self) -> list[str | None]:
        """The modalities of the set's images, in order of first appearance."""
        return list(self._modalities)

    def _repr_html_(self) -> str:
        from wardround.cases.html import case_set_html

        return case_set_html(self)


def _file_names(folder: str) -> set[str]:
    """The names of the first files in a folder; a set may use few of a million."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in islice(entries, MAX_LISTED_FILES) if entry.is_file()}
    except OSError:
        return set()


def case_file(folder: Path) -> Path:
    """The file of the cases: the path itself, or `cases.jsonl` in the folder."""
    file = folder / FILE_NAME if folder.is_dir() else folder
    if not folder.exists():
        raise BadInput(folder, "there is no such case set")
    if not file.is_file():
        raise BadInput(file, "there is no such file; a case set is a folder with a cases.jsonl")
    return file


def hash_case_file(file: Path) -> str:
    """The `hash` of the case set in a file, without reading its cases."""
    with file.open("rb") as lines:
        return hashlib.file_digest(lines, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


def parse_case(line: bytes) -> Case:
    """One line as a Case. Strict: a number written as text is an error, not silently converted."""
    line = line.removeprefix(BYTE_ORDER_MARK)
    if b"NaN" in line or b"Infinity" in line:
        from_json(line, allow_inf_nan=False)  # pydantic accepts them, JSON does not; inside a text they are fine
    return Case.model_validate_json(line, strict=True)


def leaves_folder(path: str) -> bool:
    """Whether a path is absolute or climbs out of its folder."""
    return path.startswith("/") or ".." in path.split("/") or "\0" in path


def error_from(problem: Problem, suffix: str = "") -> BadInput:
    return BadInput(problem.file, problem.message + suffix, line=problem.line, field=problem.field)


def case_to_json(case: Case) -> str:
    """A case as one line. The standard encoder, because unknown fields may have numbers of any length."""
    return json.dumps(case.as_written(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def write_case_set(cases: Iterable[Case], folder: Path | str) -> int:
    """Writes `cases.jsonl` atomically, with every field that the cases have; returns their number."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    ids: set[str] = set()
    with (
        replacement(folder / FILE_NAME, durable=True) as draft,
        draft.open("w", encoding="utf-8", newline="\n") as file,
    ):
        for case in cases:
            if case.id in ids:
                raise WardroundError(f"case {case.id!r} would be written twice")
            ids.add(case.id)
            file.write(case_to_json(case) + "\n")
    return len(ids)
