"""The steps of `build table`: read, images, text, leaks, options, split, files. Nothing leaves this machine."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image as Pillow
from PIL import ImageOps

from wardround.building.audit.file_text import file_texts
from wardround.building.distractors.options import COUNT, NameRelations
from wardround.building.pipeline.about import About
from wardround.building.pipeline.export import BuiltSet, export, new_set
from wardround.building.pipeline.image_files import MAX_BYTES, suffix_of
from wardround.building.pipeline.pipeline import Build, Record, Reject, Step, all_records_step, record_step
from wardround.building.pipeline.source_files import hash_source
from wardround.building.sources.dicom.build import BOXES, make_case, mask_texts, split_patients
from wardround.building.sources.dicom.burned_in import reasons_in_header
from wardround.building.sources.dicom.deidentification import deidentify_file, write_dicom
from wardround.building.sources.dicom.identifiers import PatientIdentifiers
from wardround.building.sources.dicom.secret import Secret, load_secret, write_names
from wardround.building.sources.dicom.text_recognition import MISSING, can_read_text, draw_boxes
from wardround.building.sources.dicom.text_search import search_text
from wardround.building.sources.study_table.options import options_step
from wardround.building.sources.study_table.rows import read_table, study_records
from wardround.building.sources.study_table.study_map import StudyMap, read_study_map
from wardround.building.text.diagnosis_core import with_initials
from wardround.building.text.redact import find_revealed_name, redact_diagnosis
from wardround.core.case import drop_empty
from wardround.core.errors import BadInput, Problem, WardroundError
from wardround.core.names import NO_SYNONYMS, Synonyms

TEXTS = ("history", "findings")
PNG_MODES = ("1", "L", "LA", "RGB", "RGBA", "I;16")  # that PNG keeps as they are


def build_table(
    table: Path,
    table_map: Path,
    out: Path,
    *,
    count: int = COUNT,
    hold_named: bool = False,
    ocr: bool = True,
    private_folder: Path | None = None,
    synonyms: Synonyms = NO_SYNONYMS,
    seed: int = 0,
    about: About | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> BuiltSet:
    """Builds a case set of a table of studies with diagnoses, and of the image files that it names.

    `hold_named`: a history that names the diagnosis holds its case for review instead of losing those phrases.
    `private_folder` keeps the secret and the original names (default: TABLE.private beside the table).
    """
    table, out = table.resolve(), out.absolute()
    study_map = read_study_map(table_map)
    secret_folder = (private_folder or table.with_name(f"{table.stem}.private")).resolve()
    if secret_folder.is_relative_to(out.resolve()) or out.resolve().is_relative_to(secret_folder):
        raise WardroundError(f"{secret_folder}: the secret must be outside of the set; see --private")
    problems: list[Problem] = []
    rows = read_table(table, study_map, problems)  # before a secret is made
    secret = load_secret(secret_folder)
    if ocr and not can_read_text():
        note(MISSING)
    settings = {"source": "table", "options": count, "hold_named": hold_named, "ocr": ocr and can_read_text()}
    names: list[tuple[str, str]] = []
    with new_set(out, seed, note, about, source=table if table.is_dir() else None) as build:
        for problem in problems:
            build.reject_unreadable(f"row-{problem.line}", problem.message)
        records = build.run_steps(
            study_records(rows, study_map, secret, build, names),
            [
                record_step("images", partial(_check_images, ocr=ocr)),
                record_step("text", mask_texts),
                record_step("leaks", partial(_remove_leaks, synonyms=synonyms, hold=hold_named)),
                options_step(count, NameRelations(synonyms)),
                all_records_step("split", split_patients),
                _files_step(secret, study_map),
            ],
        )
        build.require_case(records, table, "study")
        # by the secret: a small table could be guessed from its plain hash
        source_hash = secret.digest(hash_source(sorted(table.rglob("*")) if table.is_dir() else [], table)).hex()
        built = export(build, records, out, settings, {"table": source_hash, "map": hash_source([], table_map)})
        write_names(secret_folder, out.name, names)
    note(f"the original names are in {secret_folder}; keep that folder private")
    return built


def _check_images(record: Record, build: Build, *, ocr: bool) -> Record:
    """The images that can be shown, with the regions that may have text burned in."""
    usable: list[Record] = []
    identifiers = PatientIdentifiers.from_lists(record["identifiers"])
    for image in record["images"]:
        file = Path(image["file"])
        suffix = suffix_of(file) if file.stat().st_size <= MAX_BYTES else None
        try:
            if suffix is None:
                raise BadInput(file, "is not an image")
            text = search_text(file, None, image["modality"], suffix, identifiers, ocr=ocr)
        except BadInput:
            build.queue("images", {"id": record["id"], "reason": "an image cannot be shown and was left out"})
            continue
        regions = [list(region) for region in [*text.lines, *(box.region for box in text.boxes)]]
        if regions:
            draw_boxes(text.view, regions, build.folder / BOXES / f"{record['id']}-{len(usable) + 1}.png")
        usable.append(image | {"suffix": suffix, "regions": regions})
    if not usable:
        raise Reject("no image that can be shown")
    return record | {"images": usable}


def _remove_leaks(record: Record, build: Build, *, synonyms: Synonyms, hold: bool) -> Record:
    """Texts without the phrases that name the diagnosis; a case whose history still names it goes no further."""
    names = list(dict.fromkeys([*synonyms.names_of(record["diagnosis"]), *record["accept"]]))
    searched = with_initials(names)
    for field in TEXTS:
        before = record[field]
        if not (name := find_revealed_name(before, searched)):
            continue
        text = redact_diagnosis(before, searched).text
        item = {"id": record["id"], "before": before, "after": text}
        if field == "history" and (hold or find_revealed_name(text, searched)):
            build.queue(field, item | {"reason": f"names {name!r}"})
            raise Reject("history names the diagnosis", name)
        text = "" if find_revealed_name(text, searched) else text
        build.queue(field, item | {"reason": "phrases that name the diagnosis were removed", "after": text})
        build.counts[f"{field} texts without the phrases that named the diagnosis"] += 1
        record = record | {field: text}
    return record | {"names": names}


def _files_step(secret: Secret, study_map: StudyMap) -> Step:
    """Writes the image files under neutral names; holds cases whose images may have text in them."""

    def change(record: Record, build: Build) -> Record:
        images, suspects = [], []
        for number, image in enumerate(record["images"], start=1):
            name = f"images/{record['id']}-{number}{image['suffix']}"
            try:
                name, reasons = _write_image(image, name, record, secret, build.folder)
            except BadInput as error:
                build.note(f"{error}; left out")
                continue
            if image["regions"]:
                reasons = [*reasons, "regions that look like text"]
            if reasons:
                preview = f"{BOXES}/{record['id']}-{number}.png" if image["regions"] else None
                suspects.append(
                    drop_empty({"image": name, "reasons": reasons, "regions": image["regions"], "preview": preview})
                )
            images.append(drop_empty({"path": name, "modality": image["modality"]}))
        if not images:
            raise Reject("no image could be de-identified")
        case = make_case(record, images, study_map.prompt, "table")
        if suspects:
            item = {"id": record["id"], "reason": "text may be burned in", "images": suspects}
            build.queue("burned-in", item | {"masked": record["masked"], "case": case})
            raise Reject("held for review: text may be burned into an image")
        if record["masked"]:
            build.queue("text", {"id": record["id"], "reason": "was masked", "masked": record["masked"]})
        return {"id": record["id"], "case": case}

    return record_step("files", change)


def _write_image(
    image: dict[str, Any], name: str, record: Record, secret: Secret, folder: Path
) -> tuple[str, list[str]]:
    """Writes one file without the texts in it; returns its name and why text may be in its pixels.

    A picture without texts of its own is copied byte by byte; another is written as PNG with the same pixels.
    """
    source, target = Path(image["file"]), folder / name
    target.parent.mkdir(exist_ok=True)
    if image["suffix"] == ".dcm":
        dataset = deidentify_file(source, secret, PatientIdentifiers.from_lists(record["identifiers"]))
        write_dicom(dataset, target)
        return name, reasons_in_header(dataset)
    shutil.copyfile(source, target)
    if file_texts(target):
        target.unlink()
        name = str(Path(name).with_suffix(".png"))
        with Pillow.open(source) as picture:
            upright = ImageOps.exif_transpose(picture)  # the orientation is lost with the other EXIF fields
            shown = upright if upright.mode in PNG_MODES else upright.convert("RGB")
        Pillow.frombytes(shown.mode, shown.size, shown.tobytes()).save(folder / name)
    return name, []
