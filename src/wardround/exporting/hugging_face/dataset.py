"""A case set as a Hugging Face dataset: a row per case, images as image columns, the case itself as JSON.

`wardround cases convert DIR --from hf-export` reads it back (cases/readers/hf_export.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from wardround.cases.images.recipe import kind_of, recipe_for
from wardround.cases.images.render import render
from wardround.cases.readers.hf_export import CASE_COLUMN, IMAGES_COLUMN, LINE_COLUMN, ORIGINALS_COLUMN
from wardround.cases.set import CaseSet, case_to_json
from wardround.core.case import Case, Image, Question
from wardround.core.files import new_folder, write_file
from wardround.exporting.destination import require_new_folder
from wardround.exporting.hugging_face.card import card
from wardround.exporting.hugging_face.croissant import TEXT as TEXT_TYPE
from wardround.exporting.hugging_face.croissant import DataTable, croissant

DESCRIPTION = "A case set for wardround: medical cases with images, questions and right answers."
DESCRIBED = ("id", "specialty", "history", "case")  # columns in the Croissant metadata
ROWS_AT_A_TIME = 64  # also the rows of a row group: they hold images
TEXT = {"dtype": "string", "_type": "Value"}
QUESTION = {"id": "string", "kind": "string", "prompt": "string", "gold": "string"}
FILES = pa.list_(pa.struct({"bytes": pa.binary(), "path": pa.string()}))
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("specialty", pa.string()),
        pa.field("history", pa.string()),
        pa.field(IMAGES_COLUMN, FILES),
        pa.field(ORIGINALS_COLUMN, FILES),
        pa.field(
            "questions",
            pa.list_(pa.struct({**dict.fromkeys(QUESTION, pa.string()), "options": pa.list_(pa.string())})),
        ),
        pa.field(CASE_COLUMN, pa.string()),
        pa.field(LINE_COLUMN, pa.int64()),
    ]
)
FEATURES: dict[str, Any] = {
    "id": TEXT,
    "specialty": TEXT,
    "history": TEXT,
    IMAGES_COLUMN: {"feature": {"_type": "Image"}, "_type": "List"},
    ORIGINALS_COLUMN: {"feature": {"bytes": {"dtype": "binary", "_type": "Value"}, "path": TEXT}, "_type": "List"},
    "questions": {
        "feature": {**dict.fromkeys(QUESTION, TEXT), "options": {"feature": TEXT, "_type": "List"}},
        "_type": "List",
    },
    CASE_COLUMN: TEXT,
    LINE_COLUMN: {"dtype": "int64", "_type": "Value"},
}


def export_cases(source: Path, out: Path) -> list[Path]:
    """Writes the folder: a Parquet file for each split, README.md and croissant.json."""
    require_new_folder(out)
    cases = CaseSet.open(source)
    splits = dict.fromkeys(case.split or "test" for case in cases)
    name = cases.folder.resolve().name
    with new_folder(out) as draft:
        counts = {split: _write_split(cases, split, draft / _file(split)) for split in splits}
        files = {split: _file(split) for split in splits}
        write_file(draft / "README.md", card(name, files, counts))
        tables = {split: DataTable(file, dict.fromkeys(DESCRIBED, TEXT_TYPE)) for split, file in files.items()}
        metadata = croissant(name, DESCRIPTION, draft, tables)
        write_file(draft / "croissant.json", json.dumps(metadata, indent=2) + "\n")
    return [out]


def _file(split: str) -> str:
    return f"data/{split}-00000-of-00001.parquet"


def _write_split(cases: CaseSet, split: str, file: Path) -> int:
    file.parent.mkdir(exist_ok=True)
    schema = SCHEMA.with_metadata({"huggingface": json.dumps({"info": {"features": FEATURES}})})
    rows, count = _rows(cases, split), 0
    with pq.ParquetWriter(file, schema) as writer:
        while batch := list(islice(rows, ROWS_AT_A_TIME)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _rows(cases: CaseSet, split: str) -> Iterator[dict[str, Any]]:
    for line, case in enumerate(cases):
        if (case.split or "test") == split:
            yield {
                "id": case.id,
                "specialty": case.specialty,
                "history": case.history,
                IMAGES_COLUMN: [_shown_image(cases, image) for image in case.images],
                ORIGINALS_COLUMN: [_file_of(cases, image) for image in _images_not_shown(case)],
                "questions": [_question(question) for question in case.questions],
                CASE_COLUMN: case_to_json(case),
                LINE_COLUMN: line,
            }


def _shown_image(cases: CaseSet, image: Image) -> dict[str, Any]:
    """The file of an image; what only medical programs open is rendered as a candidate would be shown it."""
    if kind_of(image.path) == "raster":
        return _file_of(cases, image)
    rendered = render(cases.image_path(image), image.frame, recipe_for(image))
    return {"bytes": rendered.data, "path": f"{image.path}.{rendered.media_type.partition('/')[2]}"}


def _images_not_shown(case: Case) -> Iterable[Image]:
    """The images whose files are not in the image column, one for each file."""
    return {image.path: image for image in case.images if kind_of(image.path) != "raster"}.values()


def _file_of(cases: CaseSet, image: Image) -> dict[str, Any]:
    return {"bytes": cases.image_path(image).read_bytes(), "path": image.path}


def _question(question: Question) -> dict[str, Any]:
    texts = {"id": question.id, "kind": question.kind, "prompt": question.prompt, "gold": question.gold_text}
    return {**texts, "options": question.options or []}
