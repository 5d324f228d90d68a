"""The step `options`, which writes the cases: at least six options, from the discussion and a model.

If these are too few, diagnoses of other articles fill the options up, those of the specialty first (our choice). A case
for which the set has too few, and one whose diagnosis is in doubt, is held for review.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from wardround.building.distractors.from_source import OptionChoice, OptionRequest, choose_options_by_id
from wardround.building.distractors.options import COUNT, NameRelations, OptionBalancer, Options, merge_candidates
from wardround.building.distractors.patient_fit import PatientFacts, possible_options
from wardround.building.pipeline.image_files import copy_images
from wardround.building.pipeline.pipeline import (
    Build,
    Record,
    RecordFile,
    Step,
    all_records_step,
    mark_for_review,
)
from wardround.building.sources.pmc.disease_phrases import names_agree
from wardround.building.text.age import age_in_years
from wardround.core.case import drop_empty
from wardround.core.names import NO_SYNONYMS

STEP = "options"
MIN_OWN = 3  # candidates of the article or a model; with fewer, others are not added
BORROWED = "options that are diagnoses of other articles"
PROMPT = "What is the most likely primary diagnosis for this patient?"  # ClinBench's own
_AGE = re.compile(r"\b(\d{1,3})[\s-]*(year|month|week|day)s?[\s-]*(?:old|of age)|\baged (\d{1,3})\b", re.IGNORECASE)
_SEX = re.compile(r"\b(?:(woman|female|girl|she|lady)|(man|male|boy|he|gentleman))\b", re.IGNORECASE)


def options_step(relations: NameRelations, choice: OptionChoice = "source") -> Step:
    """Adds the options. A case with too few, or with a doubt about its diagnosis, is held for review."""

    def change(records: RecordFile, build: Build) -> Iterator[Record]:
        settled = (record for record in records if len(record["candidates"]) >= MIN_OWN and not record.get("holds"))
        requests = ((record["id"], _request(record)) for record in settled)
        options_by_id = choose_options_by_id(requests, build, relations, choice)
        held_balancer = OptionBalancer(build.random_stream("held"))
        diagnoses = list(dict.fromkeys(record["diagnosis"] for record in records))
        for record in records:
            candidates, written = record["candidates"], options_by_id.get(record["id"])
            offered = candidates or _of_other_articles(record, diagnoses, relations)
            if not offered:  # no choice can be written
                no_choice = {"id": record["id"], "reason": "no other diagnosis", "history": record["history"]}
                build.queue(STEP, no_choice)
                build.reject(record, STEP, "no other diagnosis")
                continue
            images = copy_images(record, record["images"], record["names"], build)
            if len(images) < len(record["images"]):
                build.reject(record, STEP, "an image occurs twice, or its file names the diagnosis")
                continue
            if written is None:
                written = held_balancer.place_gold(record["diagnosis"], offered)
                if len(candidates) < COUNT - 1:
                    decide = f"Which diagnoses should be offered? There have to be at least {COUNT}."
                    fields = {"decide": decide, "candidates": candidates or "none: those offered are of other articles"}
                    fields |= {"diagnosis": record["diagnosis"], "evidence": record["proposals"][0]["evidence"]}
                    record = _doubt_options(record, f"fewer than {COUNT} options", fields)
            elif len(candidates) < COUNT - 1:
                build.counts[BORROWED] += COUNT - 1 - len(candidates)
            yield record | {"case": make_case(record, images, written)}

    return all_records_step(STEP, change)


def _doubt_options(record: Record, reason: str, fields: dict[str, Any]) -> Record:
    """The record, marked for the queue of options; or a reason more in the queue that it is in."""
    if not record.get("holds"):
        return mark_for_review(record, STEP, reason, **fields)
    [[queue, item], *others] = record["holds"]
    both = {"reason": f"{item['reason']}; {reason}", "decide": f"{item['decide']} {fields['decide']}"}
    return record | {"holds": [[queue, item | both], *others]}


def _of_other_articles(record: Record, diagnoses: Iterable[str], relations: NameRelations) -> list[str]:
    """What is offered in a case whose article considers nothing else, until people have decided."""
    other = [name for name in diagnoses if not any(names_agree(name, own, NO_SYNONYMS) for own in record["names"])]
    facts = _facts_of(record)
    return merge_candidates(record["diagnosis"], possible_options(other, facts), relations)[: COUNT - 1]


def _request(record: Record) -> OptionRequest:
    candidates, group = record["candidates"], record.get("specialty") or ""
    count = max(COUNT, len(candidates) + 1)
    return OptionRequest(
        record["diagnosis"], record["names"], candidates, count, group, shown_text(record), _facts_of(record)
    )


def _facts_of(record: Record) -> PatientFacts:
    patient = patient_of(record["tellings"]["text"])
    return PatientFacts.of(patient.get("sex"), patient.get("age"))


def shown_text(record: Record) -> str:
    """All that a candidate may read of the case."""
    return "\n".join([*record["tellings"].values(), PROMPT])


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
        "patient": patient_of(record["tellings"]["text"]),
        "history": record["tellings"]["text"],
        "images": images,
        "references": [{"pmid": pmid} for pmid in record["references"]],
        "tellings": tellings,
        "questions": [{"id": "mcq", "kind": "choice", "prompt": PROMPT, **written._asdict()}],
    }
    if record["published"]:
        case["origin"]["published"] = record["published"]
    return drop_empty(case)


def patient_of(text: str) -> dict[str, Any]:
    """Age in years and sex, from the first words that give them."""
    patient: dict[str, Any] = {}
    if (age := _AGE.search(text)) and (years := age_in_years(age[1] or age[3], age[2] or "year")) is not None:
        patient["age"] = years
    if sex := _SEX.search(text):
        patient["sex"] = "F" if sex[1] else "M"
    return patient
