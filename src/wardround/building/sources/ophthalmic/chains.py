"""Chains: the six stages of each labelled image, and which texts are certainly wrong at each (our choice)."""

from __future__ import annotations

from collections.abc import Iterator

from wardround.building.pipeline.pipeline import Build
from wardround.building.pipeline.records import Record
from wardround.building.sources.ophthalmic.items import DISTRACTORS, Item, named, worded
from wardround.building.sources.ophthalmic.schema import UNGRADABLE, Schema, Tables

PARENTS = {"IQA": (), "AL": ("IQA",), "LC": ("AL",), "DD": ("LC",), "SG": ("DD",), "CD": ("DD", "SG")}


def chains(record: Record, tables: Tables, all_lesions: bool, build: Build) -> Iterator[Item]:
    """The items of all chains of a case."""
    for number, row in enumerate(record["rows"], start=1):
        yield from _chain(record, row, number, tables, all_lesions, build)


def _chain(record: Record, row: Record, number: int, tables: Tables, all_lesions: bool, build: Build) -> Iterator[Item]:
    """The stages for which the row has a label, each on the nearest stages before it that are asked."""
    golds = _golds(row, tables.schema_)
    there = {stage: gold for stage, gold in golds.items() if gold is not None}
    alone = len(there) == 1
    for stage, gold in there.items():
        id = f"{stage.lower()}-{number}"
        item = worded(id, stage, row, {"image": named(row, tables.schema_)}, tables, build, record["id"])
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
        return other_lesions(row, modality, schema, all_lesions)
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


def other_lesions(row: Record, modality: str, schema: Schema, all_lesions: bool) -> list[str]:
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
