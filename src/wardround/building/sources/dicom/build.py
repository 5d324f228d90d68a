"""The steps of `build dicom`: read, images, text, leaks, options, split, deidentify. Nothing leaves this machine."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wardround.building.distractors.options import COUNT
from wardround.building.pipeline.about import About
from wardround.building.pipeline.export import BuiltSet, export, new_set
from wardround.building.pipeline.pipeline import (
    Build,
    EmptyBuild,
    Record,
    RecordFile,
    Reject,
    Step,
    all_records_step,
    record_step,
)
from wardround.building.pipeline.source_files import hash_source
from wardround.building.sources.dicom.burned_in import reasons_in_header
from wardround.building.sources.dicom.deidentification import deidentify_file, write_dicom
from wardround.building.sources.dicom.identifiers import MAX_AGE, PatientIdentifiers, mask_identifiers
from wardround.building.sources.dicom.matching import match_rows, read_histories
from wardround.building.sources.dicom.options import options_step
from wardround.building.sources.dicom.secret import Secret, load_secret, write_names
from wardround.building.sources.dicom.studies import choose_images, list_files, read_studies
from wardround.building.sources.dicom.text_recognition import MISSING, can_read_text, draw_boxes
from wardround.building.sources.dicom.text_search import search_text, show, show_whole_range
from wardround.building.text.diagnosis_core import with_initials
from wardround.building.text.redact import find_revealed_name
from wardround.cases.splits import default_dev_count, split_by_id
from wardround.core.case import Case, drop_empty
from wardround.core.errors import BadInput, WardroundError
from wardround.core.names import NO_SYNONYMS, Synonyms

PROMPT = "What is the most likely diagnosis?"
BOXES = "review/boxes"  # in the set: images with frames around what may be text
TEXTS = ("history", "findings")


def build_dicom(
    folder: Path,
    histories: Path,
    out: Path,
    *,
    count: int = COUNT,
    per_series: int = 1,
    max_images: int = 8,
    strict_text: bool = False,
    ocr: bool = True,
    private_folder: Path | None = None,
    synonyms: Synonyms = NO_SYNONYMS,
    seed: int = 0,
    about: About | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> BuiltSet:
    """Builds a case set of a folder of DICOM files and a table of histories and diagnoses.

    `ocr`: text in the pixels is read, if the extra `dicom` is installed. `private_folder` keeps the secret and the
    original names (default: FOLDER.private beside the source).
    """
    folder, out = folder.resolve(), out.absolute()
    secret_folder = (private_folder or folder.with_name(f"{folder.name}.private")).resolve()
    for public in (out.resolve(), folder):
        if secret_folder.is_relative_to(public) or public.is_relative_to(secret_folder):
            raise WardroundError(f"{secret_folder}: the secret must be outside of source and set; see --private")
    source_files = list_files(folder)  # before a secret is made
    rows = read_histories(histories, note)
    secret = load_secret(secret_folder)
    settings = {"source": "dicom", "options": count, "per_series": per_series}
    settings |= {"most_images": max_images, "strict_text": strict_text}
    names: list[tuple[str, str]] = []
    settings |= {"ocr": ocr and can_read_text()}
    if ocr and not can_read_text():
        note(MISSING)
    with new_set(out, seed, note, about, source=folder) as build:
        studies_by_uid = read_studies(folder, [histories], secret, build)
        records = build.run_steps(
            match_rows(rows, studies_by_uid, secret, build, names),
            [
                record_step("images", lambda record, build: _decode_images(record, build, per_series, max_images, ocr)),
                record_step("text", mask_texts),
                record_step("leaks", lambda record, build: _drop_leaks(record, build, synonyms)),
                options_step(count),
                all_records_step("split", split_patients),
                _deidentify(secret, strict_text),
            ],
        )
        if not len(records) and not build.review:
            raise EmptyBuild(f"{folder}: no study became a case; {build.summarize_rejections()}")
        sources = {  # by the secret too: a small table could be guessed from its plain hash
            "studies": secret.digest(hash_source(source_files, folder)).hex(),
            "histories": secret.digest(hash_source([], histories)).hex(),
        }
        built = export(build, records, out, settings, sources)
        write_names(secret_folder, out.name, names)
    note(f"the original names are in {secret_folder}; keep that folder private")
    return built


def _decode_images(record: Record, build: Build, per_series: int, max_images: int, ocr: bool) -> Record:
    """The chosen images that can be displayed."""
    usable: list[Record] = []
    identifiers = PatientIdentifiers.from_lists(record["identifiers"])
    for image in choose_images(record["images"], per_series, max_images):
        image = image | {"modality": record["row"].get("modality") or image["modality"]}
        try:
            text = search_text(Path(image["file"]), image["frame"], image["modality"], ".dcm", identifiers, ocr=ocr)
        except BadInput as error:
            build.note(f"{error}; left out")
            build.queue("images", {"id": record["id"], "reason": "an image cannot be shown and was left out"})
            continue
        lines = [list(region) for region in text.lines]
        boxes = [[list(box.region), list(box.kinds)] for box in text.boxes]
        usable.append(image | {"lines": lines, "boxes": boxes, "is_hidden_by_window": text.is_whole_range})
    if not usable:
        raise Reject("no image that can be shown")
    return record | {"images": usable}


def mask_texts(record: Record, build: Build) -> Record:
    """The texts with identifiers masked."""
    identifiers = PatientIdentifiers.from_lists(record["identifiers"])
    counts: dict[str, dict[str, int]] = {}
    for name in TEXTS:
        masked = mask_identifiers(record[name], identifiers)
        record = record | {name: masked.text}
        if masked.counts:
            counts[name] = masked.counts
    return record | {"masked": counts}


def _drop_leaks(record: Record, build: Build, synonyms: Synonyms) -> Record:
    """A case whose history names the diagnosis goes to review; findings that name it are dropped."""
    names = list(dict.fromkeys([*synonyms.names_of(record["diagnosis"]), *record["accept"]]))
    searched = with_initials(names)
    if name := find_revealed_name(record["history"], searched):
        build.queue("history", {"id": record["id"], "reason": f"names {name!r}", "history": record["history"]})
        raise Reject("history names the diagnosis", name)
    if find_revealed_name(record["findings"], searched):
        build.queue("findings", {"id": record["id"], "reason": "named the diagnosis and were left out"})
        record = record | {"findings": ""}
    return record | {"names": names}


def split_patients(records: RecordFile, build: Build) -> Iterator[Record]:
    """The split of the table; without one, patients are set aside for development."""
    fields = ("id", "cluster", "specialty")
    cases = [Case.model_construct(questions=[], **{name: record[name] for name in fields}) for record in records]
    splits = split_by_id(cases, default_dev_count(cases, len(cases)), build.seed)
    for record in records:
        yield record | {"split": record["row"].get("split") or splits[record["id"]]}


def _deidentify(secret: Secret, strict_text: bool) -> Step:
    """Writes the de-identified files; holds cases that people have to check first."""

    def change(record: Record, build: Build) -> Record:
        identifiers = PatientIdentifiers.from_lists(record["identifiers"])
        images, suspects = [], []
        written: dict[str, tuple[str, list[str]]] = {}  # by file: several frames of one may be chosen
        for place, image in enumerate(record["images"], start=1):
            if image["file"] not in written:
                name = f"images/{record['id']}-{len(written) + 1}.dcm"
                try:
                    written[image["file"]] = name, _write_deidentified(image, build.folder / name, secret, identifiers)
                except BadInput as error:
                    build.note(f"{error}; left out")
                    continue
            name, reasons = written[image["file"]]
            if image["lines"]:
                reasons = [*reasons, "rows like lines of text at a border"]
            if kinds := sorted({kind for _, kinds in image["boxes"] for kind in kinds}):
                reasons = [*reasons, f"text was read in the image ({', '.join(kinds)})"]
            if reasons:
                suspects.append(_suspect(name, image, reasons, f"{BOXES}/{record['id']}-{place}.png", build.folder))
            images.append(drop_empty({"path": name, "modality": image["modality"], "frame": image["frame"]}))
        if not images:
            raise Reject("no image could be de-identified")
        case = make_case(record, images)
        if suspects:
            item = {"id": record["id"], "reason": "text may be burned in", "images": suspects}
            build.queue("burned-in", item | {"masked": record["masked"], "case": case})
            raise Reject("held for review: text may be burned into an image")
        if record["masked"]:
            item = {"id": record["id"], "reason": "was masked", "masked": record["masked"]}
            build.queue("text", item | {"case": case} if strict_text else item)
            if strict_text:
                raise Reject("held for review: the text had identifiers")
        return {"id": record["id"], "case": case}

    return record_step("deidentify", change)


def _suspect(name: str, image: Record, reasons: list[str], preview: str, folder: Path) -> Record:
    """What a reader has to look at. `preview` is written: the image with a frame around each region."""
    regions = [*image["lines"], *(region for region, _ in image["boxes"])]
    show_view = show_whole_range if image["is_hidden_by_window"] else show
    view = show_view(Path(image["file"]), image["frame"], image["modality"], ".dcm")
    draw_boxes(view, regions, folder / preview)
    return {"image": name, "frame": image["frame"], "reasons": reasons, "regions": regions, "preview": preview}


def _write_deidentified(
    image: dict[str, Any], target: Path, secret: Secret, identifiers: PatientIdentifiers
) -> list[str]:
    """Writes one file; returns the reasons why text may be in its pixels."""
    dataset = deidentify_file(Path(image["file"]), secret, identifiers)
    target.parent.mkdir(exist_ok=True)
    write_dicom(dataset, target)
    return reasons_in_header(dataset)


def make_case(
    record: Record, images: list[dict[str, Any]], prompt: str = PROMPT, origin: str = "dicom"
) -> dict[str, Any]:
    """The case of a complete record."""
    age = record["age"]
    patient = {"age": MAX_AGE + 1 if age is not None and age > MAX_AGE else age, "sex": record["sex"]}
    choice = {"id": "mcq", "kind": "choice", "prompt": prompt, "options": record["options"], "gold": record["gold"]}
    open_question = {"id": "open", "kind": "open", "prompt": prompt, "gold": record["diagnosis"]}
    questions = [choice] if record["options"] else []
    questions.append(open_question | drop_empty({"accept": record["names"][1:]}))
    case: dict[str, Any] = {
        "id": record["id"],
        "split": record["split"],
        "specialty": record["specialty"],
        "cluster": record["cluster"],
        "origin": {"name": origin},
        "patient": drop_empty(patient),
        "history": record["history"],
        "findings": record["findings"],
        "images": images,
        "questions": questions,
    }
    return drop_empty(case)
