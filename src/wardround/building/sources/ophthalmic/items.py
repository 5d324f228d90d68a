"""An item: a question before it has options, with its prompt, level and importance.

`gold` is a text of the schema, `fitting` are texts of the same kind that are certainly wrong, `near` those that are
easily confused with it. Levels and importance: our choice.
"""

from collections.abc import Sequence
from typing import Any

from wardround.building.pipeline.pipeline import Build, Record
from wardround.building.sources.ophthalmic.schema import EyeSchema, EyeTables
from wardround.reporting.numbers import join_words

EyeItem = dict[str, Any]
LEVELS = "RAS"
DIFFERENTIAL = "differential"  # the open form of DD
WEIGHED = ("DD", DIFFERENTIAL, "SG", "CD", "integration", "selection")  # weighted by what it costs to miss the disease
DISTRACTORS = 3  # as in all of X-PCR's sample questions


def rows_of(item: EyeItem, rows: Sequence[Record]) -> list[Record]:
    """The rows of the table that an item is about."""
    if "stage" in item:
        return [rows[int(item["id"].rsplit("-", 1)[1]) - 1]]
    return [row for row in rows if row["shows"] in item["images"]]


def make_item(
    id: str, name: str, row: Record, slots: dict[str, str], tables: EyeTables, build: Build, case: str
) -> EyeItem:
    """An item with its prompt, level and importance."""
    template, disease = tables.templates.of(name), tables.schema_.diseases[row["disease"]]
    prompt = build.random_stream("wording", case, id).choice(template.prompts)
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


def full_prompt(item: EyeItem) -> str:
    """The wording of an item, and the rule by which its options are read, which no writer changes."""
    return " ".join(text for text in (item["prompt"], item.get("rule")) if text)


def image_name(row: Record, schema: EyeSchema) -> str:
    """The name of an image in a question."""
    return f"{schema.modalities[row['modality']]}{side_phrase(row)}"


def side_phrase(row: Record) -> str:
    return f" of the {row['eye']} eye" if row["eye"] else ""


def image_names(rows: Sequence[Record], schema: EyeSchema) -> str:
    """The names of several images of one eye."""
    modalities = list(dict.fromkeys(schema.modalities[row["modality"]] for row in rows))
    return f"{join_words(modalities)}{side_phrase(rows[0])}"
