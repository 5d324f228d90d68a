"""The step `options`, which writes the cases: at least six options, from the discussion and a model.

A case with too few is held for review.
"""

import re
from collections.abc import Iterator
from typing import Any

from wardround.building.distractors.from_source import OptionRequest, choose_options_by_id
from wardround.building.distractors.options import COUNT, NameRelations, OptionBalancer, Options
from wardround.building.pipeline.image_files import copy_images
from wardround.building.pipeline.pipeline import Build, Record, RecordFile, Step, all_records_step
from wardround.building.text.age import age_in_years
from wardround.core.case import drop_empty

STEP = "options"
PROMPT = "What is the most likely primary diagnosis for this patient?"  # ClinBench's own
_AGE = re.compile(r"\b(\d{1,3})[\s-]*(year|month|week|day)s?[\s-]*(?:old|of age)|\baged (\d{1,3})\b", re.IGNORECASE)
_SEX = re.compile(r"\b(?:(woman|female|girl|she|lady)|(man|male|boy|he|gentleman))\b", re.IGNORECASE)


def options_step(relations: NameRelations) -> Step:
    """Adds the options. A case with too few goes whole into the review queue, and not into the set."""

    def change(records: RecordFile, build: Build) -> Iterator[Record]:
        complete = (record for record in records if len(record["candidates"]) >= COUNT - 1)
        requests = ((record["id"], _request(record)) for record in complete)
        options_by_id = choose_options_by_id(requests, build, relations)
        held_balancer = OptionBalancer(build.random_stream("held"))
        for record in records:
            candidates = record["candidates"]
            if not candidates:  # no choice can be written
                no_choice = {"id": record["id"], "reason": "no other diagnosis", "history": record["history"]}
                build.queue(STEP, no_choice)
                build.reject(record, STEP, "no other diagnosis")
                continue
            images = copy_images(record, record["images"], record["names"], build)
            if len(images) < len(record["images"]):
                build.reject(record, STEP, "an image occurs twice, or its file names the diagnosis")
                continue
            written = options_by_id.get(record["id"])
            case = make_case(record, images, written or held_balancer.place_gold(record["diagnosis"], candidates))
            if written:
                yield {"id": record["id"], "case": case}
                continue
            item = {"id": record["id"], "reason": f"fewer than {COUNT} options", "candidates": candidates}
            decide = f"Which diagnoses should be offered? There have to be at least {COUNT}."
            build.queue(STEP, item | {"decide": decide, "case": case})
            build.reject(record, STEP, f"fewer than {COUNT} options", "held for review")

    return all_records_step(STEP, change)


def _request(record: Record) -> OptionRequest:
    text = "\n".join([*record["tellings"].values(), PROMPT])
    candidates, group = record["candidates"], record.get("specialty") or ""
    return OptionRequest(record["diagnosis"], record["names"], candidates, len(candidates) + 1, group, text)


def make_case(record: Record, images: list[dict[str, Any]], written: Options) -> dict[str, Any]:
    """The case; its history is the text telling."""
    tellings: dict[str, Any] = {"text": {"history": record["tellings"]["text"], "images": []}}
    if "multimodal" in record["tellings"]:
        image_indices = list(range(len(images)))
        tellings["multimodal"] = {"history": record["tellings"]["multimodal"], "images": image_indices}
    case: dict[str, Any] = {
        "id": record["id"],
        "specialty": record.get("specialty"),
        "tags": record.get("tags"),
        "origin": {"name": "pmc", "pmids": [record["pmid"]] if record["pmid"] else []},
        "patient": _patient(record["tellings"]["text"]),
        "history": record["tellings"]["text"],
        "images": images,
        "references": [{"pmid": pmid} for pmid in record["references"]],
        "tellings": tellings,
        "questions": [{"id": "mcq", "kind": "choice", "prompt": PROMPT, **written._asdict()}],
    }
    if record["published"]:
        case["origin"]["published"] = record["published"]
    return drop_empty(case)


def _patient(text: str) -> dict[str, Any]:
    """Age in years and sex, from the first words that give them."""
    patient: dict[str, Any] = {}
    if (age := _AGE.search(text)) and (years := age_in_years(age[1] or age[3], age[2] or "year")) is not None:
        patient["age"] = years
    if sex := _SEX.search(text):
        patient["sex"] = "F" if sex[1] else "M"
    return patient
