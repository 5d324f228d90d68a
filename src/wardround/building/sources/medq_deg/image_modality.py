"""The modality of images whose source does not tell it: from a table, a column, the question's words, or a model.

They are tried in this order, and the manifest says how many images each gave. An image whose modality nothing tells
stays in the set without one, and gets degradations that fit every modality. Our choice.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from wardround.building.pipeline.models import BuildModels
from wardround.building.text.modality import modalities_in
from wardround.cases.images import recipe_for
from wardround.cases.set import CaseSet, write_case_set
from wardround.core.ask import ImagePart
from wardround.core.canonical import sha256_file
from wardround.core.case import Case, Image
from wardround.core.errors import BadInput, describe_unreadable
from wardround.degrade.modalities import MODALITIES, parse_modality

ROLE = PROMPT = "modality"
NOT_KNOWN = "not known: general degradations only"
KEYS = ("image", "case")  # columns of a table, the first that it has


@dataclass
class ModalitySources:
    """Where modalities come from. `table`: by the name of an image file or the id of a case; `column`: a field."""

    table: Mapping[str, str] = field(default_factory=dict)
    column: str | None = None
    models: BuildModels | None = None
    names: dict[str, str] = field(default_factory=dict)  # of files in the pool: as the source named them


def read_modalities(file: Path) -> dict[str, str]:
    """A table with the columns `modality` and `image` or `case`."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines)
            columns = set(rows.fieldnames or ())
            key = next((name for name in KEYS if name in columns), None)
            if key is None or "modality" not in columns:
                raise BadInput(file, "expected the columns modality and image or case", line=1)
            modalities: dict[str, str] = {}
            for row in rows:
                name, modality = str(row[key] or "").strip(), str(row["modality"] or "").strip()
                if not name:
                    continue
                if _spelling(modalities.setdefault(name, modality)) != _spelling(modality):
                    problem = f"{name} is {modalities[name]!r} in a row above and {modality!r} here"
                    raise BadInput(file, problem, line=rows.line_num)
            return modalities
    except FileNotFoundError:
        raise BadInput(file, "there is no such table of modalities") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, describe_unreadable(error)) from None


def complete_modalities(pool: CaseSet, folder: Path, sources: ModalitySources) -> tuple[CaseSet, Counter[str]]:
    """The pool with the modalities that its sources do not tell, and how many images each way gave one."""
    if all(image.modality for case in pool for image in case.images):
        return pool, Counter()
    replies = _ask_model(pool, sources)
    counts: Counter[str] = Counter()
    completed = folder / "completed"
    completed.mkdir()
    write_case_set((_complete(case, sources, replies, counts) for case in pool), completed)
    (completed / "cases.jsonl").replace(folder / "cases.jsonl")
    completed.rmdir()
    return CaseSet.open(folder), counts


def _complete(case: Case, sources: ModalitySources, replies: Mapping[str, str], counts: Counter[str]) -> Case:
    images = []
    for image in case.images:
        if not image.modality:
            modality, way = _find(case, image, sources, replies)
            counts[way] += 1
            image = image.model_copy(update={"modality": modality}) if modality else image
        images.append(image)
    return case.model_copy(update={"images": images}) if images else case


def _find(case: Case, image: Image, sources: ModalitySources, replies: Mapping[str, str]) -> tuple[str | None, str]:
    """The modality of an image, and the way that gave it."""
    name = sources.names.get(image.path, image.path)
    for key in (name, PurePosixPath(name).name, PurePosixPath(name).stem, case.id):
        if sources.table.get(key):
            return _spelling(sources.table[key]), "table"
    if sources.column and (value := _column_value(case, image, sources.column)):
        return _spelling(value), "column"
    worded = {name for question in case.questions for name in modalities_in(question.prompt)}
    if len(worded) == 1 and parse_modality(next(iter(worded))):
        return worded.pop(), "words of the question"
    if image.path in replies:
        return replies[image.path], "model"
    return None, NOT_KNOWN


def _spelling(value: str) -> str:
    """One of the seven modalities if a value is or names just one (`Computed Tomography (CT)`), else the value."""
    named = modalities_in(value)
    return parse_modality(value) or (parse_modality(named[0]) if len(named) == 1 else None) or value


def _column_value(case: Case, image: Image, column: str) -> str | None:
    records = [image, *case.questions, case]
    values = (record.model_extra.get(column) for record in records if record.model_extra)
    return next((str(value).strip() for value in values if value not in (None, "")), None)


def _ask_model(pool: CaseSet, sources: ModalitySources) -> dict[str, str]:
    """The replies of the model [modality] about images that nothing else tells; one of the seven, else none."""
    if sources.models is None or not sources.models.has(ROLE):
        return {}
    images = dict(_images_to_guess(pool, sources))
    slots = {path: {"modalities": "\n".join(f"- {name}" for name in MODALITIES)} for path in images}
    replies = sources.models.ask(ROLE, PROMPT, slots, max_tokens=16, images=images)
    return {path: modality for path, text in replies.answers.items() if (modality := _read_reply(text))}


def _images_to_guess(pool: CaseSet, sources: ModalitySources) -> Iterator[tuple[str, ImagePart]]:
    for case in pool:
        for image in case.images:
            if not image.modality and _find(case, image, sources, {})[0] is None:
                file = pool.image_path(image)
                yield image.path, ImagePart(str(file), sha256_file(file), recipe_for(image), image.frame)


def _read_reply(text: str) -> str | None:
    """The one modality that a reply names; `other` if it says so: then the question is left out."""
    names = {name for name in MODALITIES if name.lower() in text.lower()}
    if not names and "other" in text.lower():
        return "other"
    return parse_modality(text.strip(" .*-\n")) or (names.pop() if len(names) == 1 else None)
