"""The steps of `build eurorad`: read, sections, images, duplicates, history, findings, options, split, hold.

A case that people have to decide on is held: it goes whole into a queue of `review/`, and not into the set.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wardround.building.distractors.from_source import OptionChoice, OptionRequest, choose_options_by_id
from wardround.building.distractors.options import OptionBalancer, Options, merge_candidates, model_distractors_step
from wardround.building.distractors.patient_fit import LEFT_OUT, PatientFacts, possible_options
from wardround.building.distractors.terminology import ROLE as STANDARDISER
from wardround.building.distractors.terminology import terminology_step
from wardround.building.duplicates.near_cases import drop_duplicates_step
from wardround.building.pipeline.about import About
from wardround.building.pipeline.export import BuiltSet, export, new_set
from wardround.building.pipeline.image_files import copy_images, decode_image
from wardround.building.pipeline.pipeline import (
    Build,
    Record,
    RecordFile,
    Reject,
    Step,
    all_records_step,
    hold_step,
    mark_for_review,
    published_steps,
    record_step,
)
from wardround.building.pipeline.source_files import hash_source
from wardround.building.sources.eurorad.page_files import list_pages, read_pages
from wardround.building.text.diagnosis_core import with_initials
from wardround.building.text.redact import find_revealed_name, redact_diagnosis
from wardround.cases.conversion import DEFAULT_DEV
from wardround.cases.published_range import ANY_TIME, PublishedRange
from wardround.cases.readers.cure import PROMPT
from wardround.cases.splits import default_dev_count, split_by_id
from wardround.core.case import Case, drop_empty
from wardround.core.names import NO_SYNONYMS, Synonyms, content_words, normalized_words
from wardround.core.store.location import StoreLocation
from wardround.core.study import CandidateSettings

MIN_OPTIONS, MAX_OPTIONS = 4, 5
MIN_WORDS = 12  # of findings after redaction
MIN_SHARE = 0.4  # of the words of the findings that redaction must leave


def build_eurorad(
    source: Path,
    out: Path,
    *,
    seed: int = 0,
    synonyms: Synonyms = NO_SYNONYMS,
    models: dict[str, CandidateSettings] | None = None,
    answers: StoreLocation | None = None,
    dev: int | None = None,
    options: OptionChoice = "source",
    published: PublishedRange = ANY_TIME,
    about: About | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> BuiltSet:
    """Builds CURE cases of saved Eurorad pages. `dev`: cases for development (default: 30, at most a tenth)."""
    settings = {"source": "eurorad", "dev": dev, "options": options, **published.to_dict()}
    pages = list_pages(source)
    with new_set(out, seed, note, about, models, answers, source=source) as build:
        steps = published_steps(published) + _steps(build, synonyms, dev, options)
        records = build.run_steps(read_pages(source, build), steps)
        build.require_case(records, source, "page")
        return export(build, records, out, settings, {source.name: hash_source(pages, source)})


def _steps(build: Build, synonyms: Synonyms, dev: int | None, options: OptionChoice) -> list[Step]:
    if not build.models.has("writer"):
        others = "gets those of other pages" if options == "source" else "goes to review"
        build.note(f"no [writer] among the models: a case whose page lists too few other diagnoses {others}")
    missing = _count_missing if options == "source" else None
    return [
        record_step("sections", lambda record, build: _check_sections(record, build, synonyms)),
        record_step("images", _usable_images),
        drop_duplicates_step(lambda record: f"{record['history']}\n{record['findings']}"),
        record_step("history", _check_history),
        record_step("findings", _redact_findings),
        *([model_distractors_step(MAX_OPTIONS - 1, missing)] if build.models.has("writer") else []),
        *([terminology_step(synonyms, _shown_text)] if build.models.has(STANDARDISER) else []),
        all_records_step("options", lambda records, build: _write_options(records, build, options)),
        all_records_step("split", lambda records, build: _split(records, build, dev)),
        hold_step(),
    ]


def _check_sections(record: Record, build: Build, synonyms: Synonyms) -> Record:
    for name, label in (("history", "clinical history"), ("findings", "imaging findings")):
        if not record[name].strip():
            raise Reject(f"no {label}")
    diagnoses = record["diagnoses"]
    if not diagnoses:
        raise Reject("no final diagnosis")
    if len(diagnoses) > 1:
        build.queue("diagnosis", {"id": record["id"], "reason": "several final diagnoses", "diagnoses": diagnoses})
        raise Reject("several final diagnoses", "; ".join(diagnoses))
    gold = diagnoses[0]
    names = [gold, *(name for name in synonyms.names_of(gold) if content_words(name) != content_words(gold))]
    return record | {"diagnosis": gold, "names": names}


def _usable_images(record: Record, build: Build) -> Record:
    usable = [image for image in record["images"] if decode_image(Path(image["file"])) is not None]
    if not usable:
        detail = f"the page shows {record['figures']}; {len(record['images'])} of them were saved with it"
        raise Reject("no image", detail)
    return record | {"images": usable}


def _check_history(record: Record, build: Build) -> Record:
    """The history is the query and is not changed here: a case whose history names the diagnosis goes to review."""
    if name := find_revealed_name(record["history"], with_initials(record["names"])):
        decide = "Can the history be told without the diagnosis?"
        return mark_for_review(record, "history", "history names the diagnosis", decide=decide, named=name)
    return record


def _redact_findings(record: Record, build: Build) -> Record:
    """Findings as observations: without what reveals the diagnosis; a case with too few left goes to review."""
    findings = record["findings"]
    redacted = redact_diagnosis(findings, record["names"])
    texts = {"before": findings, "after": redacted.text, "cut": redacted.removed}
    words = len(normalized_words(redacted.text))
    record = record | {"findings": redacted.text}
    if redacted.removed and (words < MIN_WORDS or words < MIN_SHARE * len(normalized_words(findings))):
        decide = "Are these findings enough?"
        return mark_for_review(record, "findings", "too little is left of the findings", decide=decide, **texts)
    if find_revealed_name(redacted.text, record["names"]):
        reason = "findings reveal the diagnosis in more than one sentence"
        decide = "Can the findings be told without the diagnosis?"
        return mark_for_review(record, "findings", reason, decide=decide, **texts)
    if redacted.removed:
        build.queue("findings", {"id": record["id"], "reason": "was cut", **texts})
    return record


def _count_missing(record: Record) -> int:
    """How many diagnoses a page lacks to five options; none if it lists enough for four."""
    listed = len(_candidates(record))
    return 0 if listed >= MIN_OPTIONS - 1 else MAX_OPTIONS - 1 - listed


def _write_options(records: RecordFile, build: Build, options: OptionChoice) -> Iterator[Record]:
    options_by_id = choose_options_by_id(_requests(records, options), build, choice=options)
    held_balancer = OptionBalancer(build.random_stream("held"))
    for record in records:
        candidates = _candidates(record)
        build.counts[LEFT_OUT] += len(record["candidates"]) - len(
            possible_options(record["candidates"], _facts(record))
        )
        if len(candidates) < MIN_OPTIONS - 1 and record["id"] not in options_by_id:
            decide = f"Which diagnoses should be offered? There have to be {MIN_OPTIONS} or {MAX_OPTIONS}."
            reason = f"fewer than {MIN_OPTIONS} options"
            record = mark_for_review(record, "options", reason, decide=decide, candidates=candidates)
        written = options_by_id.get(record["id"])
        written = written or held_balancer.place_gold(record["diagnosis"], candidates[: MAX_OPTIONS - 1])
        images = copy_images(record, record["images"], record["names"], build)
        if not images:
            build.reject(record, "options", "every image file names the diagnosis")
            continue
        yield record | {"case": make_case(record, images, written)}


def _requests(records: RecordFile, options: OptionChoice) -> Iterator[tuple[str, OptionRequest]]:
    """The option requests of the records that are not held. `source` fills up from other pages what a page lacks."""
    for record in records:
        candidates = _candidates(record)
        if record.get("holds") or (options == "balanced" and len(candidates) < MIN_OPTIONS - 1):
            continue
        text = _shown_text(record)
        count = min(MAX_OPTIONS, max(MIN_OPTIONS, len(candidates) + 1))
        group = record["section"] or ""
        yield (
            record["id"],
            OptionRequest(record["diagnosis"], record["names"], candidates, count, group, text, _facts(record)),
        )


def _shown_text(record: Record) -> str:
    return f"{record['history']}\n{record['findings']}\n{PROMPT}"


def _candidates(record: Record) -> list[str]:
    return merge_candidates(record["diagnosis"], possible_options(record["candidates"], _facts(record)))


def _facts(record: Record) -> PatientFacts:
    return PatientFacts.of(record["sex"], record["age"])


def _split(records: RecordFile, build: Build, dev: int | None) -> Iterator[Record]:
    cases = [Case.model_validate(record["case"]) for record in records]
    splits = split_by_id(cases, default_dev_count(cases, DEFAULT_DEV["cure"]) if dev is None else dev, build.seed)
    for record in records:
        yield record | {"case": record["case"] | {"split": splits[record["id"]]}}


def make_case(record: Record, images: list[dict[str, Any]], written: Options) -> dict[str, Any]:
    """The case: without title, captions, discussion, differential and keywords."""
    choice = {"id": "mcq", "kind": "choice", "prompt": PROMPT, **written._asdict()}
    open_question = {"id": "open", "kind": "open", "prompt": PROMPT, "gold": record["diagnosis"]}
    open_question |= drop_empty({"accept": record["names"][1:]})
    case: dict[str, Any] = {
        "id": record["id"],
        "specialty": record["section"],
        "origin": {"name": "eurorad", "pmids": [], **drop_empty({"published": record["published"]})},
        "patient": {key: value for key in ("age", "sex") if (value := record[key]) is not None},
        "history": record["history"],
        "findings": record["findings"],
        "images": images,
        "references": [{"pmid": pmid} for pmid in record["pmids"]],
        "questions": [choice, open_question] if len(written.options) > 1 else [open_question],
    }
    return drop_empty(case)
