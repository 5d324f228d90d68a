"""The steps `writer` and `reviewer`: a model words a question anew, and another one looks the item over.

A writer changes the wording only; a wording that gives the answer away, asks several things or is no question is not
taken. A reviewer sees the labels and the item with its answer; a case with an item that it objects to is held.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from string import ascii_uppercase

from wardround.building.audit.mentions import as_text, mentioned
from wardround.building.pipeline.pipeline import Build, Step, asked, whole
from wardround.building.pipeline.records import Record, Spool
from wardround.building.sources.ophthalmic.items import Item, rows_of
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings

LONGEST = 60  # words of a question


def refuse_same_model(models: dict[str, CandidateSettings]) -> None:
    """What a model wrote is looked over by another one."""
    writer, reviewer = models.get("writer"), models.get("reviewer")
    if writer is None:
        return
    if reviewer is None:
        raise WardroundError("what a [writer] words is looked over by another model: name one as [reviewer] too")
    if (writer.provider, writer.model) == (reviewer.provider, reviewer.model):
        raise WardroundError(f"[reviewer] is the same model as [writer] ({writer.model}): it has to be another one")


def worded_and_reviewed(build: Build) -> list[Step]:
    """The steps for the models that there are."""
    steps = []
    if build.writers.has("writer"):
        steps.append(asked("writer", "writer", "reword", _to_reword, _reworded, max_tokens=256))
    if build.writers.has("reviewer"):
        steps.append(asked("reviewer", "reviewer", "review-item", _to_review, _reviewed, max_tokens=256))
    return [whole("items", _apart), *steps, whole("together", _together)] if steps else []


def _apart(records: Spool, build: Build) -> Iterator[Record]:
    """One record for each item, in the order of the cases."""
    for record in records:
        kept = {name: value for name, value in record.items() if name != "items"}
        for place, item in enumerate(record["items"]):
            first = {"record": kept, "items": len(record["items"])} if place == 0 else {}
            labels = "\n\n".join(map(_labels, rows_of(item, record["rows"])))
            yield {"id": f"{record['id']}/{item['id']}", "case": record["id"], "item": item, "labels": labels, **first}


def _labels(row: Record) -> str:
    labels = {
        "image": row["modality"],
        "quality": row["quality"],
        "regions": "; ".join(row["anatomy"]),
        "lesions": "; ".join(row["lesions"]),
        "diagnosis": row["disease"],
        "grade": row["grade"],
    }
    return "\n".join(f"{name}: {value}" for name, value in labels.items() if value)


def _to_reword(record: Record, build: Build) -> dict[str, str] | None:
    item = record["item"]
    if item.get("stage") in (None, "CD"):
        return None
    return {"question": item["prompt"], "options": _lettered(item)}


def _lettered(item: Item) -> str:
    return "\n".join(f"{letter}. {text}" for letter, text in zip(ascii_uppercase, item["options"], strict=False))


def _reworded(record: Record, reply: str, build: Build) -> Record:
    text = " ".join(reply.split()).strip('"“”')
    item = record["item"]
    read = as_text(text)
    told = any(mentioned(option, read) for option in item["options"])
    if told or not 3 <= len(read.words) <= LONGEST or text.count("?") > 1 or not text.endswith(("?", ".")):
        return record
    return record | {"item": item | {"prompt": text}}


def _to_review(record: Record, build: Build) -> dict[str, str] | None:
    item = record["item"]
    if item.get("stage") == "CD":
        return None
    answer = f"{ascii_uppercase[item['gold']]}. {item['options'][item['gold']]}"
    return {"labels": record["labels"], "question": item["prompt"], "options": _lettered(item), "answer": answer}


def _reviewed(record: Record, reply: str, build: Build) -> Record:
    said = " ".join(reply.split())
    if re.fullmatch(r"\W*ok(ay)?\W*", said, re.IGNORECASE):
        return record
    return record | {"objection": said[:300] or "no reason given"}


def _together(records: Spool, build: Build) -> Iterator[Record]:
    """The cases again. One that lost an item on the way is left out: its chain would have a hole."""
    for case, items in groupby(records, key=lambda each: each["case"]):
        told = list(items)
        if "record" not in told[0] or told[0]["items"] != len(told):
            build.reject({"id": case}, "together", "a model gave no answer on one of its items")
            continue
        objections = [
            {"question": each["item"]["id"], "objection": each["objection"]} for each in told if "objection" in each
        ]
        yield told[0]["record"] | {"items": [each["item"] for each in told], "objections": objections}
