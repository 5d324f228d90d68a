"""MedQ-Deg as it was released: TSV tables of clean and of degraded images, or any table in that layout.

Columns: index, image, question, A to E, answer, modality, degradation_type, degradation_severity, source; others are
kept. `image` (or `image_path`) is base64, a path, or the index of the row that has the image. Tables are named
MedQ-Robust-{simulate,good}-{dev,test}.tsv; the split is read off the name. A row without a degradation is clean.
Really degraded images are rows whose degradation_type is `real` and whose severity is `mild` or `severe`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wardround.cases.readers.medq_deg.clean_twins import Row
from wardround.cases.readers.medq_deg.degradation_names import degradation
from wardround.cases.readers.tables.choices import by_letter, lettered
from wardround.cases.readers.tables.question_rows import Rows
from wardround.cases.readers.tables.table_images import TableImages
from wardround.cases.readers.tables.tsv import TsvRow, columns_of, tsv_rows
from wardround.core.errors import BadInput, Problem

LETTERS = tuple("ABCDE")
NEEDED = ("index", "question", "A", "B", "answer")
READ = {*NEEDED, *LETTERS, "image", "image_path", "modality", "degradation_type", "degradation_severity", "source"}
SPLITS = ("train", "dev", "val", "test")


def read_medq_deg(source: Path) -> Rows:
    """The cases of a folder of tables, or of one table."""
    return read_tables(source, "medq-deg", {})


def read_tables(source: Path, origin: str, labels: dict[str, str]) -> Rows:
    """Tables with the columns above. Others become fields of the question, named by `labels` where it has them."""
    rows = Rows(origin)
    for file in tables_in(source):
        columns = columns_of(file)
        lacking = [name for name in NEEDED if name not in columns]
        if lacking or not {"image", "image_path"} & set(columns):
            raise BadInput(file, f"there is no column {(lacking or ['image'])[0]!r}", line=1)
        images = TableImages(file, columns, rows)
        for told in tsv_rows(file, rows.problems):
            _take(file, told, images, rows, labels)
        images.settle_references()
    return rows.joined()


def tables_in(source: Path) -> list[Path]:
    """The .tsv files of a folder, by name; or the file itself."""
    if source.is_file():
        return [source]
    found = sorted(source.glob("*.tsv"))
    if not found:
        raise BadInput(source, "there is no .tsv file in it" if source.exists() else "there is no such file or folder")
    return found


def _take(file: Path, told: TsvRow, images: TableImages, rows: Rows, labels: dict[str, str]) -> None:
    cells = told.cells
    options = lettered(cells, LETTERS)
    field = "answer"
    try:
        gold = by_letter(options, cells["answer"])
        field = "degradation_type"
        degraded = degradation(cells.get("degradation_type", ""), cells.get("degradation_severity", ""))
    except ValueError as error:
        rows.problems.append(Problem(file, told.line, field, str(error)))
        return
    more: dict[str, Any] = {
        labels.get(name, name.replace(" ", "_")): value
        for name, value in cells.items()
        if name not in READ and name != "split" and value.strip()
    }
    images.take(
        told,
        lambda paths: Row(
            file=file,
            line=told.line,
            place="",
            id=cells["index"].strip(),
            prompt=cells["question"],
            options=tuple(options.values()),
            gold=gold,
            images=paths,
            modality=cells.get("modality", "").strip() or None,
            split=cells.get("split", "").strip() or split_of(file),
            source=cells.get("source", "").strip() or None,
            degradation=degraded,
            more=more,
        ),
    )


def split_of(file: Path) -> str | None:
    """The split that a file's name tells, as in MedQ-Robust-good-dev.tsv."""
    words = file.stem.lower().replace("_", "-").split("-")
    return next((split for split in SPLITS if split in words), None)
