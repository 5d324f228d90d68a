"""The files of a source: each as a record, and the hash of all."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from wardround.building.pipeline.pipeline import Build, Record
from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput, describe_unreadable


def read_records(
    files: Iterable[Path], source: Path, read: Callable[[Path], Record], build: Build, *, wanted: str, unit: str
) -> Iterator[Record]:
    """Each file as a record. A file that `read` refuses (ValueError), and a repeated id, is rejected.

    `wanted` and `unit` name what is read in the reasons.
    """
    names_by_id: dict[str, str] = {}
    for file in files:
        name = file.relative_to(source).as_posix() if source.is_dir() else file.name
        try:
            record = read(file)
        except (ValueError, OSError) as error:
            detail = describe_unreadable(error) if isinstance(error, OSError) else str(error)
            build.reject_unreadable(name, f"not {wanted}", detail)
            continue
        if record["id"] in names_by_id:
            build.reject_unreadable(name, f"the same {unit} is there twice", names_by_id[record["id"]])
            continue
        names_by_id[record["id"]] = name
        yield record


def list_source_files(source: Path, is_wanted: Callable[[Path], bool], kinds: str) -> list[Path]:
    """The file itself, or the wanted files below a folder, by name. `kinds` names them if there is none."""
    if not source.exists():
        raise BadInput(source, "there is no such file or folder")
    if not source.is_dir():
        return [source]
    files = sorted(file for file in source.rglob("*") if file.is_file() and is_wanted(file))
    if not files:
        raise BadInput(source, f"contains no {kinds} file")
    return files


def hash_source(files: Iterable[Path], source: Path) -> str:
    """The SHA-256 of a file; of a folder, that of the list of its files' names and hashes."""
    if not source.is_dir():
        return sha256_file(source)
    hasher = hashlib.sha256()
    for file in files:
        hasher.update(f"{file.relative_to(source).as_posix()} {sha256_file(file)}\n".encode())
    return hasher.hexdigest()
