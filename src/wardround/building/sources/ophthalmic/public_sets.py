"""Public eye sets as rows of the table that `build ophthalmic` reads; public_sets.toml describes their layouts."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path

from pydantic import Field, model_validator

from wardround.building.pipeline.spreadsheet import read_sheet
from wardround.building.pipeline.table_rows import SourceRow
from wardround.core.errors import BadInput, WardroundError
from wardround.core.toml_table import StrictTable, parse_table, read_toml

LAYOUTS = Path(__file__).with_name("public_sets.toml")
ENDINGS = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp")
GROUPS = ("patient", "eye", "split")


class ImageLabel(StrictTable):
    """A label in the schema's terms."""

    disease: str
    grade: str = ""


class QualityColumn(StrictTable):
    column: str
    values: dict[str, str]


class LabelColumns(StrictTable):
    """What one line of a label file says of one image."""

    image: str = ""
    volume: str = ""
    label: str
    prefix: str = ""  # before the label, where two columns use the same values
    separators: str = ""
    eye: str = ""
    eye_column: str = ""
    patient: str = ""
    age: str = ""
    sex: str = ""
    quality: QualityColumn | None = None

    @property
    def needed(self) -> list[str]:
        return [self.image or self.volume, self.label]


class LabelFile(StrictTable):
    labels: list[str] = Field(min_length=1)
    images: str = ""
    split: str = ""


class PublicSet(StrictTable):
    """One layout; public_sets.toml explains its keys."""

    title: str
    modality: str
    path: str = ""
    name: str = ""
    tables: list[LabelFile] = []
    rows: list[LabelColumns] = []
    labels: dict[str, str | ImageLabel]

    @model_validator(mode="after")
    def _check_kind(self) -> PublicSet:
        if bool(self.path) == bool(self.tables) or bool(self.tables) != bool(self.rows):
            raise ValueError("expected either path, or tables with rows")
        return self

    def cells_of(self, label: str) -> dict[str, str]:
        """The disease and grade of a label; an unknown label stands as it is, and is rejected by its name."""
        known = {name.lower(): meaning for name, meaning in self.labels.items()}.get(label.lower(), label)
        return known.model_dump() if isinstance(known, ImageLabel) else {"disease": known}


class PublicSetList(StrictTable):
    sets: dict[str, PublicSet]


@cache
def public_sets() -> dict[str, PublicSet]:
    """All layouts by name."""
    return parse_table(PublicSetList, {"sets": read_toml(LAYOUTS, "layouts")}, LAYOUTS).sets


def read_public_set(folder: Path, name: str) -> tuple[list[SourceRow], list[Path]]:
    """The rows of a set, numbered from 1, and the label files that were read."""
    layouts = public_sets()
    if name not in layouts:
        raise WardroundError(f"there is no layout {name!r}; there are {', '.join(layouts)}")
    if not folder.is_dir():
        raise BadInput(folder, f"is not the folder of {layouts[name].title}")
    files: list[Path] = []
    reader = _rows_by_path if layouts[name].path else _rows_of_tables
    distinct = {tuple(cells.items()): cells for cells in reader(folder, layouts[name], files)}
    source = {"modality": layouts[name].modality, "source": name}
    rows = [SourceRow(number, cells | source) for number, cells in enumerate(distinct.values(), start=1)]
    if not rows:
        raise BadInput(folder, f"has no image where {layouts[name].title} has them; see public_sets.toml")
    return rows, files


def _rows_by_path(folder: Path, layout: PublicSet, files: list[Path]) -> Iterator[dict[str, str]]:
    for file in sorted(folder.rglob("*")):
        if match := re.search(rf"(?:^|/){layout.path}$", file.relative_to(folder).as_posix()):
            yield {"image": str(file.absolute()), **layout.cells_of(match["label"]), **_groups(match)}


def _rows_of_tables(folder: Path, layout: PublicSet, files: list[Path]) -> Iterator[dict[str, str]]:
    for table in layout.tables:
        file = next((file for glob in table.labels for file in sorted(folder.glob(glob))), None)
        if file is None:
            continue
        files.append(file)
        lines = read_sheet(file) if file.suffix == ".xlsx" else _read_csv(file)
        for columns in layout.rows:
            if missing := [name for name in columns.needed if lines and name not in lines[0]]:
                raise BadInput(file, f"expected the column {missing[0]!r}; there are {', '.join(lines[0])}", line=1)
        images = _Images(folder, table.images)
        for line in lines:
            for columns in layout.rows:
                yield from _line_cells(line, columns, layout, table.split, images)


def _line_cells(
    line: Mapping[str, str], columns: LabelColumns, layout: PublicSet, split: str, images: _Images
) -> Iterator[dict[str, str]]:
    name = line[columns.image or columns.volume]
    shared = {"image": images.find_middle(name) if columns.volume else images.find(name), "split": split}
    shared |= {key: line.get(getattr(columns, key), "") for key in ("patient", "age", "sex") if getattr(columns, key)}
    shared["eye"] = line.get(columns.eye_column, "") if columns.eye_column else columns.eye
    if columns.quality:
        shared["quality"] = columns.quality.values.get(line.get(columns.quality.column, ""), "")
    if layout.name and (match := re.fullmatch(layout.name, Path(name).stem)):
        shared |= _groups(match)
    parts = re.split(f"[{re.escape(columns.separators)}]", line[columns.label]) if columns.separators else None
    labels = [line[columns.label]] if parts is None else [part for part in parts if part.strip()]
    for label in labels:
        text = _whole(label.strip())
        yield shared | layout.cells_of(f"{columns.prefix}{text}" if text else "")


def _groups(match: re.Match[str]) -> dict[str, str]:
    return {name: value for name, value in match.groupdict(default="").items() if name in GROUPS}


def _whole(label: str) -> str:
    """`2` for `2.0`, as spreadsheets and gaps in a column write it."""
    return re.sub(r"^(\d+)\.0+$", r"\1", label)


def _read_csv(file: Path) -> list[dict[str, str]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            lines = csv.DictReader(opened)
            return [
                {name.strip(): (value or "").strip() for name, value in line.items() if isinstance(name, str)}
                for line in lines
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, f"cannot be read: {error}") from None


class _Images:
    """The images below some folders by name and by stem. A name that is not there stays as it is, and is rejected."""

    def __init__(self, folder: Path, glob: str) -> None:
        places = [path for path in sorted(folder.glob(glob)) if path.is_dir()] if glob else []
        self._folders = places or [folder]

    @cached_property
    def _by_name(self) -> dict[str, Path]:
        by_name: dict[str, Path] = {}
        for place in self._folders:
            for file in sorted(place.rglob("*")):
                if file.suffix.lower() in ENDINGS:
                    by_name.setdefault(file.name.lower(), file)
                    by_name.setdefault(file.stem.lower(), file)
        return by_name

    def find(self, name: str) -> str:
        file = self._by_name.get(name.lower()) or self._by_name.get(Path(name).stem.lower())
        return name if file is None else str(file.absolute())

    def find_middle(self, name: str) -> str:
        """The middle file of the folder of this name."""
        for place in self._folders:
            files = [file for file in (place / name).glob("*") if file.suffix.lower() in ENDINGS]
            if files:
                files.sort(key=lambda file: (len(file.stem), file.stem))
                return str(files[len(files) // 2].absolute())
        return name
