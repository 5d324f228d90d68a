"""What a build is made of: each file of a source as a record, and the hash of them all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from wardround.building.pipeline.pipeline import Build
from wardround.building.pipeline.records import Record
from wardround.core.canonical import sha256_file


def records(
    files: Iterable[Path], source: Path, read: Callable[[Path], Record], build: Build, *, wanted: str, unit: str
) -> Iterator[Record]:
    """Each file as a record. One that is none (ValueError), or is there twice, is told to the build."""
    first: dict[str, str] = {}
    for file in files:
        name = file.relative_to(source).as_posix() if source.is_dir() else file.name
        try:
            record = read(file)
        except (ValueError, OSError) as error:
            detail = f"cannot be read: {error.strerror}" if isinstance(error, OSError) else str(error)
            build.unread(name, f"not {wanted}", detail)
            continue
        if record["id"] in first:
            build.unread(name, f"the same {unit} is there twice", first[record["id"]])
            continue
        first[record["id"]] = name
        yield record


def hash_of(files: Iterable[Path], source: Path) -> str:
    """The SHA-256 of a file, or of the list of names and hashes of a folder's."""
    if not source.is_dir():
        return sha256_file(source)
    told = hashlib.sha256()
    for file in files:
        told.update(f"{file.relative_to(source).as_posix()} {sha256_file(file)}\n".encode())
    return told.hexdigest()
