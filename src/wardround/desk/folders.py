"""Files below the desk's root: sources for tasks, and uploads."""

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
MAX_FILES, MAX_BYTES, MAX_DEPTH, MAX_LISTED = 20_000, 4 * 2**30, 4, 200
MARKER_FILES = ("cases.jsonl", "marks.parquet", "verdicts.parquet")  # files by which a folder is known to be of use
SUFFIXES = (".jsonl", ".csv", ".zip")


def resolve_inside(root: Path, path: str) -> Path:
    """A typed path, if it is inside the root with links followed; otherwise WardroundError."""
    try:
        target = (root / path).resolve()
        is_inside = "\0" not in path and target.is_relative_to(root) and target != root and target.exists()
    except (OSError, ValueError, RuntimeError):
        is_inside = False
    if not is_inside or not path.strip() or target.name.startswith("desk."):
        raise WardroundError(f"there is no {path[:200]!r} in the desk's folder")
    return target


def case_set_folder(source: Path) -> Path:
    """The folder of a task's images: the source itself, or the case set that it is a queue or a file of."""
    if source.is_dir():
        return source
    return source.parent.parent if source.parent.name == "review" else source.parent


def list_sources(root: Path) -> list[str]:
    """Folders and files that tasks can be made of, as paths below the root."""
    return sorted(_walk_sources(root))[:MAX_LISTED]


def _walk_sources(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        below = Path(folder).relative_to(root)
        folders[:] = [] if len(below.parts) >= MAX_DEPTH else sorted(name for name in folders if name[0] != ".")
        if below.parts and any(marker in names for marker in MARKER_FILES):
            yield below.as_posix()
            folders[:] = [name for name in folders if name not in ("images", "cases", "review")]
        else:
            yield from ((below / name).as_posix() for name in names if name.endswith((".jsonl", ".csv")))


def save_upload(root: Path, name: str, file: BinaryIO) -> str:
    """Stores an uploaded file below the root under a random name, a zip as a folder; returns its path."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise WardroundError("a .zip of a folder, a .jsonl or a .csv can be uploaded")
    folder = root / UPLOADS / secrets.token_hex(8)
    folder.mkdir(parents=True)
    try:
        if suffix != ".zip":
            target = folder / f"given{suffix}"
            with target.open("wb") as stream:
                shutil.copyfileobj(file, stream)
            return target.relative_to(root).as_posix()
        _unpack(file, folder)
        entries = [entry for entry in folder.iterdir() if entry.name != "__MACOSX"]
        top = entries[0] if len(entries) == 1 and entries[0].is_dir() else folder
        return top.relative_to(root).as_posix()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def remove_upload(root: Path, path: str) -> None:
    """Removes an upload of which no task was made."""
    shutil.rmtree(root.joinpath(*PurePosixPath(path).parts[:2]))  # uploads/RANDOM, whatever the zip held


def _unpack(file: BinaryIO, folder: Path) -> None:
    """Unpacks regular files only; no path leads out of the folder, and sizes are counted as they are read."""
    try:
        archive = zipfile.ZipFile(file)
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if len(entries) > MAX_FILES:
            raise WardroundError(f"the zip has more than {MAX_FILES:,} files")
        left = MAX_BYTES
        for entry in entries:
            left = _unpack_entry(archive, entry, folder, left)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise WardroundError(f"the zip cannot be read: {error}") from None


def _unpack_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path, left: int) -> int:
    path = PurePosixPath(entry.filename.replace("\\", "/"))
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if path.is_absolute() or ".." in path.parts or "\0" in entry.filename or kind not in (0, stat.S_IFREG):
        raise WardroundError(f"the zip holds {entry.filename[:100]!r}, which is not a regular file inside it")
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as source, target.open("xb") as stream:
        while chunk := source.read(1 << 20):
            left -= len(chunk)
            if left < 0:
                raise WardroundError(f"the zip holds more than {MAX_BYTES // 2**30} GB")
            stream.write(chunk)
    return left
