"""The images of X-PCR's rows: paths, base64 or bytes, each with its modality."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from wardround.cases.images.recipe import RASTER_SUFFIXES
from wardround.cases.readers.tables.image_cell import decoded, inside, is_path, suffix_of
from wardround.cases.readers.tables.json_file import Told
from wardround.cases.readers.tables.spooled import Spooled
from wardround.core.case import Image

MODALITIES = ("CFP", "OCT", "FFA", "ICGA", "EP", "RetCam")


class XpcrImages:
    """Finds images and remembers where they are; those that stand in rows wait with them on disk."""

    def __init__(self, root: Path, rows: Spooled) -> None:
        self._root, self._rows = root, rows
        self._held: dict[str, Path] = {}

    def copy(self, image: Image, there: Path) -> None:
        data = self._rows.image(image.path)
        if data is None:
            shutil.copyfile(self._held[image.path], there)
        else:
            there.write_bytes(data)

    def of(self, file: Path, read: Told) -> list[tuple[str, str | None]]:
        """The images of a row, each with its modality. ValueError says what is wrong."""
        cells = read.get("images")
        cells = cells if isinstance(cells, list) else [] if cells is None else [cells]
        told = read.get("modality")
        modalities = [str(each) for each in told] if isinstance(told, list) else [str(told)] if told else []
        if not cells and folder_case(file):
            cells = sorted(path.relative_to(file.parent).as_posix() for path in _pictures(file.parent))
        found = []
        for number, cell in enumerate(cells):
            path = self._held_at(file, cell)
            own = cell.get("modality") if isinstance(cell, dict) else None
            if own is None and len(modalities) in (1, len(cells)):
                own = modalities[number if len(modalities) == len(cells) else 0]
            found.append((path, _spelled(own) if own else _modality_of(path)))
        return found

    def _held_at(self, file: Path, cell: Any) -> str:
        """Where the case set will have an image."""
        if isinstance(cell, dict):
            data = cell.get("bytes")
            if data:
                return self._kept(data if isinstance(data, bytes) else decoded(str(data)))
            cell = cell.get("path")
        if not isinstance(cell, str) or not cell.strip():
            raise ValueError("an image is a path, base64, or an object with path or bytes")
        if not is_path(cell):
            return self._kept(decoded(cell))
        name = inside(cell)
        for folder in (file.parent, self._root, self._root / "images", *file.parents[1:3]):
            there = folder / name
            if there.is_file():
                path = there.relative_to(self._root).as_posix() if there.is_relative_to(self._root) else name
                self._held[path] = there
                return path
        raise ValueError(f"{cell!r}: there is no such file, neither in images/ nor beside {file.name}")

    def _kept(self, data: bytes) -> str:
        name = f"images/{hashlib.blake2b(data, digest_size=12).hexdigest()}{suffix_of(data)}"
        self._rows.put_image(name, data)
        return name


def folder_case(file: Path) -> str:
    """The case whose folder a file lies in: multimodal_cases/case_001/."""
    return file.parent.name if file.parent.parent.name == "multimodal_cases" else ""


def _spelled(told: object) -> str:
    text = str(told).strip()
    return next((each for each in MODALITIES if each.casefold() == text.casefold()), text)


def _modality_of(path: str) -> str | None:
    """As the folder or the name of a file says it."""
    parts = [part for step in PurePosixPath(path).with_suffix("").parts for part in step.replace("-", "_").split("_")]
    told = {part.casefold().rstrip("0123456789") for part in parts}
    return next((each for each in MODALITIES if each.casefold() in told), None)


def _pictures(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.suffix.lower() in RASTER_SUFFIXES)
