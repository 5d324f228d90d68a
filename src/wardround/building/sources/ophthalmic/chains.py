"""Chains: the six stages of each labelled image, and the texts that are certainly wrong at each (our choice)."""

from collections.abc import Iterator

from wardround.building.pipeline.pipeline import Build, Record
from wardround.building.sources.ophthalmic.items import DISTRACTORS, EyeItem, image_name, make_item
from wardround.building.sources.ophthalmic.schema import UNGRADABLE, EyeSchema, EyeTables
from wardround.building.sources.ophthalmic.severity import RULE, SeverityScale
from wardround.cases.readers.xpcr.stages import parent_stages


def chain_items(
    record: Record, tables: EyeTables, scale: SeverityScale, all_lesions: bool, build: Build
) -> Iterator[EyeItem]:
    """For each row the stages for which it has a label, each given the nearest earlier stages that are asked."""
    schema = tables.schema_
    for number, row in enumerate(record["rows"], start=1):
        gold_by_stage = {stage: gold for stage, gold in _golds(row, schema, scale).items() if gold is not None}
        for stage, gold in gold_by_stage.items():
            id = f"{stage.lower()}-{number}"
            item = make_item(id, stage, row, {"image": image_name(row, schema)}, tables, build, record["id"])
            item |= {"stage": stage}
            if stage == "SG":
                item["label"] = schema.diseases[row["disease"]].grades[row["grade"]]  # never shown
                item["rule"] = RULE
            if len(gold_by_stage) > 1:
                item["chain"] = f"image-{number}"
            if parents := [f"{parent.lower()}-{number}" for parent in parent_stages(stage, gold_by_stage)]:
                item["given"] = parents
            fitting = _fitting(stage, gold, row, schema, scale, all_lesions)
            yield item | {"images": [row["shows"]], "gold": gold, "fitting": fitting, "near": _near(stage, row, schema)}


def _golds(row: Record, schema: EyeSchema, scale: SeverityScale) -> dict[str, str | None]:
    """The right answer of each stage, None without a label. An ungradable image has only the first stage."""
    quality = schema.quality[row["quality"]] if row["quality"] else None
    if row["quality"] == UNGRADABLE:
        return {"IQA": quality}
    disease = schema.diseases[row["disease"]]
    right = [] if row["grade"] is None and disease.grades else disease.management_at(row["grade"])
    return {
        "IQA": quality,
        "AL": next(iter(row["anatomy"]), None),
        "LC": next(iter(row["lesions"]), None),
        "DD": row["disease"],
        "SG": scale.option_of(disease, row["grade"]) if row["grade"] else None,
        "CD": next(iter(right), None),
    }


def _fitting(
    stage: str, gold: str, row: Record, schema: EyeSchema, scale: SeverityScale, all_lesions: bool
) -> list[str]:
    """Texts of the same attribute that are wrong for this image."""
    modality, disease = row["modality"], schema.diseases[row["disease"]]
    if stage == "IQA":
        return [text for text in schema.quality.values() if text != gold]
    if stage == "AL":
        visible = [name for name, shown in schema.anatomy.items() if modality in shown and name not in row["anatomy"]]
        unrelated = [name for name in visible if name not in disease.anatomy]
        return unrelated if len(unrelated) >= DISTRACTORS else visible
    if stage == "LC":
        return other_lesions(row, modality, schema, all_lesions)
    if stage == "DD":
        return [
            name
            for name, other in schema.diseases.items()
            if modality in other.modalities
            and schema.can_be_options(row["disease"], name)
            and name not in row["other_diseases"]
        ]
    if stage == "SG":
        return [text for text in scale.options if text != gold]
    return _other_management(row, schema)


def _near(stage: str, row: Record, schema: EyeSchema) -> list[str]:
    """Texts that are easily confused with the gold: diseases of the same region, and their lesions."""
    regions = set(row["anatomy"])
    nearby = {name: disease for name, disease in schema.diseases.items() if regions & set(disease.anatomy)}
    if stage == "DD":
        return list(nearby)
    return [lesion for disease in nearby.values() for lesion in disease.lesions] if stage == "LC" else []


def other_lesions(row: Record, modality: str, schema: EyeSchema, all_lesions: bool) -> list[str]:
    """Lesions that the modality shows and the eye does not have.

    Tables rarely list every lesion: unless they do, lesions of the disease and of its companions are left out.
    """
    possible = set(row["lesions"])
    if not all_lesions:
        for name, disease in schema.diseases.items():
            if name in (row["disease"], *row["other_diseases"]) or not schema.can_be_options(name, row["disease"]):
                possible |= set(disease.lesions)
    return [name for name, shown in schema.lesions.items() if modality in shown and name not in possible]


def _other_management(row: Record, schema: EyeSchema) -> list[str]:
    """Management that is right for other diseases or grades, and not here."""
    right = set(schema.diseases[row["disease"]].management_at(row["grade"]))
    same_modality = [other for other in schema.diseases.values() if row["modality"] in other.modalities]
    everything = [text for other in same_modality for texts in other.management.values() for text in texts]
    return [text for text in dict.fromkeys(everything) if text not in right]
