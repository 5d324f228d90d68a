"""Kept results: marks and measures of a run that would come out as they are, so that `mark` does not make them again.

Each is a pure function of files, of the study and of our own code. The hash of all these is kept with the run, with
size and modification time of what was made. If both are as they were, the files stay. A judge or a reader is a model
whose verdicts may have changed in the store, and code of plug-ins is not hashed: with these everything is made again.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Any

import orjson

import wardround
from wardround.core.canonical import blake, sha256_file
from wardround.core.files import write_file
from wardround.plugins import installed, package_version
from wardround.running.used_answers import DOCUMENTS, EVIDENCE
from wardround.running.used_answers import FILE as USED

FILE = ".made_from.json"
# the rooms whose code decides what marks are; measures add their own
MARKING_ROOMS = ("core", "cases", "degrade", "literature", "asking", "candidates", "running", "marking")
MEASURING_ROOMS = (*MARKING_ROOMS, "measuring")
PACKAGES = ("numpy", "polars", "scipy")
MARKS = ("marks.parquet", "readings.parquet")
MEASURES = ("measures.csv", "comparisons.csv", "groups.csv", "effects.csv", "acceptance.csv")


class KeptResults:
    """What a run folder's marks and measures were made from."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            self._record: dict[str, Any] = orjson.loads((folder / FILE).read_bytes())
        except (OSError, orjson.JSONDecodeError):  # none, or damaged: everything is made again
            self._record = {}

    def holds(self, files: tuple[str, ...], key: str | None) -> bool:
        """Whether these files were made from what the key stands for, and were not changed since."""
        return key is not None and self._record.get(files[0]) == [key, self._states(files)]

    def note(self, files: tuple[str, ...], key: str | None) -> None:
        """Keeps what these files, which exist now, were made from."""
        self._record[files[0]] = None if key is None else [key, self._states(files)]
        write_file(self._folder / FILE, orjson.dumps(self._record))

    def _states(self, files: tuple[str, ...]) -> list[list[int] | None]:
        paths = [self._folder / name for name in files]
        states = [path.stat() if path.exists() else None for path in paths]
        return [None if state is None else [state.st_size, state.st_mtime_ns] for state in states]


def marks_key(folder: Path, cases: str, answers: str | None, chosen: dict[str, Any]) -> str | None:
    """What marks without a judge are made from; None if plug-ins are installed, or if answers are missing.

    `cases` and `answers` are the hashes of the case set and of all stored answers that the run used.
    """
    if answers is None or installed():
        return None
    files = _file_hashes(folder, ("study.toml", USED, EVIDENCE, DOCUMENTS))
    return blake([_code(MARKING_ROOMS), cases, answers, chosen, files]).hex()


def measures_key(folder: Path) -> str | None:
    """What measures and comparisons are made from; None if plug-ins are installed."""
    if installed():
        return None
    return blake([_code(MEASURING_ROOMS), _file_hashes(folder, ("study.toml", MARKS[0]))]).hex()


def _file_hashes(folder: Path, names: tuple[str, ...]) -> list[str | None]:
    return [sha256_file(folder / name) if (folder / name).exists() else None for name in names]


def _code(rooms: tuple[str, ...]) -> list[str]:
    """A hash of the code and the tables of each of these rooms, and the versions of what they compute with."""
    return [*map(_code_of, rooms), *_versions()]


@cache
def _versions() -> list[str]:
    return [package_version(name) for name in PACKAGES]


@cache
def _code_of(room: str) -> str:
    package = os.path.join(os.path.dirname(wardround.__file__), "")
    hasher = hashlib.blake2b(digest_size=16)
    for folder, names in sorted((folder, names) for folder, _, names in os.walk(f"{package}{room}")):
        for name in sorted(name for name in names if name.endswith((".py", ".toml", ".txt"))):
            file = f"{folder}{os.sep}{name}"
            with open(file, "rb", buffering=0) as content:
                hasher.update(f"{file.removeprefix(package)}\0".encode() + content.read())
    return hasher.hexdigest()
