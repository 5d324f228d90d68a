"""The pipeline, in the order of `_steps`. Each step is named in the funnel; some can be skipped by their names."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from wardround.building.distractors.options import Known, distractors_of_a_model, merged, tidy
from wardround.building.pipeline.about import About
from wardround.building.pipeline.export import Built, export, new_set
from wardround.building.pipeline.image_files import shown
from wardround.building.pipeline.models import Writers
from wardround.building.pipeline.pipeline import Build, Reject, Step, asked, each
from wardround.building.pipeline.records import Record
from wardround.building.pipeline.source_files import hash_of
from wardround.building.sources.pmc.article import marks_in, without_marks
from wardround.building.sources.pmc.diagnosis import short_names, stated_diagnosis, weighed, written_out
from wardround.building.sources.pmc.labels import rare_step, specialty_steps
from wardround.building.sources.pmc.options import options_step
from wardround.building.sources.pmc.parts import PATIENT, STEM, TREATED, parts_of
from wardround.building.sources.pmc.quality import wrong_with
from wardround.building.sources.pmc.reading import articles, files
from wardround.building.sources.pmc.tellings import stem_figures, stem_of, told_in_words, told_with_images
from wardround.building.sources.pmc.wording import as_markdown, rephrase_step, translate_steps
from wardround.building.text.modality import modality_of
from wardround.building.text.near_cases import without_duplicates
from wardround.building.text.redact import reveals
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings
from wardround.marking.judges.lexical_judge import NO_SYNONYMS, Synonyms, content

SKIPPABLE = ("specialty", "rare", "image-quality", "rephrase", "translate")
MOST_OPTIONS = 11  # five distractors of the authors and five of a model
OF_MODEL = 5
CASE_REPORT = re.compile(
    r"\bcase (?:reports?|stud(?:y|ies)|presentation)\b|\ba (?:rare |unusual )?case of\b", re.IGNORECASE
)
SEVERAL = re.compile(
    r"\bcase series\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|\d+)\s+(?:\w+\s+)?(?:cases|patients)\b", re.I
)
NEVER = {
    "correction",
    "retraction",
    "editorial",
    "review-article",
    "systematic-review",
    "news",
    "book-review",
    "addendum",
}


def build_pmc(
    source: Path,
    out: Path,
    *,
    seed: int = 0,
    skip: Collection[str] = (),
    rare: Collection[str] | None = None,
    synonyms: Synonyms = NO_SYNONYMS,
    models: dict[str, CandidateSettings] | None = None,
    answers: Path | None = None,
    about: About | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> Built:
    """Builds ClinBench cases of articles. `rare`: names of a catalogue of rare diseases; `skip`: names of steps."""
    for name in skip:
        if name not in SKIPPABLE:
            raise WardroundError(f"there is no step {name!r} to skip; there are {', '.join(SKIPPABLE)}")
    writers = Writers(models or {}, answers, out.name, note=note)
    settings = {"source": "pmc", "skipped": sorted(skip), "rare_names": len(rare or ())}
    found = files(source)
    with new_set(out, seed, writers, note, about) as build:
        unpacked = build.folder / "unpacked"
        records = build.through(articles(source, unpacked, build), _steps(build, set(skip), rare, synonyms))
        shutil.rmtree(unpacked, ignore_errors=True)
        if not len(records) and not build.holds_cases():
            raise WardroundError(f"{source}: no article became a case; {build.why()}")
        return export(build, records, out, settings, {source.name: hash_of(found, source)})


def _steps(build: Build, skip: set[str], rare: Collection[str] | None, synonyms: Synonyms) -> list[Step]:
    has = build.writers.has
    for role, told in (
        ("writer", "options are those of the article; stems are not rephrased; only English is read"),
        ("extractor", "diagnoses and specialties are found by rules alone"),
        ("reviewer", "options are checked by rules alone"),
    ):
        if not has(role):
            build.note(f"no [{role}] among the models: {told}")
    if rare is None and "rare" not in skip:
        build.note("rare: no catalogue was given, so no case is tagged")
    known = Known(synonyms)
    return [
        each("case report", is_case_report),
        *translate_steps(build, "translate" in skip),
        each("parts", lambda record, build: _with_parts(record)),
        *([asked("diagnosis", "extractor", "diagnosis", _unclear, _found, max_tokens=64)] if has("extractor") else []),
        each("complete", lambda record, build: _complete(record, synonyms)),
        each("images", _with_images),
        *([] if "image-quality" in skip else [each("image-quality", _good_images)]),
        without_duplicates(lambda record: " ".join(said["text"] for said in stem_of(record))),
        each("tellings", _told),
        *([rephrase_step(name) for name in ("text", "multimodal")] if has("writer") and "rephrase" not in skip else []),
        each("leaks", _without_leaks),
        *([] if "specialty" in skip else specialty_steps(build)),
        *([] if "rare" in skip or rare is None else [rare_step(list(rare), synonyms)]),
        *([distractors_of_a_model(OF_MODEL)] if has("writer") else []),
        each("merge", lambda record, build: record | {"candidates": _merged(record, known)}),
        *([asked("review", "reviewer", "options", _to_review, _reviewed, max_tokens=64)] if has("reviewer") else []),
        options_step(known),
    ]


def is_case_report(record: Record, build: Build) -> Record:
    """One patient, by what the journal calls the article, its subjects or its title."""
    named = [record["title"], *record["subjects"]]
    told = record["type"] or "no article type"
    if record["type"] in NEVER or not (
        record["type"] == "case-report" or any(CASE_REPORT.search(name) for name in named)
    ):
        raise Reject("not a case report", told)
    if SEVERAL.search(record["title"]):
        raise Reject("more than one patient", record["title"])
    return record


def _with_parts(record: Record) -> Record:
    said = parts_of(record["sections"])
    return record | {
        "said": [each._asdict() for each in said],
        "diagnosis": stated_diagnosis(said),
        "candidates": weighed(said),
    }


def _unclear(record: Record, build: Build) -> dict[str, str] | None:
    return None if record["diagnosis"] else {"article": without_marks(as_markdown(record["sections"]))}


def _found(record: Record, answer: str, build: Build) -> Record:
    """What the extractor names; the stem then ends before the first sentence that names it."""
    lines = answer.strip().splitlines()
    name = tidy(lines[0]) if lines else ""
    if not content(name) or name.lower() == "none" or len(name.split()) > 15:
        return record
    said, named = [], False
    for sentence in record["said"]:
        named = named or (sentence["part"] in STEM and reveals(sentence["text"], [name]) is not None)
        said.append(sentence | {"part": "after"} if named and sentence["part"] in STEM else sentence)
    return record | {"diagnosis": name, "said": said}


def _complete(record: Record, synonyms: Synonyms) -> Record:
    """Patient information, test results, diagnosis and treatment; with the names that the diagnosis goes by."""
    parts = {said["part"] for said in record["said"]}
    if not any(said["part"] in STEM and PATIENT.search(said["text"]) for said in record["said"]):
        raise Reject("incomplete: no patient information")
    if "tests" not in parts:
        raise Reject("incomplete: no test results")
    if not record["diagnosis"]:
        raise Reject("incomplete: no diagnosis")
    after = [said["text"] for said in record["said"] if said["part"] in ("diagnosis", "after")]
    if "treatment" not in parts and not any(map(TREATED.search, after)):
        raise Reject("incomplete: no treatment")
    texts = [record["title"], record["abstract"], *(said["text"] for said in record["said"])]
    gold = written_out(record["diagnosis"], texts)
    others = [record["diagnosis"], *synonyms.of(gold), *short_names(gold, texts)]
    return record | {
        "diagnosis": gold,
        "names": [gold, *dict.fromkeys(name for name in others if content(name) != content(gold))],
    }


def _with_images(record: Record, build: Build) -> Record:
    """The figures of the stem; their files where they are there."""
    if not record["figures"]:
        raise Reject("no image")
    figures = stem_figures(record)
    if not figures:
        raise Reject("no image in patient information and test results", f"{len(record['figures'])} elsewhere")
    images = [
        {"file": figure["file"], "figure": figure["id"], "modality": _modality(record, figure)}
        for figure in figures
        if figure["file"] is not None and shown(Path(figure["file"])) is not None
    ]
    return record | {"images": images}


def _modality(record: Record, figure: dict[str, Any]) -> str | None:
    about = [said["text"] for said in stem_of(record) if figure["id"] in marks_in(said["text"])]
    return modality_of(map(without_marks, [figure["caption"], *about]))


def _good_images(record: Record, build: Build) -> Record:
    """Without images that are too poor; a case that had images and keeps none goes."""
    wrong = {image["figure"]: wrong_with(Path(image["file"])) for image in record["images"]}
    good = [image for image in record["images"] if wrong[image["figure"]] is None]
    if record["images"] and not good:
        raise Reject("every image is too poor", "; ".join(f"{id}: {what}" for id, what in wrong.items()))
    return record | {"images": good}


def _told(record: Record, build: Build) -> Record:
    tellings = {"text": told_in_words(record, record["names"])}
    if record["images"]:
        numbers = {image["figure"]: place for place, image in enumerate(record["images"], start=1)}
        tellings["multimodal"] = told_with_images(record, numbers)
    return record | {"tellings": tellings, "history": tellings["text"]}


def _without_leaks(record: Record, build: Build) -> Record:
    for telling, text in record["tellings"].items():
        if name := reveals(text, record["names"]):
            raise Reject("the stem names the diagnosis", f"{telling}: {name}")
    return record | {"history": record["tellings"]["text"]}


def _merged(record: Record, known: Known) -> list[str]:
    return merged(record["diagnosis"], record["candidates"], known)[: MOST_OPTIONS - 1]


def _to_review(record: Record, build: Build) -> dict[str, str] | None:
    if not record["candidates"]:
        return None
    told = "\n".join(f"{number}. {name}" for number, name in enumerate(record["candidates"], start=1))
    return {"diagnosis": record["diagnosis"], "candidates": told, "history": record["history"]}


def _reviewed(record: Record, answer: str, build: Build) -> Record:
    """Without the options that the reviewer says must go."""
    gone = set() if "none" in answer.lower() else {int(number) for number in re.findall(r"\b\d{1,2}\b", answer)}
    kept = [name for number, name in enumerate(record["candidates"], start=1) if number not in gone]
    return record | {"candidates": kept}
