"""The pipeline: read, diagnosis, features, duplicates, history, leaks, options, split."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wardround.building.distractors.options import COUNT, Known, read_broader
from wardround.building.pipeline.about import About
from wardround.building.pipeline.export import Built, export, new_set
from wardround.building.pipeline.models import Writers
from wardround.building.pipeline.pipeline import Build, Reject, Step, each, whole
from wardround.building.pipeline.records import Record, Spool
from wardround.building.sources.phenopackets.diseases import all_names
from wardround.building.sources.phenopackets.history import history
from wardround.building.sources.phenopackets.leaks import without_leaks
from wardround.building.sources.phenopackets.options import options
from wardround.building.sources.phenopackets.patient import described, diagnosed
from wardround.building.sources.phenopackets.reading import hashes, packets
from wardround.cases.splitting import set_aside, split_by_id
from wardround.core.canonical import blake, sha256_file
from wardround.core.case import Case
from wardround.core.errors import WardroundError
from wardround.marking.judges.lexical_judge import Synonyms, read_synonyms

FEWEST = 3  # features that are present
CHOICE = "Which of these diagnoses fits this patient best?"
OPEN = "What is the most likely diagnosis?"
PUBLISHED = "phenopackets"


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
) -> Built:
    """Builds a case set of phenopackets. `difficulty`: 0 for random distractors, 1 for the most alike.

    `synonyms`: a table of names that mean the same, with the columns name and same_as; `broader`: one of names and the
    classes they belong to, with the columns name and broader.
    """
    if count < 2:
        raise WardroundError("a choice needs at least two options")
    if not 0 <= difficulty <= 1:
        raise WardroundError(f"difficulty is between 0 and 1, not {difficulty:g}")
    settings = {"source": PUBLISHED, "options": count, "difficulty": difficulty, "limit": limit}
    known = Known(
        Synonyms(read_synonyms(synonyms) if synonyms else ()),
        read_broader(broader) if broader else {},
    )
    read = hashes(source) | {table.name: sha256_file(table) for table in (synonyms, broader) if table}
    with new_set(out, seed, Writers({}, None, out.name), note, about) as build:
        records = build.through(packets(source, build), _steps(count, difficulty, limit, known))
        if not len(records):
            raise WardroundError(f"{source}: no phenopacket became a case; {build.why()}")
        return export(build, records, out, settings, read)


def _steps(count: int, difficulty: float, limit: int | None, known: Known) -> list[Step]:
    return [
        each("diagnosis", diagnosed),
        each("features", _with_features),
        whole("duplicates", _without_duplicates),
        each("history", lambda record, build: _told(record, build, known.synonyms)),
        each("leaks", without_leaks),
        *([whole("limit", lambda records, build: _some(records, build, limit))] if limit is not None else []),
        options(count, difficulty, known),
        whole("split", _split),
    ]


def _with_features(record: Record, build: Build) -> Record:
    record = described(record, build)
    if len(record["present"]) < FEWEST:
        raise Reject(f"fewer than {FEWEST} features present", str(len(record["present"])))
    return record


def _without_duplicates(records: Spool, build: Build) -> Iterator[Record]:
    """The first of those that tell the same of a patient with the same disease."""
    first: dict[bytes, str] = {}
    for record in records:
        told = [record["disease"], record["sex"], record["age"], record["onset"]]
        for kind in ("present", "excluded"):
            told.append(sorted(feature["id"] for feature in record[kind]))
        known = first.setdefault(blake(told)[:16], record["id"])
        if known == record["id"]:
            yield record
        else:
            build.reject(record, "duplicates", "tells the same as another", known)


def _told(record: Record, build: Build, synonyms: Synonyms) -> Record:
    return record | {
        "history": history(record, build.drawn("history", record["id"])),
        "names": all_names(record["names"], synonyms),
    }


def _some(records: Spool, build: Build, limit: int | None) -> Iterator[Record]:
    """As many as are wanted, drawn; in their order."""
    drawn = set(build.drawn("limit").sample(range(len(records)), min(limit or 0, len(records))))
    for place, record in enumerate(records):
        if place in drawn:
            yield record
        else:
            build.reject(record, "limit", "not drawn")


def _split(records: Spool, build: Build) -> Iterator[Record]:
    """Whole articles are set aside for development; each record becomes its case."""
    blank = Case.model_construct(id="", questions=[])
    known = [blank.model_copy(update={"id": record["id"], "cluster": _cluster(record)}) for record in records]
    splits = split_by_id(known, set_aside(known, len(known)), build.seed)
    for record in records:
        yield {"id": record["id"], "case": case_of(record, splits[record["id"]])}


def _cluster(record: Record) -> str | None:
    return f"PMID:{record['pmids'][0]}" if record["pmids"] else None


def case_of(record: Record, split: str) -> dict[str, Any]:
    """The case of a record that has everything."""
    patient = {key: value for key, value in (("age", record["years"]), ("sex", record["sex"])) if value is not None}
    accept = [name for name in record["names"] if name != record["diagnosis"]]
    choice = {"id": "mcq", "kind": "choice", "prompt": CHOICE, "options": record["options"], "gold": record["gold"]}
    told: dict[str, Any] = {
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
    return {key: value for key, value in told.items() if value not in (None, {})}
