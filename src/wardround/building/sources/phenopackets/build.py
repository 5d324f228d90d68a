"""The steps of `build phenopackets`: read, diagnosis, features, duplicates, history, leaks, options, split."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wardround.building.audit.mentions import find_mention, split_words
from wardround.building.distractors.options import COUNT, NameRelations, read_broader
from wardround.building.pipeline.about import About
from wardround.building.pipeline.export import BuiltSet, export, new_set
from wardround.building.pipeline.pipeline import Build, Record, RecordFile, Reject, Step, all_records_step, record_step
from wardround.building.pipeline.source_files import hash_source
from wardround.building.sources.phenopackets.diseases import all_names
from wardround.building.sources.phenopackets.history import write_history
from wardround.building.sources.phenopackets.options import options_step
from wardround.building.sources.phenopackets.packet_files import list_packet_files, read_packets
from wardround.building.sources.phenopackets.patient import add_diagnosis, add_features
from wardround.cases.splits import default_dev_count, split_by_id
from wardround.core.canonical import blake, sha256_file
from wardround.core.case import Case, drop_empty
from wardround.core.errors import WardroundError
from wardround.core.names import Synonyms, read_synonyms

MIN_FEATURES = 3  # that are present
CHOICE = "Which of these diagnoses fits this patient best?"
OPEN = "What is the most likely diagnosis?"
PUBLISHED = "phenopackets"
LEAKS = {
    "leak_name": "names the diagnosis",
    "leak_words": "has nearly all words of the diagnosis together",
    "leak_core": "names the core of the diagnosis",
}


def build_phenopackets(
    source: Path,
    out: Path,
    *,
    count: int = COUNT,
    difficulty: float = 1.0,
    seed: int = 0,
    limit: int | None = None,
    synonyms: Path | None = None,
    broader: Path | None = None,
    about: About | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> BuiltSet:
    """Builds a case set of phenopackets. `difficulty`: 0 for random distractors, 1 for the most similar.

    `synonyms`: a table of names that mean the same, with the columns name and same_as; `broader`: a table of names and
    the classes that they belong to, with the columns name and broader.
    """
    if count < 2:
        raise WardroundError("a choice needs at least two options")
    if not 0 <= difficulty <= 1:
        raise WardroundError(f"difficulty is between 0 and 1, not {difficulty:g}")
    settings = {"source": PUBLISHED, "options": count, "difficulty": difficulty, "limit": limit}
    relations = NameRelations(
        Synonyms(read_synonyms(synonyms) if synonyms else ()),
        read_broader(broader) if broader else {},
    )
    source_hashes = {source.name: hash_source(list_packet_files(source), source)}
    source_hashes |= {table.name: sha256_file(table) for table in (synonyms, broader) if table}
    with new_set(out, seed, note, about, source=source) as build:
        records = build.run_steps(read_packets(source, build), _steps(count, difficulty, limit, relations))
        build.require_case(records, source, "phenopacket")
        return export(build, records, out, settings, source_hashes)


def _steps(count: int, difficulty: float, limit: int | None, relations: NameRelations) -> list[Step]:
    return [
        record_step("diagnosis", add_diagnosis),
        record_step("features", _check_features),
        all_records_step("duplicates", _drop_duplicates),
        record_step("history", lambda record, build: _add_history(record, build, relations.synonyms)),
        record_step("leaks", check_leaks),
        *([] if limit is None else [_draw_step(limit)]),
        options_step(count, difficulty, relations),
        all_records_step("split", _split),
    ]


def _check_features(record: Record, build: Build) -> Record:
    record = add_features(record, build)
    if len(record["present"]) < MIN_FEATURES:
        raise Reject(f"fewer than {MIN_FEATURES} features present", str(len(record["present"])))
    return record


def _drop_duplicates(records: RecordFile, build: Build) -> Iterator[Record]:
    """The first of the records with the same disease, patient and features."""
    id_by_content: dict[bytes, str] = {}
    for record in records:
        content = [record["disease"], record["sex"], record["age"], record["onset"]]
        for kind in ("present", "excluded"):
            content.append(sorted(feature["id"] for feature in record[kind]))
        first_id = id_by_content.setdefault(blake(content)[:16], record["id"])
        if first_id == record["id"]:
            yield record
        else:
            build.reject(record, "duplicates", "tells the same as another", first_id)


def _add_history(record: Record, build: Build, synonyms: Synonyms) -> Record:
    return record | {
        "history": write_history(record, build.random_stream("history", record["id"])),
        "names": all_names(record["names"], synonyms),
    }


def check_leaks(record: Record, build: Build) -> Record:
    """Rejects a record whose history has the disease, its core, nearly all words of a name, its id or its gene."""
    text = split_words(record["history"])
    for name in record["names"]:
        if kind := find_mention(name, text):
            raise Reject(f"history {LEAKS[kind]}", name)
    for gene in record["genes"]:
        if re.search(rf"(?<!\w){re.escape(gene)}(?!\w)", record["history"]):
            raise Reject("history names the gene", gene)
    if record["disease"].lower() in record["history"].lower():
        raise Reject("history has the id of the diagnosis", record["disease"])
    return record


def _draw_step(limit: int) -> Step:
    """A random sample of `limit` records, in their order."""

    def draw(records: RecordFile, build: Build) -> Iterator[Record]:
        drawn = set(build.random_stream("limit").sample(range(len(records)), min(limit, len(records))))
        for place, record in enumerate(records):
            if place in drawn:
                yield record
            else:
                build.reject(record, "limit", "not drawn")

    return all_records_step("limit", draw)


def _split(records: RecordFile, build: Build) -> Iterator[Record]:
    """Sets whole articles aside for development. Records become cases."""
    blank = Case.model_construct(id="", questions=[])
    cases = [blank.model_copy(update={"id": record["id"], "cluster": _cluster(record)}) for record in records]
    splits = split_by_id(cases, default_dev_count(cases, len(cases)), build.seed)
    for record in records:
        yield {"id": record["id"], "case": make_case(record, splits[record["id"]])}


def _cluster(record: Record) -> str | None:
    return f"PMID:{record['pmids'][0]}" if record["pmids"] else None


def make_case(record: Record, split: str) -> dict[str, Any]:
    """The case of a complete record."""
    patient = {key: value for key, value in (("age", record["years"]), ("sex", record["sex"])) if value is not None}
    accept = [name for name in record["names"] if name != record["diagnosis"]]
    choice = {"id": "mcq", "kind": "choice", "prompt": CHOICE, "options": record["options"], "gold": record["gold"]}
    case: dict[str, Any] = {
        "id": record["id"],
        "split": split,
        "tags": ["rare"],
        "cluster": _cluster(record),
        "origin": {"name": PUBLISHED, "pmids": record["pmids"]},
        "disease": {"id": record["disease"], "label": record["diagnosis"], "genes": record["genes"]},
        "patient": patient,
        "history": record["history"],
        "questions": [
            choice,
            {"id": "open", "kind": "open", "prompt": OPEN, "gold": record["diagnosis"], "accept": accept},
        ],
    }
    return drop_empty(case)
