"""An item: a question without its options yet, with its wording, level and importance.

`gold` is a text of the schema, `fitting` are texts of the same kind that are certainly wrong, `near` those that are
hard to tell apart. Levels and importance: our choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wardround.building.pipeline.pipeline import Build
from wardround.building.pipeline.records import Record
from wardround.building.sources.ophthalmic.schema import Schema, Tables

Item = dict[str, Any]
LEVELS = "RAS"
WEIGHED = ("DD", "SG", "CD", "integration", "selection")  # what it costs to miss the disease counts here
DISTRACTORS = 3  # as in all of X-PCR's sample questions


def rows_of(item: Item, rows: Sequence[Record]) -> list[Record]:
    """The rows of the table that an item is about."""
    if "stage" in item:
        return [rows[int(item["id"].rsplit("-", 1)[1]) - 1]]
    return [row for row in rows if row["shows"] in item["images"]]


def worded(id: str, name: str, row: Record, slots: dict[str, str], tables: Tables, build: Build, case: str) -> Item:
    """An item's wording, level and importance."""
    template, disease = tables.templates.of(name), tables.schema_.diseases[row["disease"]]
    prompt = build.drawn("wording", case, id).choice(template.prompts)
    for slot, text in slots.items():
        prompt = prompt.replace(f"{{{slot}}}", text)
    hardest = template.level if name in ("IQA", "AL") else max(template.level, disease.level, key=LEVELS.index)
    importance = disease.importance if row["importance"] is None else row["importance"]
    return {
        "id": id,
        "prompt": prompt,
        "disease": row["disease"],
        "grade": row["level"] or hardest,
        "importance": importance if name in WEIGHED else 1.0,
    }


def named(row: Record, schema: Schema) -> str:
    """An image as a question names it."""
    return f"{schema.modalities[row['modality']]}{side_of(row)}"


def side_of(row: Record) -> str:
    return f" of the {row['eye']} eye" if row["eye"] else ""


def all_named(rows: Sequence[Record], schema: Schema) -> str:
    """Several images of one eye."""
    side = side_of(rows[0])
    *most, last = dict.fromkeys(schema.modalities[row["modality"]] for row in rows)
    return f"{', '.join(most)} and {last}{side}" if most else f"{last}{side}"
