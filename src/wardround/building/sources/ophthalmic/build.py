"""`build ophthalmic`: read, cases, duplicates, history, images, options, models, decisions, split, hold."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wardround.building.duplicates.near_cases import drop_duplicates_step
from wardround.building.pipeline.about import About
from wardround.building.pipeline.export import BuiltSet, export, new_set
from wardround.building.pipeline.image_files import copy_image
from wardround.building.pipeline.pipeline import (
    Build,
    Record,
    RecordFile,
    Reject,
    Step,
    all_records_step,
    hold_step,
    mark_for_review,
    record_step,
)
from wardround.building.pipeline.source_files import hash_source
from wardround.building.review.items import PHYSICIAN
from wardround.building.sources.ophthalmic.grades import grades_step, read_grades
from wardround.building.sources.ophthalmic.items import (
    DIFFERENTIAL,
    EyeItem,
    full_prompt,
    image_name,
    make_item,
    rows_of,
)
from wardround.building.sources.ophthalmic.label_table import label_rows, read_labels
from wardround.building.sources.ophthalmic.models import check_models, model_steps
from wardround.building.sources.ophthalmic.options import options_step
from wardround.building.sources.ophthalmic.public_sets import read_public_set
from wardround.building.sources.ophthalmic.schema import EyeSchema, EyeTables, read_tables
from wardround.building.sources.ophthalmic.visits import WITHIN_DAYS, grouping_step
from wardround.building.text.diagnosis_core import with_initials
from wardround.building.text.redact import find_revealed_name
from wardround.cases.splits import default_dev_count, split_by_id
from wardround.core.case import Case, Image
from wardround.core.store.location import StoreLocation
from wardround.core.study import CandidateSettings

SPECIALTY = "ophthalmology"
DECISIONS = "decisions"  # stage 6: people write it, and a draft of the question goes to them
DECIDE = (
    "Write the decision for this patient: the question, one right option and wrong ones that a colleague would "
    "consider. The draft comes from a table, not from this patient. Keep it only if it is right as it stands."
)


def build_ophthalmic(
    table: Path,
    out: Path,
    *,
    schema: Path | None = None,
    matrix: Path | None = None,
    templates: Path | None = None,
    all_lesions: bool = False,
    within_days: int = WITHIN_DAYS,
    grades: Path | None = None,
    layout: str | None = None,
    models: dict[str, CandidateSettings] | None = None,
    answers: StoreLocation | None = None,
    seed: int = 0,
    about: About | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> BuiltSet:
    """Builds X-PCR chains of a table of labelled images.

    `all_lesions`: the table lists every visible lesion, so that any other lesion can be a distractor.
    `within_days`: how far apart the images of one visit may lie. `grades`: levels and importance set at the desk.
    `layout`: the table is the folder of a public set, of this layout.
    """
    check_models(models or {})
    tables = read_tables(schema, matrix, templates)
    rows, label_files = read_public_set(table, layout) if layout else (read_labels(table, note), [table])
    settings = {"source": "ophthalmic", "all_lesions": all_lesions, "within_days": within_days}
    settings |= {"layout": layout} if layout else {}
    with new_set(out, seed, note, about, models, answers, source=table) as build:
        steps = _steps(build, tables, all_lesions, within_days, grades)
        records = build.run_steps(label_rows(rows, table, tables.schema_, build), steps)
        build.require_case(records, table, "row")
        for name, text in tables.text.items():
            (build.folder / f"{name}.toml").write_text(text, encoding="utf-8")
        sources = [*label_files, *([grades] if grades else [])]
        return export(build, records, out, settings, {file.name: hash_source([], file) for file in sources})


def _steps(build: Build, tables: EyeTables, all_lesions: bool, within_days: int, grades: Path | None) -> list[Step]:
    return [
        grouping_step(within_days),
        drop_duplicates_step(lambda record: record["id"]),
        record_step("history", lambda record, build: _check_history(record, tables.schema_)),
        record_step("images", lambda record, build: _copy_images(record, build, tables.schema_)),
        options_step(tables, all_lesions),
        *([grades_step(read_grades(grades), grades, tables.schema_)] if grades else []),
        *model_steps(build),
        _differential_step(tables),
        _decisions_step(tables),
        all_records_step("split", _split),
        hold_step(),
    ]


def _disease_names(record: Record, schema: EyeSchema) -> list[str]:
    """The names of the diseases of a case."""
    diseases = dict.fromkeys(row["disease"] for row in record["rows"])
    return [name for disease in diseases for name in (disease, *schema.diseases[disease].also)]


def _check_history(record: Record, schema: EyeSchema) -> Record:
    """A case whose history names the diagnosis goes to review."""
    if name := find_revealed_name(record["history"], with_initials(_disease_names(record, schema))):
        return mark_for_review(record, "history", "history names the diagnosis", named=name)
    return record


def _copy_images(record: Record, build: Build, schema: EyeSchema) -> Record:
    """Copies the images under neutral names."""
    images, names = [], _disease_names(record, schema)
    for number, image in enumerate(record["images"], start=1):
        name, leak = copy_image(Path(image["file"]), f"{record['id']}-{number}", names, build)
        images.append({"path": name, "modality": image["modality"]})
        if leak:
            for written in images:
                (build.folder / written["path"]).unlink()
            raise Reject("an image file names the diagnosis", f"{record['rows'][0]['id']}: {leak}")
    return record | {"images": images}


def _decisions_step(tables: EyeTables) -> Step:
    """Moves stage 6, the clinical decision, to the review queue; `adds` joins its case if somebody keeps it."""

    def change(record: Record, build: Build) -> Record:
        for item in record["items"]:
            if item.get("stage") == "CD":
                row = rows_of(item, record["rows"])[0]
                labels = {"disease": row["disease"], "grade": _grade(row, tables), "lesions": row["lesions"]}
                line = {"id": record["id"], "level": PHYSICIAN, "decide": DECIDE, **labels}
                build.queue(DECISIONS, line | {"adds": _question(item)})
        return record | {"items": [item for item in record["items"] if item.get("stage") != "CD"]}

    return record_step(DECISIONS, change)


def _grade(row: Record, tables: EyeTables) -> str | None:
    return tables.schema_.diseases[row["disease"]].grades.get(row["grade"] or "")


def _question(item: EyeItem) -> dict[str, Any]:
    """An item as a question of a case."""
    shown = ("stage", "task", "chain", "given", "images", "prompt", "options", "gold")
    order = (*shown, "grade", "importance", "disease", "label")
    values = item | {"prompt": full_prompt(item)}
    return {"id": item["id"], "kind": "choice", **{name: values[name] for name in order if name in values}}


def _differential_step(tables: EyeTables) -> Step:
    """Adds the open form of each diagnosis: a ranked differential with its evidence, outside the chain."""

    def change(record: Record, build: Build) -> Record:
        return record | {"differentials": [*_differentials(record, tables, build)]}

    return record_step("differential", change)


def _differentials(record: Record, tables: EyeTables, build: Build) -> Iterator[dict[str, Any]]:
    if tables.templates.differential is None:
        return
    for diagnosis in (item for item in record["items"] if item.get("stage") == "DD"):
        (row,) = rows_of(diagnosis, record["rows"])
        id = diagnosis["id"].replace("dd", DIFFERENTIAL)
        slots = {"image": image_name(row, tables.schema_)}
        item = make_item(id, DIFFERENTIAL, row, slots, tables, build, record["id"])
        yield {
            "id": id,
            "kind": "open",
            "skill": DIFFERENTIAL,
            "images": diagnosis["images"],
            "prompt": item["prompt"],
            "gold": row["disease"],
            "accept": tables.schema_.diseases[row["disease"]].also,
            "grade": diagnosis["grade"],
            "importance": diagnosis["importance"],
            "disease": row["disease"],
            "lesions": row["lesions"],  # never shown
        }


def make_case(record: Record, split: str) -> dict[str, Any]:
    """The case of a complete record."""
    patient = {key: record[key] for key in ("age", "sex") if record[key] is not None}
    case: dict[str, Any] = {
        "id": record["id"],
        "split": split,
        "specialty": SPECIALTY,
        "tags": list(dict.fromkeys(row["disease"] for row in record["rows"])),
        "cluster": record["cluster"],
        "origin": {"name": record["source"] or "ophthalmic", "lines": [row["line"] for row in record["rows"]]},
        "patient": patient,
        "history": record["history"],
        "images": record["images"],
        "questions": [*(_question(item) for item in record["items"]), *record["differentials"]],
    }
    return {key: value for key, value in case.items() if value not in (None, {}, "")}


def _split(records: RecordFile, build: Build) -> Iterator[Record]:
    """The split of the table; without one, patients are set aside for development. Records become cases."""
    cases = [_stratified_case(record) for record in records if not record["split"]]
    splits = split_by_id(cases, default_dev_count(cases, len(cases)), build.seed)
    for record in records:
        case = make_case(record, record["split"] or splits[record["id"]])
        marked = {"id": record["id"], "case": case, "holds": record.get("holds", [])}
        if objections := record.get("objections"):
            marked = mark_for_review(marked, "reviewer", "the reviewer objects", objections=objections)
        yield marked


def _stratified_case(record: Record) -> Case:
    images = [Image.model_validate(image) for image in record["images"]]
    return Case.model_construct(id=record["id"], questions=[], cluster=record["cluster"], images=images)
