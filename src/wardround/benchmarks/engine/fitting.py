"""Whether a case set has what a named study asks for."""

from __future__ import annotations

from collections.abc import Iterator

from wardround.benchmarks.engine.inventory import Holds
from wardround.benchmarks.engine.named_study import Entry, Put

KEYS = ("specialty", "tag", "modality", "skill", "capability", "task", "grade", "stage", "sex", "age_band")
CHAINED = ("swa", "ccr")
SHOWN = ("history", "images", "findings")


def lacking(entry: Entry, held: Holds, *, index: bool = False, type: bool = False) -> str | None:
    """What the case set lacks for a study, or what must be given beside it; None where nothing does.

    A set that has some of what a study asks for fits: what it lacks is then empty in the table.
    """
    if entry.cannot:
        return entry.cannot
    if entry.put is None:
        return None if entry.composition or held.has("images") else "no case has an image"
    return next((why for check in (_questions, _conditions) for why in check(entry.put, held)), None) or next(
        (why for why in (*_columns(entry, held), *_beside(entry.put, index, type))), None
    )


def _questions(put: Put, held: Holds) -> Iterator[str]:
    kinds = [kind for kind in put.questions if kind in ("choice", "open")]
    if kinds and not any(held.has("kind", kind) for kind in kinds):
        yield f"there are no {' and no '.join(kinds)} questions"


def _conditions(put: Put, held: Holds) -> Iterator[str]:
    asked = {axis: [value for value in values if value != "none"] for axis, values in put.conditions.items()}
    for telling in asked.get("telling", []):
        if telling != "own" and not held.has("telling", telling):
            yield f"no case has a telling {telling!r}"
    for value in asked.get("inputs", []):
        for part in SHOWN:
            if part in value.split("+") and not held.has(part):
                yield f"no case has {part}"
    if any(value.startswith("reference") for value in asked.get("evidence", [])) and not held.has("references"):
        yield "no case has references"
    if {"assigned", "stored"} & set(asked.get("degradation", [])) and not held.has("degraded"):
        yield "no question has a degradation"
    if (put.doses or asked.get("images")) and not held.has("images"):
        yield "no case has an image"
    if asked.get("without") and not held.has("modalities"):
        yield "no case has two modalities"
    if "carry" in put.conditions and not held.has("chain"):
        yield "no question belongs to a chain"


def _columns(entry: Entry, held: Holds) -> Iterator[str]:
    if any(column.measure in CHAINED for column in entry.columns) and not held.has("chain"):
        yield "no question belongs to a chain"
    if any(column.measure.startswith("hit@") for column in entry.columns) and not held.has("kind", "open"):
        yield "there are no open questions"
    for key in KEYS:
        told = [column.slice[key] for column in entry.columns if key in column.slice]
        if any(column.by == key for column in entry.columns) and not held.has(key):
            yield f"nothing has a {key}"
        values = [value for value in told if value != "mean"]
        if values and not any(held.has(key, value) for value in values):
            yield f"nothing has the {key} {' or '.join(dict.fromkeys(values))}"


def _beside(put: Put, index: bool, type: bool) -> Iterator[str]:
    if any(value != "none" for value in put.conditions.get("evidence", [])) and not index:
        yield "no --index is given"
    if put.doses and not type:
        yield "no --type is given"
