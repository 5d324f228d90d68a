"""Stage 6, the clinical decision, is written by people: what the schema would ask goes to them as a draft.

A line of `review/decisions.jsonl` has `adds`: a question that joins its case when somebody kept or edited it.
"""

from __future__ import annotations

from typing import Any

from wardround.building.pipeline.pipeline import Build, Step, each
from wardround.building.pipeline.records import Record
from wardround.building.review.items import PHYSICIAN
from wardround.building.sources.ophthalmic.items import Item, rows_of
from wardround.building.sources.ophthalmic.schema import Tables

QUEUE = "decisions"
DECIDE = (
    "Write the decision for this patient: the question, one right option and wrong ones that a colleague would "
    "consider. The draft comes from a table, not from this patient. Keep it only if it is right as it stands."
)


def decisions(tables: Tables) -> Step:
    """Takes stage 6 out of the items and queues it."""

    def change(record: Record, build: Build) -> Record:
        for item in record["items"]:
            if item.get("stage") == "CD":
                row = rows_of(item, record["rows"])[0]
                told = {"disease": row["disease"], "grade": _grade(row, tables), "lesions": row["lesions"]}
                line = {"id": record["id"], "level": PHYSICIAN, "decide": DECIDE, **told}
                build.queue(QUEUE, line | {"adds": question(item)})
        return record | {"items": [item for item in record["items"] if item.get("stage") != "CD"]}

    return each(QUEUE, change)


def _grade(row: Record, tables: Tables) -> str | None:
    return tables.schema_.diseases[row["disease"]].grades.get(row["grade"] or "")


def question(item: Item) -> dict[str, Any]:
    """An item as a question of a case."""
    order = ("stage", "task", "chain", "given", "images", "prompt", "options", "gold", "grade", "importance", "disease")
    return {"id": item["id"], "kind": "choice", **{name: item[name] for name in order if name in item}}
