"""What is asked of a case: the six stages of each labelled image, and what goes across its modalities.

An item is a question without its options yet: `gold` is a text of the schema, `fitting` are texts of the same kind that
are certainly wrong, `near` those that are hard to tell apart. Our choices: which texts those are, levels, importance,
and how many questions across modalities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

from wardround.building.ophthalmic.schema import UNGRADABLE, Matrix, Schema, Tables
from wardround.building.pipeline import Build
from wardround.building.spool import Record

Item = dict[str, Any]
PARENTS = {"IQA": (), "AL": ("IQA",), "LC": ("AL",), "DD": ("LC",), "SG": ("DD",), "CD": ("DD", "SG")}
LEVELS = "RAS"
WEIGHED = ("DD", "SG", "CD", "integration", "selection")  # what it costs to miss the disease counts here
DISTRACTORS = 3  # as in all of X-PCR's sample questions
PAIRS = 2  # correspondences asked of one eye


def asked_of(record: Record, tables: Tables, all_lesions: bool, build: Build) -> Iterator[Item]:
    """The items of a case, chains first."""
    for number, row in enumerate(record["rows"], start=1):
        yield from _chain(record, row, number, tables, all_lesions, build)
    yield from _across(record, tables, build)


def rows_of(item: Item, rows: Sequence[Record]) -> list[Record]:
    """The rows of the table that an item is about."""
    if "stage" in item:
        return [rows[int(item["id"].rsplit("-", 1)[1]) - 1]]
    return [row for row in rows if row["shows"] in item["images"]]


def _chain(record: Record, row: Record, number: int, tables: Tables, all_lesions: bool, build: Build) -> Iterator[Item]:
    """The stages for which the row has a label, each on the nearest stages before it that are asked."""
    golds = _golds(row, tables.schema_)
    there = {stage: gold for stage, gold in golds.items() if gold is not None}
    alone = len(there) == 1
    for stage, gold in there.items():
        id = f"{stage.lower()}-{number}"
        item = _worded(id, stage, row, _image(row, tables.schema_), tables, build, record["id"])
        given = [f"{parent.lower()}-{number}" for parent in _before(stage, there)]
        fitting = _fitting(stage, gold, row, tables.schema_, all_lesions)
        linked = {} if alone else {"chain": f"image-{number}", **({"given": given} if given else {})}
        told = {"images": [row["shows"]], "gold": gold, "fitting": fitting, "near": _near(stage, row, tables.schema_)}
        yield item | {"stage": stage, **linked, **told}


def _golds(row: Record, schema: Schema) -> dict[str, str | None]:
    """The right answer of each stage; none where the table has no label. An image that cannot be graded ends there."""
    quality = schema.quality[row["quality"]] if row["quality"] else None
    if row["quality"] == UNGRADABLE:
        return {"IQA": quality}
    disease = schema.diseases[row["disease"]]
    right = [] if row["grade"] is None and disease.grades else disease.right_at(row["grade"])
    return {
        "IQA": quality,
        "AL": next(iter(row["anatomy"]), None),
        "LC": next(iter(row["lesions"]), None),
        "DD": row["disease"],
        "SG": disease.grades[row["grade"]] if row["grade"] else None,
        "CD": next(iter(right), None),
    }


def _before(stage: str, there: dict[str, str]) -> list[str]:
    """The stages that a stage builds on; where one is not asked, what that one would build on."""
    found: list[str] = []
    for parent in PARENTS[stage]:
        found += [parent] if parent in there else _before(parent, there)
    return list(dict.fromkeys(found))


def _fitting(stage: str, gold: str, row: Record, schema: Schema, all_lesions: bool) -> list[str]:
    """Texts of the same attribute that are wrong for this image."""
    modality, disease = row["modality"], schema.diseases[row["disease"]]
    if stage == "IQA":
        return [text for text in schema.quality.values() if text != gold]
    if stage == "AL":
        seen = [name for name, shown in schema.anatomy.items() if modality in shown and name not in row["anatomy"]]
        elsewhere = [name for name in seen if name not in disease.anatomy]
        return elsewhere if len(elsewhere) >= DISTRACTORS else seen
    if stage == "LC":
        return _other_lesions(row, modality, schema, all_lesions)
    if stage == "DD":
        return [
            name
            for name, other in schema.diseases.items()
            if modality in other.modalities and schema.apart(row["disease"], name)
        ]
    if stage == "SG":
        return [text for text in disease.grades.values() if text != gold]
    return _other_management(row, schema)


def _near(stage: str, row: Record, schema: Schema) -> list[str]:
    """What is hard to tell apart: diseases of the same region, and their lesions."""
    here = set(row["anatomy"])
    same = {name: disease for name, disease in schema.diseases.items() if here & set(disease.anatomy)}
    if stage == "DD":
        return list(same)
    return [lesion for disease in same.values() for lesion in disease.lesions] if stage == "LC" else []


def _other_lesions(row: Record, modality: str, schema: Schema, all_lesions: bool) -> list[str]:
    """Lesions that the modality shows and the eye does not have.

    Tables rarely list every lesion: unless they do, those of the disease and of what often comes with it are left out.
    """
    possible = set(row["lesions"])
    if not all_lesions:
        for name, disease in schema.diseases.items():
            if name == row["disease"] or not schema.apart(name, row["disease"]):
                possible |= set(disease.lesions)
    return [name for name, shown in schema.lesions.items() if modality in shown and name not in possible]


def _other_management(row: Record, schema: Schema) -> list[str]:
    """What is right for other diseases, or at other grades, and not here."""
    right = set(schema.diseases[row["disease"]].right_at(row["grade"]))
    shared = [other for other in schema.diseases.values() if row["modality"] in other.modalities]
    everything = [text for other in shared for texts in other.management.values() for text in texts]
    return [text for text in dict.fromkeys(everything) if text not in right]


def _across(record: Record, tables: Tables, build: Build) -> Iterator[Item]:
    """Correspondence, integration and selection, for each eye with one disease on several modalities."""
    eyes: dict[tuple[str, str], list[Record]] = {}
    for row in record["rows"]:
        if row["quality"] != UNGRADABLE:
            eyes.setdefault((row["eye"], row["disease"]), []).append(row)
    several = [rows for rows in eyes.values() if len({row["modality"] for row in rows}) > 1]
    for number, rows in enumerate(several, start=1):
        yield from _correspondences(record, rows, number, tables, build)
        yield _integration(record, rows, number, tables, build)
        yield from _selections(record, rows, number, tables, build)


def _correspondences(
    record: Record, rows: Sequence[Record], number: int, tables: Tables, build: Build
) -> Iterator[Item]:
    pairs = [pair for pair in permutations(rows, 2) if pair[0]["modality"] != pair[1]["modality"]]
    build.drawn("pairs", record["id"], number).shuffle(pairs)
    asked: set[frozenset[str]] = set()
    for one, other in pairs:
        found = _counterpart(one, other, tables.matrix)
        if found is None or len(asked) == PAIRS or (pair := frozenset([one["modality"], other["modality"]])) in asked:
            continue
        asked.add(pair)
        finding, gold = found
        same = {row[other["modality"]] for row in tables.matrix.evidence if _shows(row, one, finding, other)}
        fitting = [name for name in _other_lesions(other, other["modality"], tables.schema_, False) if name not in same]
        slots = _image(one, tables.schema_) | {"finding": finding, "other": _named(other, tables.schema_)}
        id = f"correspondence-{number}{'ab'[len(asked) - 1]}"
        item = _worded(id, "correspondence", other, slots, tables, build, record["id"])
        healthy = {name for each in tables.schema_.diseases.values() if each.healthy for name in each.lesions}
        yield item | {
            "task": "correspondence",
            "images": sorted({one["shows"], other["shows"]}),
            "gold": gold,
            "fitting": [name for name in fitting if name not in healthy],
        }


def _shows(row: dict[str, str], one: Record, finding: str, other: Record) -> bool:
    return row.get(one["modality"]) == finding and other["modality"] in row


def _counterpart(one: Record, other: Record, matrix: Matrix) -> tuple[str, str] | None:
    """A lesion of one image and the lesion of another that shows the same, if the table has both."""
    for row in matrix.evidence:
        finding, gold = row.get(one["modality"]), row.get(other["modality"])
        told = row["disease"] == one["disease"] and finding in one["lesions"] and gold in other["lesions"]
        if told and finding and gold and finding != gold:
            return finding, gold
    return None


def _integration(record: Record, rows: Sequence[Record], number: int, tables: Tables, build: Build) -> Item:
    schema = tables.schema_
    modalities = {row["modality"] for row in rows}
    slots = {"images": _all_named(rows, schema), "side": _side(rows[0])}
    item = _worded(f"integration-{number}", "integration", rows[0], slots, tables, build, record["id"])
    fitting = [
        name
        for name, other in schema.diseases.items()
        if modalities & set(other.modalities) and schema.apart(rows[0]["disease"], name)
    ]
    shows = sorted({row["shows"] for row in rows})
    return item | {"task": "integration", "images": shows, "gold": rows[0]["disease"], "fitting": fitting}


def _selections(record: Record, rows: Sequence[Record], number: int, tables: Tables, build: Build) -> Iterator[Item]:
    """One question on what to do next, without the images that would answer it."""
    matrix = tables.matrix
    possible = [each for each in matrix.selection if rows[0]["disease"] in each.diseases]
    build.drawn("selection", record["id"], number).shuffle(possible)
    for each in possible:
        left = [row for row in rows if row["modality"] != matrix.examinations[each.next]]
        if not left:
            continue
        done = {row["modality"] for row in left}
        fitting = [
            name
            for name, modality in matrix.examinations.items()
            if name != each.next and name not in each.also and modality not in done
        ]
        slots = {"images": _all_named(left, tables.schema_), "doubt": each.doubt}
        item = _worded(f"selection-{number}", "selection", rows[0], slots, tables, build, record["id"])
        shows = sorted({row["shows"] for row in left})
        yield item | {"task": "selection", "images": shows, "gold": each.next, "fitting": fitting}
        return


def _worded(id: str, name: str, row: Record, slots: dict[str, str], tables: Tables, build: Build, case: str) -> Item:
    """An item's wording, level and importance."""
    template, disease = tables.templates.of(name), tables.schema_.diseases[row["disease"]]
    prompt = build.drawn("wording", case, id).choice(template.prompts)
    for slot, text in slots.items():
        prompt = prompt.replace(f"{{{slot}}}", text)
    hardest = template.level if name in ("IQA", "AL") else max(template.level, disease.level, key=LEVELS.index)
    importance = disease.importance if row["importance"] is None else row["importance"]
    return {
        "id": id,
        "prompt": prompt,
        "grade": row["level"] or hardest,
        "importance": importance if name in WEIGHED else 1.0,
    }


def _named(row: Record, schema: Schema) -> str:
    return f"{schema.modalities[row['modality']]}{_side(row)}"


def _side(row: Record) -> str:
    return f" of the {row['eye']} eye" if row["eye"] else ""


def _image(row: Record, schema: Schema) -> dict[str, str]:
    return {"image": _named(row, schema)}


def _all_named(rows: Sequence[Record], schema: Schema) -> str:
    side = _side(rows[0])
    *most, last = dict.fromkeys(schema.modalities[row["modality"]] for row in rows)
    return f"{', '.join(most)} and {last}{side}" if most else f"{last}{side}"
