"""The steps of `build pmc`, in the order of `_steps`. Those in SKIPPABLE can be skipped by name."""

import re
import shutil
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, Literal

from wardround.building.distractors.from_source import OptionChoice
from wardround.building.distractors.options import (
    COUNT,
    PROPOSER,
    NameRelations,
    clean_name,
    merge_candidates,
    model_distractors_step,
    plausible_diagnoses_step,
)
from wardround.building.distractors.patient_fit import LEFT_OUT, PatientFacts, possible_options
from wardround.building.distractors.terminology import ROLE as STANDARDISER
from wardround.building.distractors.terminology import terminology_step
from wardround.building.duplicates.near_cases import drop_duplicates_step
from wardround.building.pipeline.about import About
from wardround.building.pipeline.export import BuiltSet, export, new_set
from wardround.building.pipeline.image_files import decode_image
from wardround.building.pipeline.pipeline import (
    Build,
    Record,
    Reject,
    Step,
    hold_step,
    mark_for_review,
    model_step,
    published_steps,
    record_step,
)
from wardround.building.pipeline.source_files import hash_source
from wardround.building.sources.pmc.article import Sentence, find_marks, strip_marks
from wardround.building.sources.pmc.article_files import list_articles, read_articles
from wardround.building.sources.pmc.diagnosis import CASE_PARTS, MERELY_NAMED, judge_diagnosis
from wardround.building.sources.pmc.differentials import find_differentials
from wardround.building.sources.pmc.disease_phrases import (
    expand_abbreviation,
    find_abbreviations,
    find_other_names,
    names_agree,
)
from wardround.building.sources.pmc.image_quality import UNREADABLE, quality_problem
from wardround.building.sources.pmc.labels import rare_step, specialty_steps
from wardround.building.sources.pmc.options import options_step, patient_of, shown_text
from wardround.building.sources.pmc.rewriting import as_markdown, rephrase_step, translate_steps
from wardround.building.sources.pmc.sentences import (
    PATIENT,
    STEM_PARTS,
    TEST_RESULT,
    TREATED,
    classify_sentences,
    end_stem,
)
from wardround.building.sources.pmc.tellings import (
    stem_figures,
    stem_sentences,
    undescribed_figures,
    write_multimodal_telling,
    write_text_telling,
)
from wardround.building.sources.pmc.title_phrases import read_title
from wardround.building.text.modality import modality_of
from wardround.building.text.redact import find_revealed_name
from wardround.cases.published_range import ANY_TIME, PublishedRange
from wardround.core.errors import WardroundError
from wardround.core.names import NO_SYNONYMS, Synonyms, content_words
from wardround.core.store.location import StoreLocation
from wardround.core.study import CandidateSettings

PoorImages = Literal["reject", "drop"]
SKIPPABLE = ("specialty", "rare", "image-quality", "rephrase", "translate")
MAX_OPTIONS = 11  # the gold, five distractors of the authors and five of a model
MODEL_DISTRACTORS = 5
MAX_OFFERED = 4  # proposed diagnoses among the options of a case that people decide on
DECIDE = (
    "Which is the diagnosis of this patient? Keep the case if it is the option marked right. Else edit it: choose "
    "another right option or write the diagnosis in its place, see that the history does not name it, and leave out "
    "options that are right, too. Discard what is not one patient with a diagnosis."
)
CASE_REPORT = re.compile(r"\bcase (?:reports?|stud(?:y|ies)|presentation)\b|\ba (?:rare |unusual )?case of\b", re.I)
REVIEWED = re.compile(r"\breview of\b.*", re.I)  # `a case report and review of 23 cases`
SEVERAL_PATIENTS = re.compile(
    r"\bcase series\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|\d+)\s+(?:\w+\s+)?(?:cases|patients)\b", re.I
)
AGED = re.compile(r"\b(?:an?|our|this)\s(?:[\w-]+\s){0,3}\d{1,3}[-\s](?:year|month|week|day)s?[-\s]old\b", re.I)
ONE_PATIENT = re.compile(
    r"\b(?:we|I|here(?:in)?)\b[^.]{0,30}\b(?:report|describe|present)\b[^.]{0,60}\b(?:an?|one)\s+(?:\w+\s+)?\d{1,3}[-\s](?:year|month)s?[-\s]old\b"
    r"|\b(?:an?|our)\s(?:[\w-]+\s){0,3}\d{1,3}[-\s](?:year|month|week|day)s?[-\s]old\b[^.]{0,160}"
    r"\b(?:presented|(?:was|were) (?:referred|admitted|seen|brought)|complained|noticed|came|attended)\b",
    re.IGNORECASE,
)
OTHER_TYPES = {
    *("correction", "retraction", "editorial", "review-article", "systematic-review"),
    *("news", "book-review", "addendum"),
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
    answers: StoreLocation | None = None,
    options: OptionChoice = "source",
    poor_images: PoorImages = "reject",
    published: PublishedRange = ANY_TIME,
    about: About | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> BuiltSet:
    """Builds ClinBench cases of articles. `rare`: the names of rare diseases; `skip`: the names of steps.

    `poor_images`: a case with a poor image is rejected, as in the paper, or only that image is dropped.
    """
    for name in skip:
        if name not in SKIPPABLE:
            raise WardroundError(f"there is no step {name!r} to skip; there are {', '.join(SKIPPABLE)}")
    settings = {"source": "pmc", "skipped": sorted(skip), "rare_names": len(rare or ()), "options": options}
    settings |= {"poor_images": poor_images, **published.to_dict()}
    article_files = list_articles(source)
    with new_set(out, seed, note, about, models, answers, source=source) as build:
        unpacked = build.folder / "unpacked"
        steps = published_steps(published) + _steps(build, set(skip), rare, synonyms, options, poor_images)
        records = build.run_steps(read_articles(source, unpacked, build), steps)
        shutil.rmtree(unpacked, ignore_errors=True)
        build.require_case(records, source, "article")
        return export(build, records, out, settings, {source.name: hash_source(article_files, source)})


def _steps(
    build: Build,
    skip: set[str],
    rare: Collection[str] | None,
    synonyms: Synonyms,
    options: OptionChoice,
    poor_images: PoorImages,
) -> list[Step]:
    has = build.models.has
    for role, consequence in (
        ("writer", "stems are not rephrased; only English is read; no model fills up options"),
        (PROPOSER, "no model names plausible diagnoses from the stem alone, as the paper's did"),
        ("extractor", "diagnoses and specialties are found by rules alone"),
        ("reviewer", "options are checked by rules alone"),
    ):
        if not has(role):
            build.note(f"no [{role}] among the models: {consequence}")
    if rare is None and "rare" not in skip:
        build.note("rare: no catalogue was given, so no case is tagged")
    relations = NameRelations(synonyms)
    fills_up = options == "source" or has(PROPOSER)  # the writer adds only what is still missing
    missing = partial(_count_missing, relations=relations) if fills_up else None
    diagnosis = [model_step("diagnosis", "extractor", "diagnosis", _diagnosis_slots, _read_diagnosis, max_tokens=64)]
    review = [model_step("review", "reviewer", "options", _review_slots, _read_review, max_tokens=64)]
    return [
        record_step("case report", is_case_report),
        *translate_steps(build, "translate" in skip),
        record_step("parts", lambda record, build: _classify(record, synonyms)),
        *(diagnosis if has("extractor") else []),
        record_step("stem", lambda record, build: _end_stem(record, synonyms)),
        record_step("complete", lambda record, build: _check_completeness(record)),
        record_step("images", _find_images),
        *(
            []
            if "image-quality" in skip
            else [record_step("image-quality", partial(_check_images, poor_images=poor_images))]
        ),
        drop_duplicates_step(lambda record: " ".join(sentence["text"] for sentence in stem_sentences(record))),
        record_step("tellings", _add_tellings),
        *([rephrase_step(name) for name in ("text", "multimodal")] if has("writer") and "rephrase" not in skip else []),
        record_step("leaks", _check_leaks),
        *([] if "specialty" in skip else specialty_steps(build)),
        *([] if "rare" in skip or rare is None else [rare_step(list(rare), synonyms)]),
        *([plausible_diagnoses_step(MODEL_DISTRACTORS)] if has(PROPOSER) else []),
        *([model_distractors_step(MODEL_DISTRACTORS, missing)] if has("writer") else []),
        record_step("merge", lambda record, build: _merge(record, build, relations)),
        *(review if has("reviewer") else []),
        *([terminology_step(synonyms, shown_text)] if has(STANDARDISER) else []),
        options_step(relations, options),
        hold_step(),
    ]


def is_case_report(record: Record, build: Build) -> Record:
    """Rejects articles that are not about one patient, by their type, subjects and title."""
    names = [record["title"], *record["subjects"]]
    is_report = record["type"] == "case-report" or any(map(CASE_REPORT.search, names))
    is_possible = record["type"] not in (*OTHER_TYPES, "abstract", "meeting-report")
    first = [record["abstract"], *[text for section in record["sections"] for text in section["paragraphs"]][:4]]
    tells_of_one = any(map(ONE_PATIENT.search, first))  # a letter: `We report a 68-year-old nurse`
    tells_of_age = any(map(AGED.search, first))
    if record["type"] in OTHER_TYPES or not (is_report or (is_possible and (tells_of_one or tells_of_age))):
        raise Reject("not a case report", record["type"] or "no article type")
    if SEVERAL_PATIENTS.search(REVIEWED.sub("", record["title"])):
        raise Reject("more than one patient", record["title"])
    if not is_report and (not tells_of_one or record["type"] == "research-article"):
        return _doubt_case(record, "it may not be the report of one patient")
    return record


def _doubt_case(record: Record, problem: str) -> Record:
    """The record with one more reason for people to read its case before it is in the set."""
    return record | {"problems": [*record.get("problems", []), problem]}


def _classify(record: Record, synonyms: Synonyms) -> Record:
    """The parts of the article, its diagnosis with the doubts about it, and other diagnoses."""
    record = record | {"abstract": record["abstract"] or _summary(record)}
    sentences = classify_sentences(record["sections"])
    verdict = judge_diagnosis(record, sentences, synonyms)
    return record | {
        "sentences": [sentence._asdict() for sentence in sentences],
        "diagnosis": verdict.name if verdict else None,
        "names": verdict.names if verdict else [],
        "doubt": verdict.doubt if verdict else "",
        "proposals": verdict.proposals if verdict else [],
        "candidates": [*find_differentials(sentences), *read_title(record["title"]).mistaken],
    }


def _summary(record: Record) -> str:
    """The section that some journals have in place of an abstract."""
    sections = (section for section in record["sections"] if section["titles"][-1:] == ["Summary"])
    return strip_marks(" ".join(paragraph for section in sections for paragraph in section["paragraphs"]))


def _diagnosis_slots(record: Record, build: Build) -> dict[str, str] | None:
    if record["diagnosis"] and not record["doubt"]:
        return None
    return {"article": strip_marks(as_markdown(record["sections"]))}


def _read_diagnosis(record: Record, answer: str, build: Build) -> Record:
    """The extractor's diagnosis where rules found none; where they doubt, it settles the doubt if it agrees."""
    lines = answer.strip().splitlines()
    name = clean_name(lines[0]) if lines else ""
    if not content_words(name) or name.lower() == "none" or len(name.split()) > 15:
        return record
    if not record["diagnosis"] or record["doubt"] == MERELY_NAMED:
        return record | {"diagnosis": name, "names": [name], "doubt": "", "proposals": [_extracted(name)]}
    if names_agree(name, record["diagnosis"], NO_SYNONYMS):
        return record | {"doubt": ""}
    return record | {"proposals": [*record["proposals"], _extracted(name)]}


def _extracted(name: str) -> dict[str, Any]:
    return {"diagnosis": name, "evidence": [f"extractor: {name}"]}


def _end_stem(record: Record, synonyms: Synonyms) -> Record:
    """Adds all names of the diagnosis; the stem ends before the sentence that states it."""
    if not record["diagnosis"]:
        return record
    texts = [record["title"], record["abstract"], *(sentence["text"] for sentence in record["sentences"])]
    gold = expand_abbreviation(record["diagnosis"], texts)
    others = [*record["names"], *synonyms.names_of(gold), *find_abbreviations(gold, texts)]
    others += find_other_names(gold, texts)
    names = [gold, *dict.fromkeys(name for name in others if content_words(name) != content_words(gold))]
    sentences = end_stem((Sentence(**sentence) for sentence in record["sentences"]), names)
    record = record | {"diagnosis": gold, "names": names, "sentences": [sentence._asdict() for sentence in sentences]}
    if not record["doubt"]:
        return record
    return _doubt_case(record, f"the diagnosis is in doubt: {record['doubt']}")


def _check_completeness(record: Record) -> Record:
    """Rejects a record without a case or a diagnosis; people decide on one without patient, tests or treatment."""
    if not record["diagnosis"]:
        raise Reject("incomplete: no diagnosis")
    if not any(sentence["part"] in CASE_PARTS for sentence in record["sentences"]):
        raise Reject("incomplete: no patient information")
    parts = {sentence["part"] for sentence in record["sentences"]}
    if not any(sentence["part"] in STEM_PARTS and PATIENT.search(sentence["text"]) for sentence in record["sentences"]):
        record = _doubt_case(record, "no patient information before the diagnosis")
        record = record | {"sentences": [*map(_as_stem, record["sentences"])]}
    case = [sentence["text"] for sentence in record["sentences"] if sentence["part"] in CASE_PARTS]
    apart_from_diagnosis = (
        s["text"] for s in record["sentences"] if s["part"] in CASE_PARTS and s["part"] != "diagnosis"
    )
    if "tests" not in parts and not any(map(TEST_RESULT.search, apart_from_diagnosis)):
        record = _doubt_case(record, "no test results")
    if "treatment" not in parts and not any(map(TREATED.search, case)):
        record = _doubt_case(record, "no treatment")
    return record


def _as_stem(sentence: dict[str, Any]) -> dict[str, Any]:
    """A sentence as part of a stem that people will shorten, if it tells of the case."""
    return sentence | {"part": "patient"} if sentence["part"] in CASE_PARTS else sentence


def _find_images(record: Record, build: Build) -> Record:
    """The figures of the stem that have a file."""
    if not record["figures"]:
        raise Reject("no image")
    figures = stem_figures(record)
    if not figures:
        record = _doubt_case(
            record, f"no image in patient information and test results ({len(record['figures'])} elsewhere)"
        )
    files = [figure for figure in figures if figure["file"] is not None]
    readable = [figure for figure in files if decode_image(Path(figure["file"])) is not None]
    images = [
        {"file": figure["file"], "figure": figure["id"], "modality": _modality(record, figure)} for figure in readable
    ]
    unreadable = [figure["id"] for figure in files if figure not in readable]
    return record | {"images": images, "unreadable": unreadable}


def _modality(record: Record, figure: dict[str, Any]) -> str | None:
    about = [sentence["text"] for sentence in stem_sentences(record) if figure["id"] in find_marks(sentence["text"])]
    return modality_of(map(strip_marks, [figure["caption"], *about]))


def _check_images(record: Record, build: Build, poor_images: PoorImages) -> Record:
    """Rejects a case with a poor image; or drops the image, and rejects a case that loses all its images."""
    problems = {image["figure"]: quality_problem(Path(image["file"])) for image in record["images"]}
    good = [image for image in record["images"] if problems[image["figure"]] is None]
    poor = {id: problem for id, problem in problems.items() if problem}
    poor |= dict.fromkeys(record["unreadable"], UNREADABLE)
    listed = "; ".join(f"{id}: {problem}" for id, problem in poor.items())
    if record["images"] and not good:
        raise Reject("every image is too poor", listed)
    if poor and poor_images == "reject":
        raise Reject("an image is too poor", listed)
    return record | {"images": good}


def _add_tellings(record: Record, build: Build) -> Record:
    tellings = {"text": write_text_telling(record, record["names"])}
    if figures := undescribed_figures(record, record["names"]):
        record = _doubt_case(record, f"the text does not tell what the images show: {', '.join(figures)}")
    if record["images"]:
        numbers = {image["figure"]: number for number, image in enumerate(record["images"], start=1)}
        tellings["multimodal"] = write_multimodal_telling(record, numbers)
    return record | {"tellings": tellings, "history": tellings["text"]}


def _check_leaks(record: Record, build: Build) -> Record:
    for telling, text in record["tellings"].items():
        if name := find_revealed_name(text, record["names"]):
            record = _doubt_case(record, f"the stem names the diagnosis ({telling}: {name})")
    return record | {"history": record["tellings"]["text"]}


def _merge(record: Record, build: Build, relations: NameRelations) -> Record:
    """Drops candidates that overlap, that are a name of the diagnosis, or that the patient cannot have."""
    if record.get("problems"):  # so that people choose the diagnosis among the options
        other = [proposal["diagnosis"] for proposal in record["proposals"]][:MAX_OFFERED]
        record = _hold(record) | {"candidates": [*other, *record["candidates"]]}
    candidates, impossible = _own_candidates(record, relations)
    build.counts[LEFT_OUT] += impossible
    return record | {"candidates": candidates[: MAX_OPTIONS - 1]}


def _hold(record: Record) -> Record:
    """The record, marked for the queue of diagnoses, with all that people need to settle it."""
    proposals = [
        {**proposal, "named_in_history": find_revealed_name(record["history"], [proposal["diagnosis"]]) is not None}
        for proposal in record["proposals"]
    ]
    case_text = [strip_marks(sentence["text"]) for sentence in record["sentences"] if sentence["part"] in CASE_PARTS]
    fields = {"decide": DECIDE, "diagnosis": record["diagnosis"], "candidates": proposals}
    fields |= {"case_text": " ".join(case_text)}  # more than the history, which ends before what is proposed
    return mark_for_review(record, "diagnosis", "; ".join(record["problems"]), **fields)


def _own_candidates(record: Record, relations: NameRelations) -> tuple[list[str], int]:
    """The candidates that can be offered, and the number of those that the patient cannot have."""
    own = [
        name
        for name in record["candidates"]
        if not any(names_agree(name, right, relations.synonyms) for right in record["names"])
    ]
    patient = patient_of(record["tellings"]["text"])
    possible = possible_options(own, PatientFacts.of(patient.get("sex"), patient.get("age")))
    return merge_candidates(record["diagnosis"], possible, relations), len(own) - len(possible)


def _count_missing(record: Record, relations: NameRelations) -> int:
    """How many diagnoses the article lacks to the fewest options of a question."""
    return max(0, COUNT - 1 - len(_own_candidates(record, relations)[0]))


def _review_slots(record: Record, build: Build) -> dict[str, str] | None:
    if not record["candidates"]:
        return None
    candidates = "\n".join(f"{number}. {name}" for number, name in enumerate(record["candidates"], start=1))
    return {"diagnosis": record["diagnosis"], "candidates": candidates, "history": record["history"]}


def _read_review(record: Record, answer: str, build: Build) -> Record:
    """Drops the options that the reviewer rejects."""
    rejected = set() if "none" in answer.lower() else {int(number) for number in re.findall(r"\b\d{1,2}\b", answer)}
    kept = [name for number, name in enumerate(record["candidates"], start=1) if number not in rejected]
    return record | {"candidates": kept}
