"""The examples on MedQ-Deg's project site: a JSON list in which a record has its image at L0, L1 and L2.

Each has degradation_type, display_name, category, modality, dataset, question, options, answer (a letter),
answer_text, capability and images by level. Paths begin at the root of the site.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from wardround.cases.readers.medq_deg.clean_twins import Row
from wardround.cases.readers.medq_deg.degradation_names import degradation
from wardround.cases.readers.tables.choices import by_letter, by_text, without_letters
from wardround.cases.readers.tables.image_cell import inside
from wardround.cases.readers.tables.json_file import Told, json_records, text
from wardround.cases.readers.tables.question_rows import Rows
from wardround.core.errors import BadInput, Problem

LEVELS = ("L0", "L1", "L2")


def read_medq_deg_site(source: Path) -> Rows:
    """The cases of the site's degradation-examples.json."""
    if not source.is_file():
        raise BadInput(source, "there is no such file; this layout is one JSON file")
    rows = Rows("medq-deg-site")
    for place, told in json_records(source):
        field = "question"
        try:
            prompt = text(told, field)
            field = "options"
            options = _options(told)
            field = "answer"
            gold = by_letter({chr(65 + number): option for number, option in enumerate(options)}, told.get(field))
            field = "answer_text"
            if told.get(field) and by_text(options, told[field]) != gold:
                raise ValueError(f"is {told[field]!r}, which is not option {told['answer']}")
            field = "degradation_type"
            degraded = {level: degradation(text(told, field), level) for level in LEVELS}
            field = "images"
            images = _images(source, told, rows)
        except ValueError as error:
            rows.problems.append(Problem(source, None, f"{place}.{field}", str(error)))
            continue
        clean = place.strip("[]").replace("].", "-").replace("[", "-")
        for level, path in images.items():
            rows.take(
                Row(
                    file=source,
                    line=None,
                    place=place,
                    id=clean if level == "L0" else f"{clean}-{level}",
                    prompt=prompt,
                    options=tuple(options),
                    gold=gold,
                    images=(path,),
                    modality=told.get("modality") or None,
                    source=told.get("dataset") or None,
                    degradation=degraded[level],
                    of=None if level == "L0" else clean,
                    more={"label": told["capability"]} if told.get("capability") else {},
                )
            )
    return rows.joined()


def _options(told: Told) -> list[str]:
    options: Any = told.get("options")
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        raise ValueError("should be a list of texts")
    return without_letters(options)


def _images(source: Path, told: Told, rows: Rows) -> dict[str, str]:
    images: Any = told.get("images")
    if not isinstance(images, dict) or "L0" not in images or not set(images) <= set(LEVELS):
        raise ValueError("should name an image at L0, and those at L1 and L2")
    return {level: _image(source, str(images[level]), rows) for level in LEVELS if level in images}


def _image(source: Path, path: str, rows: Rows) -> str:
    """The file below a folder above the JSON; the site's own first folders may be missing on this machine."""
    parts = PurePosixPath(inside(path)).parts
    for folder in source.parents[:3]:
        for start in range(min(3, len(parts))):
            found = folder.joinpath(*parts[start:])
            if found.is_file():
                return rows.hold(inside(path), found)
    raise ValueError(f"{path!r}: there is no such file")
