"""The pipeline: read, sections, images, duplicates, history, findings, options, split, hold.

What people have to decide is held: the case goes whole into a queue of `review/`, and not into the set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wardround.building.distractors.from_source import Asked, offered_by_id
from wardround.building.distractors.options import Balance, distractors_of_a_model, merged
from wardround.building.pipeline.about import About
from wardround.building.pipeline.export import Built, export, new_set
from wardround.building.pipeline.image_files import shown, taken
from wardround.building.pipeline.models import Writers
from wardround.building.pipeline.pipeline import Build, Reject, Step, each, whole
from wardround.building.pipeline.records import Record, Spool
from wardround.building.pipeline.source_files import hash_of
from wardround.building.sources.eurorad.reading import files, pages
from wardround.building.text.near_cases import without_duplicates
from wardround.building.text.redact import reveals, without_diagnosis
from wardround.cases.conversion import DEV
from wardround.cases.readers.cure import PROMPT
from wardround.cases.splitting import set_aside, split_by_id
from wardround.core.case import Case
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings
from wardround.marking.judges.lexical_judge import NO_SYNONYMS, Synonyms, content, tokens

FEWEST_OPTIONS, MOST_OPTIONS = 4, 5
FEWEST_WORDS = 12  # of findings after what reveals the diagnosis was cut
LEAST_LEFT = 0.4  # of the words of the findings


def build_eurorad(
    source: Path,
    out: Path,
    *,
    seed: int = 0,
    synonyms: Synonyms = NO_SYNONYMS,
    models: dict[str, CandidateSettings] | None = None,
    answers: Path | None = None,
    dev: int | None = None,
    about: About | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> Built:
    """Builds CURE cases of saved Eurorad pages. `dev`: how many are set aside for development (30, at most a tenth)."""
    writers = Writers(models or {}, answers, out.name, note=note)
    settings = {"source": "eurorad", "dev": dev}
    found = files(source)
    with new_set(out, seed, writers, note, about) as build:
        records = build.through(pages(source, build), _steps(build, synonyms, dev))
        if not len(records) and not build.holds_cases():
            raise WardroundError(f"{source}: no page became a case; {build.why()}")
        return export(build, records, out, settings, {source.name: hash_of(found, source)})


def _steps(build: Build, synonyms: Synonyms, dev: int | None) -> list[Step]:
    if not build.writers.has("writer"):
        build.note("no [writer] among the models: a case whose page lists too few other diagnoses goes to review")
    return [
        each("sections", lambda record, build: _complete(record, build, synonyms)),
        each("images", _with_images),
        without_duplicates(lambda record: f"{record['history']}\n{record['findings']}"),
        each("history", _without_answer),
        each("findings", _observations),
        *([distractors_of_a_model(MOST_OPTIONS - 1)] if build.writers.has("writer") else []),
        whole("options", _options),
        whole("split", lambda records, build: _split(records, build, dev)),
        each("hold", _hold),
    ]


def _complete(record: Record, build: Build, synonyms: Synonyms) -> Record:
    for name, told in (("history", "clinical history"), ("findings", "imaging findings")):
        if not record[name].strip():
            raise Reject(f"no {told}")
    diagnoses = record["diagnoses"]
    if not diagnoses:
        raise Reject("no final diagnosis")
    if len(diagnoses) > 1:
        build.queue("diagnosis", {"id": record["id"], "reason": "several final diagnoses", "diagnoses": diagnoses})
        raise Reject("several final diagnoses", "; ".join(diagnoses))
    gold = diagnoses[0]
    names = [gold, *(name for name in synonyms.of(gold) if content(name) != content(gold))]
    return record | {"diagnosis": gold, "names": names}


def _with_images(record: Record, build: Build) -> Record:
    usable = [image for image in record["images"] if shown(Path(image["file"])) is not None]
    if not usable:
        told = f"the page shows {record['figures']}; {len(record['images'])} of them were saved with it"
        raise Reject("no image", told)
    return record | {"images": usable}


def _held(record: Record, queue: str, reason: str, decide: str, **told: Any) -> Record:
    """A record that goes on, and will be held at the end."""
    item = {"reason": reason, "decide": decide, **told}
    return record | {"holds": [*record.get("holds", []), [queue, item]]}


def _without_answer(record: Record, build: Build) -> Record:
    """The history is the query: it is not changed here, so a case whose history tells the diagnosis is for people."""
    if name := reveals(record["history"], record["names"]):
        reason = "history names the diagnosis"
        return _held(record, "history", reason, "Can the history be told without the diagnosis?", named=name)
    return record


def _observations(record: Record, build: Build) -> Record:
    """Findings as observations: without what reveals the diagnosis."""
    before = record["findings"]
    left = without_diagnosis(before, record["names"])
    told = {"before": before, "after": left.text, "cut": left.cut}
    words = len(tokens(left.text))
    record = record | {"findings": left.text}
    if left.cut and (words < FEWEST_WORDS or words < LEAST_LEFT * len(tokens(before))):
        return _held(record, "findings", "too little is left of the findings", "Are these findings enough?", **told)
    if reveals(left.text, record["names"]):
        reason = "findings reveal the diagnosis in more than one sentence"
        return _held(record, "findings", reason, "Can the findings be told without the diagnosis?", **told)
    if left.cut:
        build.queue("findings", {"id": record["id"], "reason": "was cut", **told})
    return record


def _options(records: Spool, build: Build) -> Iterator[Record]:
    placed = offered_by_id(_in_the_set(records), build)
    aside = Balance(build.drawn("held"))
    for record in records:
        candidates = merged(record["diagnosis"], record["candidates"])
        if len(candidates) < FEWEST_OPTIONS - 1:
            decide = f"Which diagnoses should be offered? There have to be {FEWEST_OPTIONS} or {MOST_OPTIONS}."
            record = _held(record, "options", f"fewer than {FEWEST_OPTIONS} options", decide, candidates=candidates)
        written = placed.get(record["id"]) or aside.placed(record["diagnosis"], candidates[: MOST_OPTIONS - 1])
        images = taken(record, record["images"], record["names"], build)
        if not images:
            build.reject(record, "options", "every image file names the diagnosis")
            continue
        yield record | {"case": case_of(record, images, written.options, written.gold)}


def _in_the_set(records: Spool) -> Iterator[tuple[str, Asked]]:
    """What is asked of those that nothing holds."""
    for record in records:
        candidates = merged(record["diagnosis"], record["candidates"])
        if record.get("holds") or len(candidates) < FEWEST_OPTIONS - 1:
            continue
        told = f"{record['history']}\n{record['findings']}\n{PROMPT}"
        count = min(MOST_OPTIONS, len(candidates) + 1)
        yield (
            record["id"],
            Asked(record["diagnosis"], record["names"], candidates, count, record["section"] or "", told),
        )


def _hold(record: Record, build: Build) -> Record:
    for queue, item in record.get("holds", []):
        build.queue(queue, {"id": record["id"], **item, "case": record["case"]})
    if record.get("holds"):
        raise Reject(record["holds"][0][1]["reason"], "held for review")
    return {"id": record["id"], "case": record["case"]}


def _split(records: Spool, build: Build, dev: int | None) -> Iterator[Record]:
    cases = [Case.model_validate(record["case"]) for record in records]
    splits = split_by_id(cases, set_aside(cases, DEV["cure"]) if dev is None else dev, build.seed)
    for record in records:
        yield record | {"case": record["case"] | {"split": splits[record["id"]]}}


def case_of(record: Record, images: list[dict[str, Any]], options: list[str], gold: int) -> dict[str, Any]:
    """The case: nothing of title, captions, discussion, differential or keywords is in it."""
    choice = {"id": "mcq", "kind": "choice", "prompt": PROMPT, "options": options, "gold": gold}
    free = {"id": "open", "kind": "open", "prompt": PROMPT, "gold": record["diagnosis"]}
    if accept := record["names"][1:]:
        free["accept"] = accept
    told: dict[str, Any] = {
        "id": record["id"],
        "specialty": record["section"],
        "origin": {"name": "eurorad", "pmids": [], **({"published": p} if (p := record["published"]) else {})},
        "patient": {key: value for key in ("age", "sex") if (value := record[key]) is not None},
        "history": record["history"],
        "findings": record["findings"],
        "images": images,
        "references": [{"pmid": pmid} for pmid in record["pmids"]],
        "questions": [choice, free] if len(options) > 1 else [free],
    }
    return {key: value for key, value in told.items() if value not in (None, {}, [])}
