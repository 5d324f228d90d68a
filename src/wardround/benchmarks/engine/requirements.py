"""What a named study requires of a case set and of the command line, and what a run lacks of the paper's chains."""

from collections.abc import Iterator, Sequence
from itertools import chain

import polars as pl

from wardround.benchmarks.engine.inventory import SetInventory
from wardround.benchmarks.engine.named_study import StudyDefinition, StudyTemplate
from wardround.reporting.numbers import count, join_words
from wardround.reporting.run_files import RunFiles

KEYS = ("specialty", "tag", "modality", "skill", "capability", "task", "grade", "stage", "sex", "age_band")
CHAIN_MEASURES = ("swa", "ccr")
PARTS = ("history", "images", "findings")


def missing_requirement(
    definition: StudyDefinition, inventory: SetInventory, *, has_index: bool = False, has_type: bool = False
) -> str | None:
    """The first thing that a study requires and does not get, or None.

    A set that has some of what a study asks for is enough; the rest of the table is then empty.
    """
    if definition.unavailable_reason:
        return definition.unavailable_reason
    template = definition.put
    if template is None:
        return None if definition.is_composition or inventory.has("images") else "no case has an image"
    missing = chain(
        _missing_questions(template, inventory),
        _missing_conditions(template, inventory),
        _missing_columns(definition, inventory),
        _missing_stages(template, inventory),
        _missing_options(template, has_index, has_type),
    )
    return next(missing, None)


def _missing_questions(template: StudyTemplate, inventory: SetInventory) -> Iterator[str]:
    kinds = [kind for kind in template.questions if kind in ("choice", "open")]
    if kinds and not any(inventory.has("kind", kind) for kind in kinds):
        yield f"there are no {' and no '.join(kinds)} questions"


def _missing_conditions(template: StudyTemplate, inventory: SetInventory) -> Iterator[str]:
    asked = {axis: [value for value in values if value != "none"] for axis, values in template.conditions.items()}
    for telling in asked.get("telling", []):
        if telling != "own" and not inventory.has("telling", telling):
            yield f"no case has a telling {telling!r}"
    for value in asked.get("inputs", []):
        for part in PARTS:
            if part in value.split("+") and not inventory.has(part):
                yield f"no case has {part}"
    if any(value.startswith("reference") for value in asked.get("evidence", [])) and not inventory.has("references"):
        yield "no case has references"
    if {"assigned", "stored"} & set(asked.get("degradation", [])) and not inventory.has("degraded"):
        yield "no question has a degradation"
    if (template.doses or asked.get("images")) and not inventory.has("images"):
        yield "no case has an image"
    if asked.get("without") and not inventory.has("modalities"):
        yield "no case has two modalities"
    if "carry" in template.conditions and not inventory.has("chain"):
        yield "no question belongs to a chain"


def _missing_columns(definition: StudyDefinition, inventory: SetInventory) -> Iterator[str]:
    columns = definition.columns
    if any(column.measure in CHAIN_MEASURES for column in columns) and not inventory.has("chain"):
        yield "no question belongs to a chain"
    if any(column.measure.startswith("hit@") for column in columns) and not inventory.has("kind", "open"):
        yield "there are no open questions"
    for key in KEYS:
        if any(column.by == key for column in columns) and not inventory.has(key):
            yield f"nothing has a {key}"
        values = [column.slice[key] for column in columns if column.slice.get(key, "mean") != "mean"]
        if values and not any(inventory.has(key, value) for value in values):
            yield f"nothing has the {key} {' or '.join(dict.fromkeys(values))}"


def _missing_stages(template: StudyTemplate, inventory: SetInventory) -> Iterator[str]:
    """A study that selects questions by stage alone needs one of these stages."""
    stages = [name for name in template.questions if name not in ("all", "choice", "open")]
    if stages == template.questions and not any(inventory.has("stage", stage) for stage in stages):
        yield f"nothing has the stage {' or '.join(stages)}"


def _missing_options(template: StudyTemplate, has_index: bool, has_type: bool) -> Iterator[str]:
    if any(value != "none" for value in template.conditions.get("evidence", [])) and not has_index:
        yield "no --index is given"
    if template.doses and not has_type:
        yield "no --type is given"


def lacking_stages(run: RunFiles, stages: Sequence[str]) -> dict[str, str]:
    """For SWA and CCR, what the run lacks of these stages; empty if it has all of them, or there are no chains."""
    asked = run.all_marks.filter(pl.col("stage").is_not_null()).select("case", "chain", "stage").unique().collect()
    chains = asked.drop_nulls("chain").group_by("case", "chain").agg("stage")
    if not stages or chains.is_empty():
        return {}
    reasons = {}
    absent = [stage for stage in stages if stage not in set(asked["stage"])]
    if absent:
        reasons["swa"] = f"there are no questions of {join_words(absent)}"
    missing = [stage for stage in stages if not chains["stage"].list.contains(stage).all()]
    if missing:
        has_all = pl.all_horizontal(pl.col("stage").list.contains(stage) for stage in stages)
        incomplete = chains.filter(~has_all).height
        reasons["ccr"] = f"{count(incomplete)} of {count(chains.height)} chains lack {join_words(missing)}"
    return reasons
