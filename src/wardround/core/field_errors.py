"""What pydantic found wrong, in the words of a person: which field, and what was expected."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

UNION_MEMBERS = {"int": "a whole number", "float": "a number", "str": "text"}


def where(location: tuple[int | str, ...]) -> str:
    """A pydantic location as a person would write it: candidates[0].name."""
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def said(error: Any) -> str:
    """A pydantic error in our words."""
    kind: str = error["type"]
    if kind == "extra_forbidden":
        return "unknown key"
    if kind == "missing":
        return "is required"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if kind == "json_invalid":
        return not_json(error["ctx"]["error"])
    message: str = error["msg"]
    return f"{message[0].lower()}{message[1:]}, not {error['input']!r}"[:300]


def not_json(reason: object) -> str:
    """Why one line is not JSON; its number is told elsewhere, so the parser's own is left out."""
    return f"is not JSON: {reason}".replace("at line 1 column", "at column")


def complaints(error: ValidationError) -> list[tuple[str, str]]:
    """Every (field, message) of an error; a value that fits no member of a union is one complaint."""
    found: dict[str, list[Any]] = {}
    for each in error.errors(include_url=False):
        location = each["loc"]
        if len(location) > 1 and location[-1] in UNION_MEMBERS:
            found.setdefault(where(location[:-1]), []).append(each)
        else:
            found.setdefault(where(location), [None]).append(each)
    return [(field, _one_message(each)) for field, each in found.items()]


def _one_message(errors: list[Any]) -> str:
    if errors[0] is None or len(errors) == 1:
        return said(errors[-1])
    bounded = next((each for each in errors if not each["type"].endswith(("_type", "_parsing"))), None)
    if bounded is not None:
        return said(bounded)
    members = [each["loc"][-1] for each in errors]
    expected = " or ".join(UNION_MEMBERS[name] for name in members if not (name == "int" and "float" in members))
    return f"should be {expected}, not {errors[0]['input']!r}"[:300]
