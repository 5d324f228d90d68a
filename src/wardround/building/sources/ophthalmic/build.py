"""The pipeline: read, cases, duplicates, history, images, options, [writer, reviewer], decisions, split, hold."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wardround.building.audit.file_text import file_texts
from wardround.building.pipeline.about import About
from wardround.building.pipeline.export import Built, export, new_set
from wardround.building.pipeline.image_files import suffix_of
from wardround.building.pipeline.models import Writers
from wardround.building.pipeline.pipeline import Build, Reject, Step, each, whole
from wardround.building.pipeline.records import Record, Spool
from wardround.building.pipeline.source_files import hash_of
from wardround.building.sources.ophthalmic.decisions import decisions, question
from wardround.building.sources.ophthalmic.grouping import grouped
from wardround.building.sources.ophthalmic.labels import labelled, read_labels
from wardround.building.sources.ophthalmic.options import with_questions
from wardround.building.sources.ophthalmic.schema import Schema, Tables, read_tables
from wardround.building.sources.ophthalmic.wording import refuse_same_model, worded_and_reviewed
from wardround.building.text.near_cases import without_duplicates
from wardround.building.text.redact import reveals
from wardround.cases.splitting import set_aside, split_by_id
from wardround.core.case import Case, Image
from wardround.core.errors import WardroundError
from wardround.core.study import CandidateSettings

SPECIALTY = "ophthalmology"


def build_ophthalmic(
    table: Path,
    out: Path,
    *,
    schema: Path | None = None,
    matrix: Path | None = None,
    templates: Path | None = None,
    all_lesions: bool = False,
    models: dict[str, CandidateSettings] | None = None,
    answers: Path | None = None,
    seed: int = 0,
    about: About | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> Built:
    """Builds X-PCR chains of a table of labelled images.

    `all_lesions`: the table lists every lesion that can be seen, so that any other one is a distractor.
    """
    refuse_same_model(models or {})
    tables = read_tables(schema, matrix, templates)
    rows = read_labels(table, note)
    writers = Writers(models or {}, answers, out.name, note=note)
    settings = {"source": "ophthalmic", "all_lesions": all_lesions}
    with new_set(out, seed, writers, note, about) as build:
        records = build.through(labelled(rows, table, tables.schema_, build), _steps(build, tables, all_lesions))
        if not len(records) and not build.holds_cases():
            raise WardroundError(f"{table}: no row became a case; {build.why()}")
        for name, text in tables.text.items():
            (build.folder / f"{name}.toml").write_text(text, encoding="utf-8")
        return export(build, records, out, settings, {table.name: hash_of([], table)})


def _steps(build: Build, tables: Tables, all_lesions: bool) -> list[Step]:
    return [
        grouped(),
        without_duplicates(lambda record: record["id"]),
        each("history", lambda record, build: _without_answer(record, tables.schema_)),
        each("images", lambda record, build: _with_images(record, build, tables.schema_)),
        with_questions(tables, all_lesions),
        *worded_and_reviewed(build),
        decisions(tables),
        whole("split", _split),
        each("hold", _hold),
    ]


def _names(record: Record, schema: Schema) -> list[str]:
    """Under which names the diseases of a case go."""
    diseases = dict.fromkeys(row["disease"] for row in record["rows"])
    return [name for disease in diseases for name in (disease, *schema.diseases[disease].also)]


def _without_answer(record: Record, schema: Schema) -> Record:
    """A case whose history tells the diagnosis is for people."""
    if name := reveals(record["history"], _names(record, schema)):
        item = {"reason": "history names the diagnosis", "named": name}
        return record | {"holds": [["history", item]]}
    return record | {"holds": []}


def _with_images(record: Record, build: Build, schema: Schema) -> Record:
    """Copies the images under names that tell nothing."""
    images = []
    for number, image in enumerate(record["images"], start=1):
        file = Path(image["file"])
        name = f"images/{record['id']}-{number}{suffix_of(file)}"
        there = build.folder / name
        there.parent.mkdir(exist_ok=True)
        shutil.copyfile(file, there)
        images.append({"path": name, "modality": image["modality"]})
        if leak := next((where for where, text in file_texts(there) if reveals(text, _names(record, schema))), None):
            for written in images:
                (build.folder / written["path"]).unlink()
            raise Reject("an image file names the diagnosis", f"{record['rows'][0]['id']}: {leak}")
    return record | {"images": images}


def case_of(record: Record, split: str) -> dict[str, Any]:
    """The case of a record that has everything."""
    patient = {key: record[key] for key in ("age", "sex") if record[key] is not None}
    told: dict[str, Any] = {
        "id": record["id"],
        "split": split,
        "specialty": SPECIALTY,
        "tags": list(dict.fromkeys(row["disease"] for row in record["rows"])),
        "cluster": record["cluster"],
        "origin": {"name": record["source"] or "ophthalmic", "lines": [row["line"] for row in record["rows"]]},
        "patient": patient,
        "history": record["history"],
        "images": record["images"],
        "questions": [question(item) for item in record["items"]],
    }
    return {key: value for key, value in told.items() if value not in (None, {}, "")}


def _split(records: Spool, build: Build) -> Iterator[Record]:
    """As the table says; where it says nothing, patients are set aside for development. Records become cases."""
    told = [_strata(record) for record in records if not record["split"]]
    splits = split_by_id(told, set_aside(told, len(told)), build.seed)
    for record in records:
        case = case_of(record, record["split"] or splits[record["id"]])
        yield {"id": record["id"], "case": case, "holds": record["holds"], "objections": record.get("objections", [])}


def _strata(record: Record) -> Case:
    images = [Image.model_validate(image) for image in record["images"]]
    return Case.model_construct(id=record["id"], questions=[], cluster=record["cluster"], images=images)


def _hold(record: Record, build: Build) -> Record:
    holds = list(record["holds"])
    if record["objections"]:
        holds.append(["reviewer", {"reason": "the reviewer objects", "objections": record["objections"]}])
    for queue, item in holds:
        build.queue(queue, {"id": record["id"], **item, "case": record["case"]})
    if holds:
        raise Reject(holds[0][1]["reason"], "held for review")
    return {"id": record["id"], "case": record["case"]}
