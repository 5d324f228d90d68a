"""The pipeline: read, history, images, text, leaks, options, split, deidentify. Nothing leaves this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wardround.building.distractors.options import COUNT
from wardround.building.pipeline.about import About
from wardround.building.pipeline.export import Built, export, new_set
from wardround.building.pipeline.models import Writers
from wardround.building.pipeline.pipeline import Build, Reject, Step, each, whole
from wardround.building.pipeline.records import Record, Spool
from wardround.building.pipeline.source_files import hash_of
from wardround.building.sources.dicom import secret as private
from wardround.building.sources.dicom.burned_in import lines_of_text, said_by_header
from wardround.building.sources.dicom.deidentifying import deidentified, write
from wardround.building.sources.dicom.histories import read_histories
from wardround.building.sources.dicom.identifiers import OLDEST, Known, masked
from wardround.building.sources.dicom.matching import matched
from wardround.building.sources.dicom.options import with_options
from wardround.building.sources.dicom.secret import Secret
from wardround.building.sources.dicom.studies import chosen, files, studies
from wardround.building.text.redact import reveals
from wardround.cases.images import pixels, recipe_for
from wardround.cases.splitting import set_aside, split_by_id
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, WardroundError
from wardround.marking.judges.lexical_judge import NO_SYNONYMS, Synonyms

PROMPT = "What is the most likely diagnosis?"
TEXTS = ("history", "findings")


def build_dicom(
    folder: Path,
    histories: Path,
    out: Path,
    *,
    count: int = COUNT,
    per_series: int = 1,
    most_images: int = 8,
    strict_text: bool = False,
    private_folder: Path | None = None,
    synonyms: Synonyms = NO_SYNONYMS,
    seed: int = 0,
    about: About | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> Built:
    """Builds a case set of a folder of DICOM files and a table of histories and diagnoses.

    `private_folder` keeps the secret and the way back (FOLDER.private beside the source unless told otherwise).
    """
    folder, out = folder.resolve(), out.absolute()
    hidden = (private_folder or folder.with_name(f"{folder.name}.private")).resolve()
    for place in (out, folder):
        if hidden.is_relative_to(place.resolve()) or place.resolve().is_relative_to(hidden):
            raise WardroundError(f"{hidden}: the secret is kept neither in the source nor in the set; see --private")
    found = files(folder)  # before a secret is made
    rows = read_histories(histories, note)
    secret = private.load(hidden)
    settings = {
        "source": "dicom",
        "options": count,
        "per_series": per_series,
        "most_images": most_images,
        "strict_text": strict_text,
    }
    names: list[tuple[str, str]] = []
    with new_set(out, seed, Writers({}, None, out.name), note, about) as build:
        there = studies(folder, [histories], secret, build)
        records = build.through(
            matched(rows, there, secret, build, names),
            [
                each("images", lambda record, build: _with_images(record, build, per_series, most_images)),
                each("text", _masked),
                each("leaks", lambda record, build: _without_answer(record, build, synonyms)),
                with_options(count),
                whole("split", _split),
                _deidentify(secret, strict_text),
            ],
        )
        if not len(records) and not build.review:
            raise WardroundError(f"{folder}: no study became a case; {build.why()}")
        sources = {  # by the secret too: a small table could be guessed from its plain hash
            "studies": secret.digest(hash_of(found, folder)).hex(),
            "histories": secret.digest(hash_of([], histories)).hex(),
        }
        built = export(build, records, out, settings, sources)
        private.keep_names(hidden, out.name, names)
    note(f"which case came from where is in {hidden}; keep that folder to yourself")
    return built


def _with_images(record: Record, build: Build, per_series: int, most: int) -> Record:
    """The chosen images that can be shown."""
    usable = []
    for image in chosen(record["images"], per_series, most):
        modality = record["row"].get("modality") or image["modality"]
        try:
            shown = pixels(image["file"], image["frame"], recipe_for(Image(path="image.dcm", modality=modality)))
        except BadInput as error:
            build.note(f"{error}; left out")
            build.queue("images", {"id": record["id"], "reason": "an image cannot be shown and was left out"})
            continue
        usable.append(image | {"modality": modality, "lines": [list(region) for region in lines_of_text(shown)]})
    if not usable:
        raise Reject("no image that can be shown")
    return record | {"images": usable}


def _masked(record: Record, build: Build) -> Record:
    """The texts without who and when."""
    known = Known(*(frozenset(words) for words in record["known"]))
    hits: dict[str, dict[str, int]] = {}
    for name in TEXTS:
        told = masked(record[name], known)
        record = record | {name: told.text}
        if told.hits:
            hits[name] = told.hits
    return record | {"masked": hits}


def _without_answer(record: Record, build: Build, synonyms: Synonyms) -> Record:
    """A history that tells the diagnosis is for people; findings are dropped."""
    names = list(dict.fromkeys([*synonyms.of(record["diagnosis"]), *record["accept"]]))
    if name := reveals(record["history"], names):
        build.queue("history", {"id": record["id"], "reason": f"names {name!r}", "history": record["history"]})
        raise Reject("history names the diagnosis", name)
    if reveals(record["findings"], names):
        build.queue("findings", {"id": record["id"], "reason": "named the diagnosis and were left out"})
        record = record | {"findings": ""}
    return record | {"names": names}


def _split(records: Spool, build: Build) -> Iterator[Record]:
    """As the table says; where it says nothing, patients are set aside for development."""
    told = [
        Case.model_construct(id=r["id"], questions=[], cluster=r["cluster"], specialty=r["specialty"]) for r in records
    ]
    splits = split_by_id(told, set_aside(told, len(told)), build.seed)
    for record in records:
        yield record | {"split": record["row"].get("split") or splits[record["id"]]}


def _deidentify(secret: Secret, strict_text: bool) -> Step:
    """Writes the files without who, when and where; holds back what people have to look at first."""

    def does(record: Record, build: Build) -> Record:
        known = Known(*(frozenset(words) for words in record["known"]))
        images, suspects = [], []
        written: dict[str, tuple[str, list[str]]] = {}  # by file: several frames of one may be chosen
        for image in record["images"]:
            if image["file"] not in written:
                name = f"images/{record['id']}-{len(written) + 1}.dcm"
                try:
                    written[image["file"]] = name, _written(image, build.folder / name, secret, known)
                except BadInput as error:
                    build.note(f"{error}; left out")
                    continue
            name, reasons = written[image["file"]]
            if image["lines"]:
                reasons = [*reasons, "rows like lines of text at a border"]
            if reasons:
                suspects.append({"image": name, "frame": image["frame"], "reasons": reasons, "regions": image["lines"]})
            shown = {"path": name, "modality": image["modality"], "frame": image["frame"]}
            images.append({key: value for key, value in shown.items() if value is not None})
        if not images:
            raise Reject("no image could be de-identified")
        case = case_of(record, images)
        if suspects:
            item = {
                "id": record["id"],
                "reason": "text may be burned in",
                "images": suspects,
                "masked": record["masked"],
            }
            build.queue("burned-in", item | {"case": case})
            raise Reject("held for review: text may be burned into an image")
        if record["masked"]:
            item = {"id": record["id"], "reason": "was masked", "masked": record["masked"]}
            build.queue("text", item | {"case": case} if strict_text else item)
            if strict_text:
                raise Reject("held for review: the text told who or when")
        return {"id": record["id"], "case": case}

    return each("deidentify", does)


def _written(image: dict[str, Any], there: Path, secret: Secret, known: Known) -> list[str]:
    """Writes one file; gives why text may be in its pixels."""
    dataset = deidentified(Path(image["file"]), secret, known)
    there.parent.mkdir(exist_ok=True)
    write(dataset, there)
    return said_by_header(dataset)


def case_of(record: Record, images: list[dict[str, Any]]) -> dict[str, Any]:
    """The case of a record that has everything."""
    age = record["age"]
    patient = {"age": OLDEST + 1 if age is not None and age > OLDEST else age, "sex": record["sex"]}
    free = {"id": "open", "kind": "open", "prompt": PROMPT, "gold": record["diagnosis"], "accept": record["names"][1:]}
    questions = [{key: value for key, value in free.items() if value != []}]
    if record["options"]:
        choice = {"id": "mcq", "kind": "choice", "prompt": PROMPT}
        questions.insert(0, choice | {"options": record["options"], "gold": record["gold"]})
    told: dict[str, Any] = {
        "id": record["id"],
        "split": record["split"],
        "specialty": record["specialty"],
        "cluster": record["cluster"],
        "origin": {"name": "dicom"},
        "patient": {key: value for key, value in patient.items() if value is not None},
        "history": record["history"],
        "findings": record["findings"],
        "images": images,
        "questions": questions,
    }
    return {key: value for key, value in told.items() if value not in (None, {}, "")}
