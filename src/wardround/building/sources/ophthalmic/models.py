"""The steps `writer` and `reviewer`: one model rewords questions, another reviews the items.

A writer changes the wording only; a wording that reveals the answer, asks several things or is not a question is
dropped. A reviewer sees the labels and the item with its answer; a case with an item that it objects to is held.
"""

import re
from collections.abc import Iterator
from itertools import groupby

from wardround.building.audit.mentions import find_mention, split_words
from wardround.building.pipeline.pipeline import Build, Record, RecordFile, Step, all_records_step, model_step
from wardround.building.sources.ophthalmic.items import EyeItem, full_prompt, rows_of
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings
from wardround.core.text import LETTERS

MAX_WORDS = 60  # of a question


def check_models(models: dict[str, CandidateSettings]) -> None:
    """Refuses a writer without a reviewer, and a reviewer that is the same model."""
    writer, reviewer = models.get("writer"), models.get("reviewer")
    if writer is None:
        return
    if reviewer is None:
        raise WardroundError("a [writer] needs another model as [reviewer]")
    if (writer.provider, writer.model) == (reviewer.provider, reviewer.model):
        raise WardroundError(f"[reviewer] must be another model than [writer] ({writer.model})")


def model_steps(build: Build) -> list[Step]:
    """The steps of the models in use."""
    steps = []
    if build.models.has("writer"):
        steps.append(model_step("writer", "writer", "reword", _reword_slots, _read_rewording, max_tokens=256))
    if build.models.has("reviewer"):
        steps.append(model_step("reviewer", "reviewer", "review-item", _review_slots, _read_review, max_tokens=256))
    return [all_records_step("items", _split_items), *steps, all_records_step("together", _join_items)] if steps else []


def _split_items(records: RecordFile, build: Build) -> Iterator[Record]:
    """One record for each item, in the order of the cases."""
    for record in records:
        fields = {name: value for name, value in record.items() if name != "items"}
        for index, item in enumerate(record["items"]):
            first = {"record": fields, "items": len(record["items"])} if index == 0 else {}
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


def _reword_slots(record: Record, build: Build) -> dict[str, str] | None:
    item = record["item"]
    if item.get("stage") in (None, "CD"):
        return None
    return {"question": item["prompt"], "options": _format_options(item)}


def _format_options(item: EyeItem) -> str:
    return "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, item["options"], strict=False))


def _read_rewording(record: Record, reply: str, build: Build) -> Record:
    text = " ".join(reply.split()).strip('"“”')
    item = record["item"]
    read = split_words(text)
    reveals_answer = any(find_mention(option, read) for option in item["options"])
    if reveals_answer or not 3 <= len(read.words) <= MAX_WORDS or text.count("?") > 1 or not text.endswith(("?", ".")):
        return record
    return record | {"item": item | {"prompt": text}}


def _review_slots(record: Record, build: Build) -> dict[str, str] | None:
    item = record["item"]
    if item.get("stage") == "CD":
        return None
    answer = f"{LETTERS[item['gold']]}. {item['options'][item['gold']]}"
    shown = {"question": full_prompt(item), "options": _format_options(item), "answer": answer}
    return {"labels": record["labels"], **shown}


def _read_review(record: Record, reply: str, build: Build) -> Record:
    objection = " ".join(reply.split())
    if re.fullmatch(r"\W*ok(ay)?\W*", objection, re.IGNORECASE):
        return record
    return record | {"objection": objection[:300] or "no reason given"}


def _join_items(records: RecordFile, build: Build) -> Iterator[Record]:
    """The records again. One that lost an item is rejected: its chain would have a gap."""
    for case, items in groupby(records, key=lambda record: record["case"]):
        parts = list(items)
        if "record" not in parts[0] or parts[0]["items"] != len(parts):
            build.reject({"id": case}, "together", "a model gave no answer on one of its items")
            continue
        objections = [
            {"question": part["item"]["id"], "objection": part["objection"]} for part in parts if "objection" in part
        ]
        yield parts[0]["record"] | {"items": [part["item"] for part in parts], "objections": objections}
