"""The step `options`: at least six, from the discussion and a model; a case with too few is held for people."""

from __future__ import annotations

from collections.abc import Iterator

from wardround.building.distractors.from_source import Asked, offered_by_id
from wardround.building.distractors.options import COUNT, Balance, Known
from wardround.building.pipeline.image_files import taken
from wardround.building.pipeline.pipeline import Build, Step, whole
from wardround.building.pipeline.records import Record, Spool
from wardround.building.sources.pmc.case import PROMPT, case_of

STEP = "options"


def options_step(known: Known) -> Step:
    """Writes the options. A case with too few goes whole into the queue, and not into the set."""

    def change(records: Spool, build: Build) -> Iterator[Record]:
        enough = (record for record in records if len(record["candidates"]) >= COUNT - 1)
        placed = offered_by_id(((record["id"], _asked(record)) for record in enough), build, known)
        aside = Balance(build.drawn("held"))
        for record in records:
            candidates = record["candidates"]
            if not candidates:  # no choice can be written
                told = {"id": record["id"], "reason": "no other diagnosis", "history": record["history"]}
                build.queue(STEP, told)
                build.reject(record, STEP, "no other diagnosis")
                continue
            images = taken(record, record["images"], record["names"], build)
            if len(images) < len(record["images"]):
                build.reject(record, STEP, "an image is there twice, or its file names the diagnosis")
                continue
            if written := placed.get(record["id"]):
                yield {"id": record["id"], "case": case_of(record, images, written.options, written.gold)}
                continue
            written = aside.placed(record["diagnosis"], candidates)
            case = case_of(record, images, written.options, written.gold)
            item = {"id": record["id"], "reason": f"fewer than {COUNT} options", "candidates": candidates}
            decide = f"Which diagnoses should be offered? There have to be at least {COUNT}."
            build.queue(STEP, item | {"decide": decide, "case": case})
            build.reject(record, STEP, f"fewer than {COUNT} options", "held for review")

    return whole(STEP, change)


def _asked(record: Record) -> Asked:
    told = "\n".join([*record["tellings"].values(), PROMPT])
    candidates, group = record["candidates"], record.get("specialty") or ""
    return Asked(record["diagnosis"], record["names"], candidates, len(candidates) + 1, group, told)
