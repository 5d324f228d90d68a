"""Where an export goes: a new file or folder. Nothing is overwritten."""

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
