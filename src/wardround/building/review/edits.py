"""Applies a reviewer's edits to a case, and records the old values."""

from copy import deepcopy
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from wardround.building.review.verdicts import ReviewVerdict
from wardround.core.case import Case, Image, Patient, Question
from wardround.core.field_errors import list_errors

FIELDS: dict[str, type[BaseModel]] = {"": Case, "questions": Question, "images": Image, "patient": Patient}
FIXED = ("id", "path")  # never edited


class FieldEdit(NamedTuple):
    """One field of one case, before and after."""

    item: str
    case: str
    reviewer: str
    field: str
    before: Any
    after: Any


def apply_edits(case: dict[str, Any], verdict: ReviewVerdict) -> tuple[dict[str, Any], list[FieldEdit]]:
    """A case with the edits of a verdict; edits that make it invalid are refused."""
    case, changes = deepcopy(case), []
    for field, value in sorted(verdict.edits.items(), key=_removals_last):
        before = _set_field(case, field, value, verdict)
        changes.append(FieldEdit(verdict.item, case["id"], verdict.reviewer, field, before, value))
    try:
        Case.model_validate(case, strict=True)
    except ValidationError as error:
        field, message = list_errors(error)[0]
        raise verdict.error(f"the case would be wrong: {field}: {message}".replace(": : ", ": "), "edits") from None
    return case, changes


def _removals_last(edit: tuple[str, Any]) -> tuple[bool, int]:
    """Sorts new values first, then removals from the end, so that the reviewer's numbers stay valid."""
    field, value = edit
    last = field.split(".")[-1]
    return value is None, -int(last) if last.isdigit() else 0


def _set_field(case: dict[str, Any], field: str, value: Any, verdict: ReviewVerdict) -> Any:
    """Sets a field (null: removes it) and returns its old value. A question is named by its id."""
    *parents, last = field.split(".")
    container: Any = case
    for name in parents:
        container = _member(container, name, field, verdict)
    if isinstance(container, list):
        return _set_entry(case, container, parents[-1], last, field, value, verdict)
    model = FIELDS.get(parents[0] if parents else "")
    exists = isinstance(container, dict) and (last in container or (model and last in model.model_fields))
    if last in FIXED or not exists:
        raise verdict.error(f"there is no field {field!r} to edit", "edits")
    before = container.get(last)
    if value is None:
        container.pop(last, None)
    else:
        container[last] = value
    return before


def _set_entry(
    case: dict[str, Any], entries: list[Any], name: str, last: str, field: str, value: Any, verdict: ReviewVerdict
) -> Any:
    """Sets or removes one entry of a list. An image can be removed only if nothing refers to images by number."""
    before = _member(entries, last, field, verdict)
    if value is not None:
        if name in FIELDS:
            raise verdict.error(f"{field!r} is edited field by field, or dropped with null", "edits")
        entries[entries.index(before)] = value
    elif name == "images" and _refers_to_images(case):
        raise verdict.error(f"{field!r} cannot be dropped: the case names its images by number", "edits")
    else:
        entries.remove(before)
    return before


def _refers_to_images(case: dict[str, Any]) -> bool:
    return any(part.get("images") for part in [*case["questions"], *case.get("tellings", {}).values()])


def _member(container: Any, name: str, field: str, verdict: ReviewVerdict) -> Any:
    """A key of an object, or an entry of a list by its id or number."""
    if isinstance(container, list):
        matches = [entry for entry in container if isinstance(entry, dict) and entry.get("id") == name]
        if matches or (name.isdigit() and int(name) < len(container)):
            return matches[0] if matches else container[int(name)]
    elif isinstance(container, dict) and name in container:
        return container[name]
    raise verdict.error(f"there is no field {field!r} to edit", "edits")
