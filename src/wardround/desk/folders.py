"""Places: what lies below the desk's root, and what is uploaded into it."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from wardround.core.errors import WardroundError

UPLOADS = "uploads"
MOST_FILES, MOST_BYTES, DEEPEST, MOST_SHOWN = 20_000, 4 * 2**30, 4, 200
SIGNS = ("cases.jsonl", "marks.parquet", "verdicts.parquet")  # files by which a folder is known to be of use
SUFFIXES = (".jsonl", ".csv", ".zip")


def inside(root: Path, path: str) -> Path:
    """A path that somebody typed, if it is inside the root, links followed; else a refusal."""
    try:
        there = (root / path).resolve()
        fits = "\0" not in path and there.is_relative_to(root) and there != root and there.exists()
    except (OSError, ValueError, RuntimeError):
        fits = False
    if not fits or not path.strip() or there.name.startswith("desk."):
        raise WardroundError(f"there is no {path[:200]!r} in the desk's folder")
    return there


def set_of(source: Path) -> Path:
    """The folder that a task's images lie in: the source itself, or the case set of which it is a queue or a file."""
    if source.is_dir():
        return source
    return source.parent.parent if source.parent.name == "review" else source.parent


def offered(root: Path) -> list[str]:
    """Folders and files that tasks can be made of, as paths below the root."""
    return sorted(_offered(root))[:MOST_SHOWN]


def _offered(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        below = Path(folder).relative_to(root)
        folders[:] = [] if len(below.parts) >= DEEPEST else sorted(name for name in folders if name[0] != ".")
        if below.parts and any(sign in names for sign in SIGNS):
            yield below.as_posix()
            folders[:] = [name for name in folders if name not in ("images", "cases", "review")]
        elif below.parts:
            yield from ((below / name).as_posix() for name in names if name.endswith((".jsonl", ".csv")))
        else:
            yield from (name for name in names if name.endswith((".jsonl", ".csv")))


def take_upload(root: Path, name: str, file: BinaryIO) -> str:
    """Puts an uploaded file below the root under a name of our own, a zip as a folder; says where."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise WardroundError("a .zip of a folder, a .jsonl or a .csv can be uploaded")
    there = root / UPLOADS / secrets.token_hex(8)
    there.mkdir(parents=True)
    try:
        if suffix != ".zip":
            target = there / f"given{suffix}"
            with target.open("wb") as opened:
                shutil.copyfileobj(file, opened)
            return target.relative_to(root).as_posix()
        _unpack(file, there)
        inner = [each for each in there.iterdir() if each.name != "__MACOSX"]
        only = inner[0] if len(inner) == 1 and inner[0].is_dir() else there
        return only.relative_to(root).as_posix()
    except BaseException:
        shutil.rmtree(there, ignore_errors=True)
        raise


def _unpack(file: BinaryIO, there: Path) -> None:
    """Unpacks plain files and nothing else; nothing leads out, and sizes are counted, not believed."""
    try:
        packed = zipfile.ZipFile(file)
        entries = [entry for entry in packed.infolist() if not entry.is_dir()]
        if len(entries) > MOST_FILES:
            raise WardroundError(f"the zip has more than {MOST_FILES:,} files")
        left = MOST_BYTES
        for entry in entries:
            left = _unpack_one(packed, entry, there, left)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise WardroundError(f"the zip cannot be read: {error}") from None


def _unpack_one(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, there: Path, left: int) -> int:
    path = PurePosixPath(entry.filename.replace("\\", "/"))
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if path.is_absolute() or ".." in path.parts or "\0" in entry.filename or kind not in (0, stat.S_IFREG):
        raise WardroundError(f"the zip holds {entry.filename[:100]!r}, which is no plain file inside it")
    target = there / path
    target.parent.mkdir(parents=True, exist_ok=True)
    with packed.open(entry) as source, target.open("xb") as opened:
        while piece := source.read(1 << 20):
            left -= len(piece)
            if left < 0:
                raise WardroundError(f"the zip holds more than {MOST_BYTES // 2**30} GB")
            opened.write(piece)
    return left
