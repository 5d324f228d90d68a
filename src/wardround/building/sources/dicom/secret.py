"""A hospital's secret, from which new names are made: without it nobody can find the original names.

It is in a folder beside the source (`FOLDER.private`), never in the case set: `salt`, 32 random bytes made by the first
build, and for each set a table of the original names. With the same salt a study always has the same new names, so
that builds can be repeated and joined.
"""

import csv
import hashlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from wardround.core.errors import BadInput, describe_unreadable
from wardround.core.files import replacement
from wardround.core.text import safe_row

SALT, BYTES = "salt", 32
COLUMNS = ("id", "was")


class Secret:
    """New names for original ones, by a keyed hash."""

    def __init__(self, salt: bytes) -> None:
        self._salt = salt

    def digest(self, *parts: str) -> bytes:
        message = "\0".join(parts).encode("utf-8", errors="surrogateescape")
        return hashlib.blake2b(message, key=self._salt, digest_size=16).digest()

    def name(self, kind: str, *parts: str) -> str:
        """`patient-0a1b2c3d4e5f`."""
        return f"{kind}-{self.digest(kind, *parts).hex()[:12]}"

    def uid(self, old: str) -> str:
        """A new UID, of the arc that anybody may use (2.25)."""
        return f"2.25.{int.from_bytes(self.digest('uid', old.strip(chr(0) + ' ')))}"


def load_secret(folder: Path) -> Secret:
    """The secret of a folder; made if there is none."""
    file = folder / SALT
    try:
        if not file.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(file, secrets.token_bytes(BYTES))
        salt = file.read_bytes()
    except OSError as error:
        problem = f"the secret cannot be kept here ({describe_unreadable(error)})"
        raise BadInput(file, f"{problem}; name a folder by --private") from None
    if len(salt) != BYTES:
        raise BadInput(file, f"is not a secret of {BYTES} bytes")
    return Secret(salt)


def write_names(folder: Path, set_name: str, names: Iterable[tuple[str, str]]) -> None:
    """Writes the table of new and original names: the only way back, for the hospital alone."""
    lines = [COLUMNS, *sorted(set(names))]
    file = folder / f"{set_name}.csv"
    with (
        replacement(file, private=True) as draft,
        draft.open("w", encoding="utf-8", errors="surrogateescape", newline="") as opened,
    ):
        csv.writer(opened, lineterminator="\n").writerows(map(safe_row, lines))


def _write(file: Path, content: bytes) -> None:
    """Writes a new file, complete or not at all; an existing file is kept."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as opened:  # for the user alone
        opened.write(content)
    try:
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
