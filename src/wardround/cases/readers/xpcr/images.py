"""The images of X-PCR's rows: paths, base64 or bytes, each with its modality."""

import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from wardround.cases.images.recipe import RASTER_SUFFIXES
from wardround.cases.readers.tables.image_cell import decode_image, hashed_path, is_path, path_inside
from wardround.cases.readers.tables.json_file import JsonObject
from wardround.cases.readers.tables.row_spool import RowSpool
from wardround.cases.readers.tables.source_files import first_file
from wardround.core.case import Image

MODALITIES = ("CFP", "OCT", "FFA", "ICGA", "EP", "RetCam")


class XpcrImages:
    """Finds images and notes where they are; images inside rows are stored in the spool."""

    def __init__(self, root: Path, rows: RowSpool) -> None:
        self._root, self._rows = root, rows
        self._files: dict[str, Path] = {}

    def copy(self, image: Image, target: Path) -> None:
        data = self._rows.image(image.path)
        if data is None:
            shutil.copyfile(self._files[image.path], target)
        else:
            target.write_bytes(data)

    def find(self, file: Path, fields: JsonObject) -> list[tuple[str, str | None]]:
        """The images of a row of a file, each with its modality. ValueError says what is wrong."""
        cells = fields.get("images")
        cells = cells if isinstance(cells, list) else [] if cells is None else [cells]
        value = fields.get("modality")
        modalities = [str(name) for name in value] if isinstance(value, list) else [str(value)] if value else []
        if not cells and folder_case(file):
            cells = sorted(path.relative_to(file.parent).as_posix() for path in _pictures(file.parent))
        images = []
        for index, cell in enumerate(cells):
            path = self._add(file, cell)
            modality = cell.get("modality") if isinstance(cell, dict) else None
            if modality is None and len(modalities) in (1, len(cells)):
                modality = modalities[index if len(modalities) == len(cells) else 0]
            images.append((path, _normalize_modality(modality) if modality else _modality_in_path(path)))
        return images

    def _add(self, row_file: Path, cell: Any) -> str:
        """Notes where an image is; returns its path in the case set."""
        if isinstance(cell, dict):
            data = cell.get("bytes")
            if data:
                return self._store(data if isinstance(data, bytes) else decode_image(str(data)))
            cell = cell.get("path")
        if not isinstance(cell, str) or not cell.strip():
            raise ValueError("an image is a path, base64, or an object with path or bytes")
        if not is_path(cell):
            return self._store(decode_image(cell))
        name = path_inside(cell)
        folders = (row_file.parent, self._root, self._root / "images", *row_file.parents[1:3])
        file = first_file(folder / name for folder in folders)
        if file is None:
            raise ValueError(f"{cell!r}: there is no such file, neither in images/ nor beside {row_file.name}")
        path = file.relative_to(self._root).as_posix() if file.is_relative_to(self._root) else name
        self._files[path] = file
        return path

    def _store(self, data: bytes) -> str:
        path = hashed_path(data)
        self._rows.add_image(path, data)
        return path


def folder_case(file: Path) -> str:
    """The case in whose folder a file is: multimodal_cases/case_001/."""
    return file.parent.name if file.parent.parent.name == "multimodal_cases" else ""


def _normalize_modality(modality: object) -> str:
    text = str(modality).strip()
    return next((name for name in MODALITIES if name.casefold() == text.casefold()), text)


def _modality_in_path(path: str) -> str | None:
    """The modality that a folder or the name of a file gives."""
    parts = [part for step in PurePosixPath(path).with_suffix("").parts for part in step.replace("-", "_").split("_")]
    words = {part.casefold().rstrip("0123456789") for part in parts}
    return next((modality for modality in MODALITIES if modality.casefold() in words), None)


def _pictures(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.suffix.lower() in RASTER_SUFFIXES)
