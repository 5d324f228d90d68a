"""The secret of a hospital: it makes the new names, so that nobody without it can go back from them.

It lies in a folder beside the source (`FOLDER.private`), never in the case set: `salt`, 32 random bytes made by the
first build, and for each set a table of which case came from where. With the same salt the same study has the same new
names, so builds can be repeated and joined.
"""

from __future__ import annotations

import csv
import hashlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from wardround.core.errors import BadInput

SALT, BYTES = "salt", 32
COLUMNS = ("id", "was")


class Secret:
    """New names for old ones, by a keyed hash."""

    def __init__(self, salt: bytes) -> None:
        self._salt = salt

    def digest(self, *parts: str) -> bytes:
        told = "\0".join(parts).encode("utf-8", errors="surrogateescape")
        return hashlib.blake2b(told, key=self._salt, digest_size=16).digest()

    def name(self, kind: str, *parts: str) -> str:
        """`patient-0a1b2c3d4e5f`."""
        return f"{kind}-{self.digest(kind, *parts).hex()[:12]}"

    def uid(self, old: str) -> str:
        """Another UID, of the arc that is open to everybody (2.25)."""
        return f"2.25.{int.from_bytes(self.digest('uid', old.strip(chr(0) + ' ')))}"


def load(folder: Path) -> Secret:
    """The secret of a folder; made where there is none."""
    file = folder / SALT
    try:
        if not file.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(file, secrets.token_bytes(BYTES))
        salt = file.read_bytes()
    except OSError as error:
        raise BadInput(file, f"the secret cannot be kept here ({error.strerror}); name a folder by --private") from None
    if len(salt) != BYTES:
        raise BadInput(file, f"is no secret of {BYTES} bytes")
    return Secret(salt)


def keep_names(folder: Path, of: str, names: Iterable[tuple[str, str]]) -> Path:
    """Writes which new name was what: the only way back, for the hospital alone."""
    lines = [COLUMNS, *sorted(set(names))]
    file = folder / f"{of}.csv"
    draft = folder / f".{of}.{os.getpid()}"
    draft.unlink(missing_ok=True)
    with open(_only_mine(draft), "w", encoding="utf-8", errors="surrogateescape", newline="") as opened:
        csv.writer(opened, lineterminator="\n").writerows(lines)
    draft.replace(file)
    return file


def _write(file: Path, content: bytes) -> None:
    """Whole or not at all; whoever comes second takes what the first wrote."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with open(_only_mine(draft), "wb") as opened:
        opened.write(content)
    try:
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _only_mine(file: Path) -> int:
    return os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
