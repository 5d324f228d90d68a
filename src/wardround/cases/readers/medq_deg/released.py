"""MedQ-Deg as it was released: TSV tables of clean and of degraded images, or any table in that layout.

Columns: index, image, question, A to E, answer, modality, degradation_type, degradation_severity, source; others are
kept. `image` (or `image_path`) is base64, a path, or the index of the row that has the image. Tables are named
MedQ-Robust-{simulate,good}-{dev,test}.tsv; the split is read from the name. A row without a degradation is clean.
Really degraded images are rows whose degradation_type is `real` and whose severity is `mild` or `severe`.
"""

from pathlib import Path
from typing import Any

from wardround.cases.readers.medq_deg.degradation_names import degradation
from wardround.cases.readers.tables.case_collector import RecordPlace
from wardround.cases.readers.tables.choices import index_of_letter, options_by_letter
from wardround.cases.readers.tables.clean_twins import QuestionRow
from wardround.cases.readers.tables.question_rows import QuestionRows
from wardround.cases.readers.tables.source_files import find_files, split_in_name
from wardround.cases.readers.tables.table_images import TableImages
from wardround.cases.readers.tables.tsv import TsvRow, read_columns, tsv_rows
from wardround.core.errors import BadInput

OPTION_COLUMNS = tuple("ABCDE")
REQUIRED = ("index", "question", "A", "B", "answer")
READ = {
    *REQUIRED,
    *OPTION_COLUMNS,
    *("image", "image_path", "modality", "degradation_type", "degradation_severity", "source"),
}


def read_medq_deg(source: Path) -> QuestionRows:
    """The cases of a folder of tables, or of one table."""
    return read_tables(source, "medq-deg", {})


def read_tables(source: Path, origin: str, labels: dict[str, str]) -> QuestionRows:
    """Tables with the columns above. Other columns become fields of the question, renamed by `labels`."""
    rows = QuestionRows(origin)
    for file in find_files(source, ".tsv", nested=False):
        columns = read_columns(file)
        missing = [name for name in REQUIRED if name not in columns]
        if missing or not {"image", "image_path"} & set(columns):
            raise BadInput(file, f"there is no column {(missing or ['image'])[0]!r}", line=1)
        images = TableImages(file, columns, rows)
        for row in tsv_rows(file, rows.problems):
            _add(RecordPlace(file, row.line), row, images, labels)
        images.add_waiting_rows()
    return rows.group()


def _add(place: RecordPlace, row: TsvRow, images: TableImages, labels: dict[str, str]) -> None:
    cells = row.cells
    options = options_by_letter(cells, OPTION_COLUMNS)
    field = "answer"
    try:
        gold = index_of_letter(options, cells["answer"])
        field = "degradation_type"
        degraded = degradation(cells.get("degradation_type", ""), cells.get("degradation_severity", ""))
    except ValueError as error:
        images.rows.problems.append(place.problem(field, str(error)))
        return
    extra: dict[str, Any] = {
        labels.get(name, name.replace(" ", "_")): value
        for name, value in cells.items()
        if name not in READ and name != "split" and value.strip()
    }

    def make_row(paths: tuple[str, ...]) -> QuestionRow:
        return QuestionRow(
            place=place,
            id=cells["index"].strip(),
            prompt=cells["question"],
            options=tuple(options.values()),
            gold=gold,
            images=paths,
            modality=cells.get("modality", "").strip() or None,
            split=cells.get("split", "").strip() or split_in_name(place.file),
            source=cells.get("source", "").strip() or None,
            degradation=degraded,
            extra=extra,
        )

    images.add(row, make_row)
