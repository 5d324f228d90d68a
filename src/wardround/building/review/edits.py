"""Edits: fields of a case get new values, and what they were is kept."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from wardround.building.review.verdicts import Verdict
from wardround.core.case import Case, Image, Patient, Question
from wardround.core.field_errors import complaints

FIELDS: dict[str, type[BaseModel]] = {"": Case, "questions": Question, "images": Image, "patient": Patient}
NEVER = ("id", "path")  # a case stays itself, and an image its file


class Change(NamedTuple):
    """One field of one case, before and after."""

    item: str
    case: str
    reviewer: str
    field: str
    before: Any
    after: Any


def edited(case: dict[str, Any], verdict: Verdict) -> tuple[dict[str, Any], list[Change]]:
    """A case with the edits of a verdict; one that would not be a case any more is refused."""
    case, changes = deepcopy(case), []
    for field, value in sorted(verdict.edits.items(), key=_dropped_last):
        before = _put(case, field, value, verdict)
        changes.append(Change(verdict.item, case["id"], verdict.reviewer, field, before, value))
    try:
        Case.model_validate(case, strict=True)
    except ValidationError as error:
        field, message = complaints(error)[0]
        raise verdict.wrong(f"the case would be wrong: {field}: {message}".replace(": : ", ": "), "edits") from None
    return case, changes


def _dropped_last(edit: tuple[str, Any]) -> tuple[bool, int]:
    """New values first, then what is dropped, from the end: so numbers mean what they meant to the reviewer."""
    field, value = edit
    last = field.split(".")[-1]
    return value is None, -int(last) if last.isdigit() else 0


def _put(case: dict[str, Any], field: str, value: Any, verdict: Verdict) -> Any:
    """Puts a value (null: removes the field) and gives what was there. A question is named by its id."""
    *way, last = field.split(".")
    place: Any = case
    for step in way:
        place = _inside(place, step, field, verdict)
    if isinstance(place, list):
        return _put_in_list(case, place, way[-1], last, field, value, verdict)
    named = FIELDS.get(way[0] if way else "")
    if last in NEVER or not isinstance(place, dict) or not (last in place or (named and last in named.model_fields)):
        raise verdict.wrong(f"there is no field {field!r} to edit", "edits")
    before = place.get(last)
    if value is None:
        place.pop(last, None)
    else:
        place[last] = value
    return before


def _put_in_list(
    case: dict[str, Any], place: list[Any], name: str, last: str, field: str, value: Any, verdict: Verdict
) -> Any:
    """One entry of a list. An image can be dropped where nothing names images by their number."""
    before = _inside(place, last, field, verdict)
    if value is not None:
        if name in FIELDS:
            raise verdict.wrong(f"{field!r} is edited field by field, or dropped with null", "edits")
        place[place.index(before)] = value
    elif name == "images" and _are_numbered(case):
        raise verdict.wrong(f"{field!r} cannot be dropped: the case names its images by number", "edits")
    else:
        place.remove(before)
    return before


def _are_numbered(case: dict[str, Any]) -> bool:
    told = [*case["questions"], *case.get("tellings", {}).values()]
    return any(each.get("images") for each in told)


def _inside(place: Any, step: str, field: str, verdict: Verdict) -> Any:
    if isinstance(place, list):
        found = [each for each in place if isinstance(each, dict) and each.get("id") == step]
        if found or (step.isdigit() and int(step) < len(place)):
            return found[0] if found else place[int(step)]
    elif isinstance(place, dict) and step in place:
        return place[step]
    raise verdict.wrong(f"there is no field {field!r} to edit", "edits")
