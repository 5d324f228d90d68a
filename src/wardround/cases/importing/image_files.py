"""Image files that the rows of a table name: where they are, and a guess in which folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from wardround.cases.readers.tables.image_cell import PATH_SUFFIXES, path_inside
from wardround.cases.readers.tables.source_files import first_file

USUAL_FOLDERS = ("images",)  # beside the table, if the map names no folder
MAX_SEARCHED_FOLDERS = 1000


def find_image(roots: Iterable[Path], folders: Iterable[str], name: str) -> Path | None:
    """The file of an image in one of the folders below one of the roots; the name may lack its suffix."""
    path = path_inside(name)
    paths = [path] if has_image_suffix(path) else [path, *(path + suffix for suffix in PATH_SUFFIXES)]
    folders = list(folders)
    return first_file(root / folder / path for root in roots for folder in folders for path in paths)


def has_image_suffix(path: str) -> bool:
    """Whether a path ends as image files do."""
    return path.lower().endswith(PATH_SUFFIXES)


def guess_image_folders(table: Path, names: Sequence[str]) -> list[str] | None:
    """The folders beside a table that hold most of the images; none if the usual ones do.

    None if most images are nowhere, or if several folders have an image of one name: nothing tells which is meant.
    """
    root = table.parent
    if 2 * sum(find_image([root], ("", *USUAL_FOLDERS), name) is not None for name in names) > len(names):
        return []
    folders = list(islice(_folders_below(root), MAX_SEARCHED_FOLDERS))
    folders_by_name = [[folder for folder in folders if find_image([root], [folder], name)] for name in names]
    if any(len(places) > 1 for places in folders_by_name) or 2 * folders_by_name.count([]) >= len(names):
        return None
    return list(dict.fromkeys(folder for places in folders_by_name for folder in places))


def _folders_below(root: Path) -> Iterator[str]:
    """The folders below a folder, in the order of their names; hidden ones are left out."""
    for parent, names, _ in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in names:
            yield (Path(parent) / name).relative_to(root).as_posix()
