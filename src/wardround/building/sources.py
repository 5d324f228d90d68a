"""What a build was made of, by its content: one hash for a file or for all files of a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from wardround.core.canonical import sha256_file


def hash_of(files: Iterable[Path], source: Path) -> str:
    """The SHA-256 of a file, or of the list of names and hashes of a folder's."""
    if not source.is_dir():
        return sha256_file(source)
    told = hashlib.sha256()
    for file in files:
        told.update(f"{file.relative_to(source).as_posix()} {sha256_file(file)}\n".encode())
    return told.hexdigest()
