"""The layout `hf-export`: what `wardround export CASES --to hf` wrote, read back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from wardround.cases.set import parse_case
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, Problem

CASE_COLUMN, IMAGES_COLUMN, LINE_COLUMN = "case", "images", "line"
ORIGINALS_COLUMN = "originals"  # files that are in the image column as they are shown
Place = tuple[Path, int]  # file and row


class HfExport:
    """The cases in the order of the original set. Images are read from their row when they are copied."""

    def __init__(self, places: list[Place]) -> None:
        self.problems: list[Problem] = []
        self._places = places
        self._place_by_image: dict[str, Place] = {}

    def __iter__(self) -> Iterator[Case]:
        for place in self._places:
            try:
                case = parse_case(_cell(place, CASE_COLUMN).encode())
            except ValueError:
                raise BadInput(place[0], f"row {place[1]} does not hold a case", field=CASE_COLUMN) from None
            self._place_by_image |= {image.path: place for image in case.images}
            yield case

    def copy_image(self, image: Image, target: Path) -> None:
        """Writes the file of an image of a case that was given before."""
        place = self._place_by_image[image.path]
        columns = [_cell(place, column) for column in (ORIGINALS_COLUMN, IMAGES_COLUMN)]
        cells = (cell for column in columns if column is not None for cell in column)
        data = next((cell["bytes"] for cell in cells if cell["path"] == image.path), None)
        if data is None:
            raise BadInput(place[0], f"row {place[1]} lacks the image {image.path!r}", field=IMAGES_COLUMN)
        target.write_bytes(data)


def read_hf_export(source: Path) -> HfExport:
    """The cases of an exported folder."""
    if not source.is_dir():
        raise BadInput(source, "is not a folder that `wardround export CASES --to hf` wrote")
    lines: list[tuple[int, Place]] = []
    for file in sorted(source.glob("data/*.parquet")):
        try:
            column = pl.read_parquet(file, columns=[LINE_COLUMN, CASE_COLUMN])[LINE_COLUMN]
        except (OSError, pl.exceptions.PolarsError):
            raise BadInput(file, f"has no columns {LINE_COLUMN!r} and {CASE_COLUMN!r}") from None
        lines += [(line, (file, row)) for row, line in enumerate(column)]
    if not lines:
        raise BadInput(source, "has no data/*.parquet; expected what `wardround export CASES --to hf` wrote")
    return HfExport([place for _, place in sorted(lines)])


def _cell(place: Place, column: str) -> Any:
    """The value of a column; None if the file lacks it."""
    rows = pl.scan_parquet(place[0]).select(pl.col(f"^{column}$")).slice(place[1], 1).collect()
    return rows.item(0, 0) if rows.width else None
