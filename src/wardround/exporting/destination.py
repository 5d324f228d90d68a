"""Where an export goes: a new file or folder. Nothing is overwritten."""

import re
from collections.abc import Collection
from pathlib import Path

from wardround.core.errors import BadInput


def require_new_file(path: Path) -> None:
    """Refuses a path that exists; makes the folder around it."""
    if path.exists():
        raise BadInput(path, "already exists; an export overwrites nothing: name another file by --out")
    path.parent.mkdir(parents=True, exist_ok=True)


def require_new_folder(path: Path) -> None:
    """Refuses a folder that holds something, and a file."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise BadInput(path, "already exists and is not empty; an export overwrites nothing: name another by --out")


def new_file_name(stem: str, suffix: str, used: Collection[str]) -> str:
    """A file name that every system allows, and that differs from the `used` ones by more than the case of letters."""
    plain = re.sub(r'[\x00-\x1f/\\:*?"<>|]', "-", stem)
    lower_case = {name.lower() for name in used}
    name, number = plain + suffix, 1
    while name.lower() in lower_case:
        number += 1
        name = f"{plain}-{number}{suffix}"
    return name
