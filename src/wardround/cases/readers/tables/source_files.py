"""The files of a published data set: those to read, the split that a name tells, and images named in records."""

from collections.abc import Iterable
from pathlib import Path

from wardround.core.errors import BadInput

SPLITS = ("train", "dev", "val", "test")


def find_files(source: Path, *suffixes: str, subfolder: str = "", nested: bool = True) -> list[Path]:
    """The file itself, or the files with these suffixes in a folder, by name.

    They are looked for in `subfolder` if there is one; `nested` includes the folders below.
    """
    if source.is_file():
        return [source]
    folder = source / subfolder if (source / subfolder).is_dir() else source
    pattern = "**/*" if nested else "*"
    files = sorted(path for suffix in suffixes for path in folder.glob(f"{pattern}{suffix}"))
    if not files:
        reason = f"contains no {' or '.join(suffixes)} file" if source.exists() else "there is no such file or folder"
        raise BadInput(source, reason)
    return files


def find_files_by_suffix(source: Path, *suffixes: str) -> list[Path]:
    """`find_files` for layouts whose files are read by their suffix: a single file must have one of them."""
    if source.is_file() and source.suffix not in suffixes:
        raise BadInput(source, f"is not a {' or '.join(suffixes)} file")
    return find_files(source, *suffixes)


def first_file(paths: Iterable[Path]) -> Path | None:
    """The first of the paths that is a file."""
    return next((path for path in paths if path.is_file()), None)


def split_in_name(file: Path) -> str | None:
    """The split that a file's name tells, as in MedQ-Robust-good-dev.tsv."""
    words = file.stem.lower().replace("_", "-").split("-")
    return next((split for split in SPLITS if split in words), None)
